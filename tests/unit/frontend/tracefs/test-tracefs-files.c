// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-tracefs-files.c - files of a trace, one by one: how full a buffer is for poll(2), latencies,
 * options that a tracer refuses, sizes that memory does not hold, what was traced before, strings
 * of the guest, modes and owners.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tracefs-world.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

static uint64_t number_in(struct world *w, const char *path)
{
	char buf[64];

	return strtoull(get(w, path, buf, sizeof(buf)), NULL, 10);
}

/* --- buffer_percent ----------------------------------------------------------------------- */

static bool readable(struct world *w, const char *path)
{
	struct open_file *f = NULL;
	bool is;

	assert_int_equal(open_path(w, path, O_RDONLY, &f), 0);
	is = view_poll(f, 0);
	view_close(w->view, f);
	return is;
}

/* Markers are of vCPU 0: three to a page. */
static void mark_pages(struct world *w, unsigned int pages)
{
	char text[1001] = "";

	memset(text, 'x', sizeof(text) - 1);
	for (unsigned int i = 0; i < 3 * pages; i++)
		assert_int_equal(put(w, "trace_marker", 0, text), 1000);
}

static void test_percent(void **state)
{
	static const char raw[] = "per_cpu/cpu0/trace_pipe_raw", pipe[] = "per_cpu/cpu0/trace_pipe";
	struct world *w = *state;

	assert_int_equal(put(w, "buffer_size_kb", 0, "40"), 2); /* 11 pages */
	assert_false(readable(w, raw));
	assert_int_equal(put(w, "trace_marker", 0, "one"), 3);
	/* Any event will do for all vCPUs, and for who reads. */
	assert_true(readable(w, "trace_pipe"));
	assert_false(readable(w, raw));
	assert_false(readable(w, pipe));
	mark_pages(w, 5);
	assert_false(readable(w, raw));
	mark_pages(w, 1);
	assert_true(readable(w, raw));
	assert_true(readable(w, pipe));
	assert_false(readable(w, "per_cpu/cpu1/trace_pipe_raw"));

	assert_int_equal(put(w, "buffer_percent", 0, "100"), 3);
	assert_false(readable(w, raw));
	mark_pages(w, 11);
	assert_true(readable(w, raw));

	assert_int_equal(put(w, "trace", O_TRUNC, ""), 0);
	assert_int_equal(put(w, "buffer_percent", 0, "0"), 1);
	assert_false(readable(w, raw));
	assert_int_equal(put(w, "trace_marker", 0, "one"), 3);
	assert_true(readable(w, raw));
}

static void test_percent_does_not_delay_reads(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;
	char page[4096];

	assert_int_equal(put(w, "trace_marker", 0, "one"), 3);
	assert_int_equal(open_path(w, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY, &f), 0);
	assert_false(view_poll(f, 0));
	assert_true(view_wait(f, 0));
	assert_int_equal(view_read(f, page, sizeof(page), 0), 4096);
	view_close(w->view, f);
}

static void test_block(void **state)
{
	struct world *w = *state;

	assert_false(readable(w, "trace_pipe"));
	assert_int_equal(put(w, "options/block", 0, "1"), 1);
	assert_true(readable(w, "trace_pipe"));
	assert_true(readable(w, "per_cpu/cpu1/trace_pipe_raw"));
}

/* --- numbers ------------------------------------------------------------------------------ */

static void test_latencies(void **state)
{
	struct world *w = *state;
	view_id dir = 0, id;

	assert_int_equal(put(w, "tracing_thresh", 0, "100\n"), 4);
	expect(w, "tracing_thresh", "100\n");
	assert_int_equal(trace_thresh(w->trace), 100000);
	assert_int_equal(put(w, "tracing_max_latency", 0, "7"), 1);
	expect(w, "tracing_max_latency", "7\n");
	/* Nanoseconds that others have found are rounded. */
	instance_set_max_latency(trace_top(w->trace), 1499);
	expect(w, "tracing_max_latency", "1\n");
	instance_set_max_latency(trace_top(w->trace), 1500);
	expect(w, "tracing_max_latency", "2\n");

	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &id), 0);
	expect(w, "instances/foo/tracing_max_latency", "0\n");
	assert_int_equal(view_find(w->view, "instances/foo/tracing_thresh", &id), -ENOENT);
}

static void test_nop_options(void **state)
{
	struct world *w = *state;

	assert_int_equal(put(w, "trace_options", O_TRUNC, "test_nop_accept"), 15);
	expect(w, "options/test_nop_accept", "1\n");
	assert_int_equal(put(w, "trace_options", O_TRUNC, "notest_nop_accept"), 17);
	expect(w, "options/test_nop_accept", "0\n");
	assert_int_equal(put(w, "trace_options", O_TRUNC, "test_nop_refuse"), -EINVAL);
	assert_int_equal(put(w, "trace_options", O_TRUNC, "notest_nop_refuse"), -EINVAL);
	assert_int_equal(put(w, "options/test_nop_refuse", O_TRUNC, "1"), -EINVAL);
	/* It is that already. */
	assert_int_equal(put(w, "options/test_nop_refuse", O_TRUNC, "0"), 1);
	expect(w, "options/test_nop_refuse", "0\n");
}

/* --- sizes -------------------------------------------------------------------------------- */

static long page_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

/* More than the host has is refused before any of it is touched, and nothing is changed. */
static void test_too_large(void **state)
{
	static const char *const paths[] = {"buffer_size_kb", "per_cpu/cpu1/buffer_size_kb"};
	struct world *w = *state;
	long before;

	assert_int_equal(put(w, "buffer_size_kb", 0, "100"), 3);
	assert_int_equal(put(w, "snapshot", 0, "1"), 1);
	assert_int_equal(put(w, "trace_marker", 0, "kept"), 4);
	before = page_faults();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(put(w, paths[i], 0, "10000000000"), -ENOMEM);
		assert_int_equal(put(w, paths[i], 0, "1000000000000"), -ENOMEM);
	}
	assert_true(page_faults() - before < 1000);
	expect(w, "buffer_size_kb", "103\n");
	expect(w, "buffer_total_size_kb", "206\n");
	assert_int_equal(number_in(w, "per_cpu/cpu1/buffer_size_kb"), 103);
	assert_true(instance_has_events(trace_top(w->trace), 0));
}

/* The kernel reckons in 64 bits and takes what is left after an overflow. */
static void test_overflowing_sizes(void **state)
{
	struct world *w = *state;

	assert_int_equal(put(w, "buffer_size_kb", 0, "18446744073709551615"), 20);
	expect(w, "buffer_size_kb", "7\n");
	assert_int_equal(put(w, "buffer_size_kb", 0, "18014398509482048"), 17); /* 2^54 + 64 */
	expect(w, "buffer_size_kb", "67\n");
}

/* --- the time before anything was recorded ------------------------------------------------ */

static void test_now(void **state)
{
	const uint64_t ticks = 1500;
	const uint32_t tick_ns = 1000000;
	struct world *w = *state;
	char buf[1024], err[256] = "";

	view_free(w->view);
	trace_free(w->trace);
	fake_symbol("jiffies_64", FAKE_VA(0x2100), 'D');
	fake_symbol("tick_nsec", FAKE_VA(0x2108), 'D');
	w->trace = tracefs_trace_new(err, sizeof(err));
	assert_non_null(w->trace);
	w->view = view_new(w->trace, NULL);
	memcpy(fake_at(FAKE_VA(0x2100)), &ticks, sizeof(ticks));
	memcpy(fake_at(FAKE_VA(0x2108)), &tick_ns, sizeof(tick_ns));
	assert_int_equal(trace_attach(w->trace, (struct machine *)&fake, err, sizeof(err)), 0);
	get(w, "per_cpu/cpu0/stats", buf, sizeof(buf));
	assert_non_null(strstr(buf, "now ts:     1.500000\n"));
	assert_int_equal(put(w, "trace_marker", 0, "then"), 4);
	get(w, "trace", buf, sizeof(buf));
	assert_non_null(strstr(buf, "     1.500000: tracing_mark_write: then\n"));
	trace_detach(w->trace);
}

/* --- what was traced before --------------------------------------------------------------- */

static void test_touched(void **state)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0, 0};
	struct world *w = *state;
	struct trace *old = w->trace;
	char err[256] = "";
	view_id id;

	/* 6.1 has none. */
	assert_int_equal(view_find(w->view, "touched_functions", &id), -ENOENT);
	view_free(w->view);
	trace_free(old);

	fake_symbol("ftrace_touched_open", FAKE_VA(0x2000), 't');
	w->trace = tracefs_trace_new(err, sizeof(err));
	assert_non_null(w->trace);
	w->view = view_new(w->trace, NULL);
	for (size_t i = 0; i < fake.nsites; i++)
		memcpy(fake_at(fake.sites[i].addr), nop, sizeof(nop));
	assert_int_equal(trace_attach(w->trace, NULL, err, sizeof(err)), 0);
	expect(w, "touched_functions", "");
	assert_int_equal(put(w, "set_ftrace_filter", O_TRUNC, "vfs_*\n"), 6);
	assert_int_equal(put(w, "current_tracer", 0, "function"), 8);
	expect(w, "touched_functions",
	       "vfs_read (1)           \nvfs_write (1)           \nvfs_open (1)           \n");
	expect(w, "enabled_functions",
	       "vfs_read (1)           \nvfs_write (1)           \nvfs_open (1)           \n");
	assert_int_equal(put(w, "set_ftrace_filter", O_TRUNC, "vfs_write\n"), 10);
	expect(w, "enabled_functions", "vfs_write (1)           \n");
	assert_int_equal(put(w, "current_tracer", 0, "nop"), 3);
	expect(w, "enabled_functions", "");
	expect(w, "touched_functions",
	       "vfs_read (0)           \nvfs_write (0)           \nvfs_open (0)           \n");
	trace_detach(w->trace);
}

/* --- strings of the guest ----------------------------------------------------------------- */

#define STRINGS FAKE_VA(0x5000)

static void put_pointer(uint64_t at, uint64_t value)
{
	memcpy(fake_at(at), &value, sizeof(value));
}

static void make_formats(void)
{
	fake_symbol("__start___trace_bprintk_fmt", FAKE_VA(0x4000), 'D');
	fake_symbol("__stop___trace_bprintk_fmt", FAKE_VA(0x4008), 'D');
	fake_symbol("__start___tracepoint_str", FAKE_VA(0x4100), 'D');
	fake_symbol("__stop___tracepoint_str", FAKE_VA(0x4120), 'D');
	fake_symbol("trace_bprintk_fmt_list", FAKE_VA(0x4200), 'd');
	fake_field("trace_bprintk_fmt.fmt", 16, 8);
	strcpy((char *)fake_at(STRINGS), "a \"b\"\t\\\n");
	/* Not within one of the pieces that are read at a time. */
	strcpy((char *)fake_at(STRINGS + 60), "suspend_enter");
	memset(fake_at(STRINGS + 0x1000), 'z', 4000); /* it has no end */
	strcpy((char *)fake_at(STRINGS + 0x100), "module");
	put_pointer(FAKE_VA(0x4000), STRINGS);
	put_pointer(FAKE_VA(0x4100), STRINGS + 60);
	put_pointer(FAKE_VA(0x4108), 0);
	put_pointer(FAKE_VA(0x4110), 8); /* no memory */
	put_pointer(FAKE_VA(0x4118), STRINGS + 0x1000);
	/* A list that runs in circles without coming back. */
	put_pointer(FAKE_VA(0x4200), FAKE_VA(0x4300));
	put_pointer(FAKE_VA(0x4300), FAKE_VA(0x4300));
	put_pointer(FAKE_VA(0x4310), STRINGS + 0x100);
}

static void test_formats(void **state)
{
	static const char start[] = "0xffffffff81005000 : \"a \\\"b\\\"\\t\\\\n\"\n"
				    "0xffffffff8100503c : \"suspend_enter\"\n"
				    "0x8 : \"\"\n"
				    "0xffffffff81006000 : \"zzzz";
	static const char module[] = "0xffffffff81005100 : \"module\"\n";
	struct world *w = *state;
	char *text = malloc(1 << 20), err[256] = "";
	size_t strings = 0;

	expect(w, "printk_formats", "");
	make_formats();
	/* Any machine: the made-up guest is the only one. */
	assert_int_equal(trace_attach(w->trace, (struct machine *)&fake, err, sizeof(err)), 0);
	get(w, "printk_formats", text, 1 << 20);
	assert_memory_equal(text, start, sizeof(start) - 1);
	for (const char *at = text; (at = strstr(at, module)); at++)
		strings++;
	assert_true(strings > 1 && strings < 20000);
	assert_int_equal(strspn(strstr(text, "zzz"), "z"), 1024);

	put_pointer(FAKE_VA(0x4300), FAKE_VA(0x4200));
	get(w, "printk_formats", text, 1 << 20);
	assert_string_equal(strstr(text, "zzz\"\n") + 5, module);
	trace_detach(w->trace);
	free(text);
}

/* --- modes and owners --------------------------------------------------------------------- */

static view_id id_at(struct world *w, const char *path)
{
	view_id id = 0;

	assert_int_equal(view_find(w->view, path, &id), 0);
	return id;
}

static void test_attributes(void **state)
{
	const struct view_attr want = {.mode = S_IFDIR | 0666, .uid = 1, .gid = 2};
	struct world *w = *state;
	struct view_attr attr;
	view_id id = id_at(w, "tracing_on"), dir = id_at(w, "instances"), foo;

	assert_int_equal(view_set_attr(w->view, id, &want, VIEW_ATTR_MODE), 0);
	assert_int_equal(view_attr(w->view, id_at(w, "tracing_on"), &attr), 0);
	assert_int_equal(attr.mode, S_IFREG | 0666);
	assert_int_equal(attr.uid, geteuid());
	assert_int_equal(view_set_attr(w->view, id, &want, VIEW_ATTR_UID | VIEW_ATTR_GID), 0);
	assert_int_equal(view_attr(w->view, id, &attr), 0);
	assert_int_equal(attr.mode, S_IFREG | 0666);
	assert_int_equal(attr.uid, 1);
	assert_int_equal(attr.gid, 2);
	/* Of this one only. */
	assert_int_equal(view_attr(w->view, id_at(w, "tracing_cpumask"), &attr), 0);
	assert_int_equal(attr.mode, S_IFREG | 0640);
	assert_int_equal(view_set_attr(w->view, UINT64_MAX, &want, VIEW_ATTR_MODE), -ENOENT);

	/* What an instance has goes with it. */
	assert_int_equal(view_mkdir(w->view, dir, "foo", &foo), 0);
	id = id_at(w, "instances/foo/per_cpu/cpu1/stats");
	assert_int_equal(view_set_attr(w->view, foo, &want, VIEW_ATTR_MODE), 0);
	assert_int_equal(view_set_attr(w->view, id, &want, VIEW_ATTR_MODE), 0);
	assert_int_equal(view_attr(w->view, foo, &attr), 0);
	assert_int_equal(attr.mode, S_IFDIR | 0666);
	assert_int_equal(view_rmdir(w->view, dir, "foo"), 0);
	assert_int_equal(view_attr(w->view, id, &attr), -ENOENT);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &foo), 0);
	assert_int_equal(view_attr(w->view, foo, &attr), 0);
	assert_int_equal(attr.mode, S_IFDIR | 0750);
	assert_int_equal(view_attr(w->view, id_at(w, "tracing_on"), &attr), 0);
	assert_int_equal(attr.mode, S_IFREG | 0666);
}

/* Who asks has to be kept from it elsewhere, and is not believed to be. */
static void test_not_opened_for_that(void **state)
{
	struct world *w = *state;
	struct open_file *f = NULL;
	char buf[16];

	assert_int_equal(open_path(w, "trace", O_WRONLY, &f), 0);
	assert_int_equal(view_read(f, buf, sizeof(buf), 0), -EBADF);
	assert_int_equal(view_write(f, "x", 1, 0), 1);
	view_close(w->view, f);
	assert_int_equal(open_path(w, "set_ftrace_filter", O_RDONLY, &f), 0);
	assert_int_equal(view_write(f, "vfs_read", 8, 0), -EBADF);
	assert_true(view_read(f, buf, sizeof(buf), 0) > 0);
	view_close(w->view, f);
}

static void test_many_attributes(void **state)
{
	struct world *w = *state;
	struct view_entry *entries;
	ssize_t nr = view_list(w->view, id_at(w, "options"), &entries);

	assert_true(nr > 20);
	for (ssize_t i = 0; i < nr; i++) {
		const struct view_attr attr = {.uid = (uid_t)i};

		assert_int_equal(view_set_attr(w->view, entries[i].id, &attr, VIEW_ATTR_UID), 0);
	}
	for (ssize_t i = 0; i < nr; i++) {
		struct view_attr attr;

		assert_int_equal(view_attr(w->view, entries[i].id, &attr), 0);
		assert_int_equal(attr.uid, i);
		assert_int_equal(attr.mode, S_IFREG | 0640);
	}
	free(entries);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_percent),
		TEST(test_percent_does_not_delay_reads),
		TEST(test_block),
		TEST(test_latencies),
		TEST(test_nop_options),
		TEST(test_too_large),
		TEST(test_overflowing_sizes),
		TEST(test_now),
		TEST(test_touched),
		TEST(test_formats),
		TEST(test_attributes),
		TEST(test_many_attributes),
		TEST(test_not_opened_for_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
