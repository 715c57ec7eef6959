// SPDX-License-Identifier: GPL-2.0-or-later
/* test-func-commands.c - commands of set_ftrace_filter: set, read, removed, and what hits do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#include "tests/unit/fake-funcs.h"

#define ALL "#### all functions enabled ####\n"

static int set_up(void **state)
{
	*state = fake_owner_new();
	return 0;
}

/* Whatever was set has been taken back. */
static int tear_down(void **state)
{
	struct fake_owner *o = *state;
	struct fake_event *e = o->event;

	func_filter_free(o->filter);
	assert_int_equal(e[0].soft, 0);
	assert_int_equal(e[1].soft, 0);
	free(o);
	return 0;
}

/* A line, as echo writes it. */
static ssize_t put(struct fake_owner *o, const char *text)
{
	char line[128];

	snprintf(line, sizeof(line), "%s\n", text);
	return fake_write(o, FUNC_FILTER, O_APPEND, line);
}

static void expect(struct fake_owner *o, const char *want)
{
	char *text = fake_read(o, FUNC_FILTER);

	assert_string_equal(text, want);
	free(text);
}

/* control/errno-newline-terminated-writes.txt of the real kernel. */
static void test_errno(void **state)
{
	struct fake_owner *o = *state;

	assert_int_equal(put(o, "vfs_read:bogus"), -EINVAL);
	assert_int_equal(put(o, "vfs_read:"), -EINVAL);
	assert_int_equal(put(o, "nosuch:traceoff"), -EINVAL);
	assert_int_equal(put(o, "vfs_read:traceoff:x"), -EINVAL);
	assert_int_equal(put(o, "vfs_read:traceoff:18446744073709551616"), -ERANGE);
	assert_int_equal(put(o, "vfs_read:traceoff:0"), 20);
	expect(o, ALL "vfs_read:traceoff:count=0\n");
	assert_int_equal(put(o, "vfs_read:traceoff:7"), -EINVAL); /* it is there already */
	assert_int_equal(put(o, "!schedule:traceoff:0"), -EINVAL);
	assert_int_equal(put(o, "!!vfs_read:traceoff:0"), -EINVAL);
	assert_int_equal(put(o, "!3:traceoff:0"), -EINVAL);
	assert_int_equal(put(o, "!vfs_read:traceoff:0"), 21);
	assert_int_equal(put(o, "!vfs_read:traceoff"), -ENODEV);
	assert_int_equal(put(o, "vfs_read:enable_event"), -EINVAL);
	assert_int_equal(put(o, "vfs_read:enable_event:no:no"), -EINVAL);
	assert_int_equal(put(o, "vfs_read:enable_event:sched:sched_switch:"), -EINVAL);
	assert_int_equal(put(o, "vfs_read:enable_event:irq:broken"), -EBUSY);
	assert_int_equal(put(o, "vfs_read:enable_event:sched:sched_switch"), 41);
	assert_int_equal(put(o, "vfs_read:enable_event:sched:sched_switch"), -EINVAL);
	expect(o, ALL "vfs_read:enable_event:sched:sched_switch:unlimited\n");
	assert_int_equal(o->event[0].soft, 1);
	assert_int_equal(put(o, "!vfs_read:enable_event:sched:sched_switch"), 42);
	expect(o, ALL);
}

static void test_read(void **state)
{
	struct fake_owner *o = *state;

	put(o, "schedule:traceoff:5");
	put(o, "vfs_*:stacktrace");
	put(o, "vfs_open:dump");
	put(o, "schedule:dump:7");
	put(o, "schedule:cpudump:1");
	put(o, "ext4_read:snapshot:0x10:junk");
	put(o, "vfs_read:traceon:");
	put(o, "vfs_write:traceon");
	put(o, "5:stacktrace:010"); /* by its number */
	put(o, "vfs_*:enable_event:sched:sched_switch:2");
	assert_string_equal(o->commands, "..xxxxx.");
	assert_string_equal(o->traced, "xxxxxxxx");
	fake_write(o, FUNC_FILTER, O_TRUNC, "schedule\n");
	/* Commands stay, whatever becomes of the filter; the latest command is first. */
	expect(o, "schedule\n"
		  "vfs_read:enable_event:sched:sched_switch:count=2\n"
		  "vfs_write:enable_event:sched:sched_switch:count=2\n"
		  "vfs_open:enable_event:sched:sched_switch:count=2\n"
		  "schedule:stacktrace:count=8\n"
		  "vfs_write:traceon:unlimited\n"
		  "vfs_read:traceon:count=-1\n"
		  "ext4_read [ext4]:snapshot:count=16\n"
		  "schedule:cpudump:unlimited\n"
		  "schedule:dump:count=1\n"
		  "vfs_open:dump:count=1\n"
		  "vfs_read:stacktrace:unlimited\n"
		  "vfs_write:stacktrace:unlimited\n"
		  "vfs_open:stacktrace:unlimited\n"
		  "schedule:traceoff:count=5\n");
}

static void test_remove(void **state)
{
	struct fake_owner *o = *state;

	put(o, "vfs_*:traceoff:3");
	put(o, "schedule:traceoff");
	put(o, "vfs_*:stacktrace");
	assert_int_equal(put(o, "!vfs_r*:traceoff:0"), 19);
	expect(o, ALL "vfs_read:stacktrace:unlimited\nvfs_write:stacktrace:unlimited\n"
		      "vfs_open:stacktrace:unlimited\nschedule:traceoff:unlimited\n"
		      "vfs_write:traceoff:count=3\nvfs_open:traceoff:count=3\n");
	assert_int_equal(put(o, "!:stacktrace"), 13);
	assert_int_equal(put(o, "!*:traceoff:0"), 14);
	expect(o, ALL "schedule:traceoff:unlimited\n");
	assert_string_equal(o->commands, "....x...");
	assert_int_equal(put(o, "!schedule:traceoff:"), -ENODEV);
	assert_int_equal(put(o, "!schedule:traceoff"), 19);
	assert_string_equal(o->commands, "........");
}

/* What cannot be applied is not set. */
static void test_apply_fails(void **state)
{
	struct fake_owner *o = *state;

	put(o, "vfs_read:traceoff");
	o->apply_error = -EIO;
	assert_int_equal(put(o, "vfs_*:traceoff"), -EIO);
	assert_int_equal(put(o, "vfs_*:enable_event:sched:sched_switch"), -EIO);
	assert_string_equal(o->commands, "..x.....");
	assert_int_equal(o->event[0].soft, 0);
	o->apply_error = 0;
	o->snapshot_error = -ENOMEM;
	assert_int_equal(put(o, "vfs_read:snapshot"), -ENOMEM);
	expect(o, ALL "vfs_read:traceoff:unlimited\n");
}

static void test_hits(void **state)
{
	struct fake_owner *o = *state;

	put(o, "schedule:traceoff:2");
	put(o, "vfs_open:traceon");
	put(o, "vfs_read:stacktrace:2");
	put(o, "vfs_read:snapshot:1");
	put(o, "vfs_write:dump");
	put(o, "vfs_write:cpudump");
	fake_hit(o, FAKE_VFS_OPEN, 0); /* it is on */
	fake_hit(o, FAKE_FIRST, 0);    /* has no command */
	assert_int_equal(o->switched, 0);
	fake_hit(o, FAKE_SCHEDULE, 0);
	assert_false(o->on);
	fake_hit(o, FAKE_SCHEDULE, 1); /* off already: does not count */
	assert_int_equal(o->switched, 1);
	fake_hit(o, FAKE_VFS_READ, 0); /* no stack while it is off, but a snapshot */
	assert_int_equal(o->stacks, 0);
	assert_int_equal(o->snapshots, 1);
	for (int i = 0; i < 3; i++) {
		fake_hit(o, FAKE_VFS_OPEN, 0);
		fake_hit(o, FAKE_SCHEDULE, 0);
	}
	assert_true(o->on); /* the second was the last */
	for (int i = 0; i < 3; i++) {
		fake_hit(o, FAKE_VFS_READ, 0);
		fake_hit(o, FAKE_VFS_WRITE, 0);
	}
	assert_int_equal(o->stacks, 2);
	assert_int_equal(o->snapshots, 1);
	assert_int_equal(o->dumps, 1);
	assert_int_equal(o->cpu_dumps, 3);
	expect(o, ALL "vfs_write:cpudump:unlimited\nvfs_write:dump:count=0\n"
		      "vfs_read:snapshot:count=0\nvfs_read:stacktrace:count=0\n"
		      "vfs_open:traceon:unlimited\nschedule:traceoff:count=0\n");
}

/* An empty count reads as -1: spent for all but stack traces. */
static void test_empty_count(void **state)
{
	struct fake_owner *o = *state;

	put(o, "schedule:traceoff:");
	put(o, "schedule:stacktrace:");
	put(o, "schedule:snapshot:");
	fake_hit(o, FAKE_SCHEDULE, 0);
	assert_true(o->on);
	assert_int_equal(o->stacks, 1);
	assert_int_equal(o->snapshots, 0);
	expect(o, ALL "schedule:snapshot:count=-1\nschedule:stacktrace:count=-2\n"
		      "schedule:traceoff:count=-1\n");
}

/* The functions of one write share its count. */
static void test_shared_count(void **state)
{
	struct fake_owner *o = *state;

	put(o, "vfs_*:enable_event:sched:sched_switch:3");
	put(o, "schedule:enable_event:sched:sched_switch:1");
	assert_int_equal(o->event[0].soft, 2);
	for (int i = 0; i < 2; i++) {
		o->event[0].disabled = true;
		fake_hit(o, FAKE_VFS_READ, 0);
		fake_hit(o, FAKE_VFS_OPEN, 0); /* on already: does not count */
	}
	o->event[0].disabled = true;
	fake_hit(o, FAKE_VFS_OPEN, 0);
	assert_int_equal(o->event[0].switched, 3);
	o->event[0].disabled = true;
	fake_hit(o, FAKE_VFS_READ, 0);
	assert_true(o->event[0].disabled);
	assert_int_equal(put(o, "!vfs_*:enable_event:sched:sched_switch:0"), 41);
	assert_int_equal(o->event[0].soft, 1);
	expect(o, ALL "schedule:enable_event:sched:sched_switch:count=1\n");
}

static void test_module_goes(void **state)
{
	struct fake_owner *o = *state;
	struct funcs *fs = funcs_new(fake_funcs, FAKE_EXT4_READ);

	put(o, "*read:stacktrace");
	put(o, "*:mod:ext4");
	put(o, "ext4_write:enable_event:sched:sched_switch");
	assert_int_equal(func_filter_update(o->filter, fs), 0);
	funcs_put(fs);
	assert_int_equal(o->event[0].soft, 0);
	fake_hit(o, FAKE_EXT4_READ, 0);
	fake_hit(o, FAKE_VFS_READ, 0);
	assert_int_equal(o->stacks, 1);
	expect(o, "vfs_read:stacktrace:unlimited\n");
}

/* Without a count, and against each other. */
static void test_events(void **state)
{
	struct fake_owner *o = *state;
	struct fake_event *e = &o->event[0];

	put(o, "vfs_open:enable_event:sched:sched_switch");
	put(o, "vfs_*:disable_event:sched:sched_switch");
	assert_true(e->disabled);
	for (int i = 0; i < 3; i++) {
		fake_hit(o, FAKE_VFS_READ, 0);
		assert_true(e->disabled);
		fake_hit(o, FAKE_VFS_OPEN, 0); /* the latest command is met first */
		assert_false(e->disabled);
	}
	assert_int_equal(e->switched, 5); /* it was off before the first vfs_read */
	assert_int_equal(e->soft, 2);
	/* Which event it is about does not matter for a removal, but there has to be one. */
	assert_int_equal(put(o, "!vfs_open:enable_event:no:no"), -EINVAL);
	assert_int_equal(put(o, "!vfs_open:enable_event:irq:broken"), 34);
	assert_int_equal(put(o, "!vfs_open:enable_event:irq:broken"), -ENODEV);
	assert_int_equal(e->soft, 1);
}

/* control/set_ftrace_filter-commands.txt of the real kernel. */
static void test_reference(void **state)
{
	static const char *const written[] = {
		"schedule:traceoff:5",
		"vfs_read:traceon",
		"vfs_write:stacktrace:3",
		"vfs_read:snapshot:1",
		"vfs_read:enable_event:sched:sched_switch",
		"vfs_open:disable_event:sched:sched_switch:2",
	};
	struct fake_owner *o = *state;

	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, written[i]),
				 strlen(written[i]));
	fake_hit(o, FAKE_VFS_READ, 0);
	for (int i = 0; i < 2; i++) {
		o->event[0].disabled = false;
		fake_hit(o, FAKE_VFS_OPEN, 0);
	}
	fake_hit(o, FAKE_VFS_WRITE, 0);
	fake_hit(o, FAKE_SCHEDULE, 0);
	expect(o, ALL "vfs_open:disable_event:sched:sched_switch:count=0\n"
		      "vfs_read:enable_event:sched:sched_switch:unlimited\n"
		      "vfs_read:snapshot:count=0\n"
		      "vfs_write:stacktrace:count=2\n"
		      "vfs_read:traceon:unlimited\n"
		      "schedule:traceoff:count=4\n");
	/* Without a line's end the word is taken when the file is closed, and nobody hears. */
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "vfs_read:enable_event:sched"), 27);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "vfs_read:enable_event:no:no"), 27);
	assert_int_equal(o->event[0].soft, 2);
	assert_int_equal(put(o, "vfs_read:enable_event:sched"), -EINVAL);
	assert_int_equal(put(o, "!vfs_open:disable_event:sched:sched_switch"), -ENODEV);
	assert_int_equal(put(o, "!vfs_open:disable_event:sched:sched_switch:0"), 45);
	assert_int_equal(o->event[0].soft, 1);
}

/* A word that comes in pieces is known by all of them. */
static void test_mentions(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file;

	assert_int_equal(func_file_open(o->filter, FUNC_FILTER, O_WRONLY, &file), 0);
	assert_int_equal(func_file_write(file, "schedule:enab", 13), 13);
	assert_true(func_file_mentions(file, "le_event:x", 10, "able_event:"));
	assert_false(func_file_mentions(file, "le_even", 7, "able_event:"));
	assert_false(func_file_mentions(file, "", 0, "able_event:"));
	assert_int_equal(func_file_write(file, "le_event:sched:sched_switch", 27), 27);
	assert_true(func_file_mentions(file, "", 0, "able_event:"));
	func_file_close(file);
	assert_int_equal(o->event[0].soft, 1);
}

/* Two filters, as of two instances, know nothing of each other. */
static void test_two(void **state)
{
	struct fake_owner *a = *state, *b = fake_owner_new();

	put(a, "schedule:stacktrace");
	put(b, "vfs_read:stacktrace");
	b->owner.events = NULL;
	assert_int_equal(put(b, "vfs_read:enable_event:sched:sched_switch"), -EINVAL);
	fake_hit(b, FAKE_SCHEDULE, 0);
	fake_hit(b, FAKE_VFS_READ, 0);
	fake_hit(a, FAKE_VFS_READ, 0);
	assert_int_equal(a->stacks, 0);
	assert_int_equal(b->stacks, 1);
	fake_owner_free(b);
}

/* --- many vCPUs --------------------------------------------------------------------------- */

struct vcpus {
	struct fake_owner *o;
	atomic_bool stop;
};

static void *vcpu(void *arg)
{
	struct vcpus *v = arg;

	while (!atomic_load(&v->stop))
		for (int f = 0; f < FAKE_NR; f++)
			fake_hit(v->o, f, 0);
	return NULL;
}

static void start(struct vcpus *v, pthread_t thread[4])
{
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, vcpu, v), 0);
}

static void stop(struct vcpus *v, pthread_t thread[4])
{
	atomic_store(&v->stop, true);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* Hit until all that was counted is spent. */
static void *spend(void *arg)
{
	struct fake_owner *o = arg;

	for (int i = 0; i < 20000; i++)
		for (int f = FAKE_VFS_READ; f <= FAKE_VFS_OPEN; f++)
			fake_hit(o, f, 0);
	return NULL;
}

static void test_exact_counts(void **state)
{
	struct fake_owner *o = *state;
	pthread_t thread[4];

	put(o, "schedule:snapshot:9999");
	put(o, "vfs_open:stacktrace:12345");
	put(o, "vfs_read:traceoff:700");
	put(o, "vfs_write:traceon:700");
	put(o, "vfs_write:dump");
	o->on = true;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, spend, o), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(o->snapshots, 9999);
	assert_int_equal(o->dumps, 1);
	assert_int_equal(o->switched, 1400);
	assert_true(o->stacks <= 12345);
	for (int i = 0; o->stacks < 12345 && i < 12345; i++)
		fake_hit(o, FAKE_VFS_OPEN, 0);
	fake_hit(o, FAKE_VFS_OPEN, 0);
	assert_int_equal(o->stacks, 12345);
}

/* Commands come and go while functions are hit. */
static void test_change_while_hit(void **state)
{
	struct fake_owner *o = *state;
	struct vcpus v = {.o = o};
	pthread_t thread[4];

	start(&v, thread);
	for (int i = 0; i < 300; i++) {
		assert_true(put(o, "*:stacktrace") > 0);
		assert_true(put(o, "vfs_*:enable_event:sched:sched_switch:9") > 0);
		assert_true(put(o, "!vfs_read:stacktrace") > 0);
		assert_true(put(o, "!*:enable_event:sched:sched_switch:") > 0);
		assert_int_equal(o->event[0].soft, 0);
		assert_true(put(o, "!*:stacktrace") > 0);
	}
	stop(&v, thread);
	expect(o, ALL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_errno),	 CASE(test_read),
		CASE(test_remove),	 CASE(test_apply_fails),
		CASE(test_hits),	 CASE(test_empty_count),
		CASE(test_shared_count), CASE(test_events),
		CASE(test_reference),	 CASE(test_mentions),
		CASE(test_module_goes),	 CASE(test_two),
		CASE(test_exact_counts), CASE(test_change_while_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
