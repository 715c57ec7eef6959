// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-tracefs-events.c - events/ and set_event of a made-up guest that has a few events, and
 * cannot record them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <malloc.h>

#include "tests/unit/made-events.h"
#include "tests/unit/tracefs-world.h"
#include "tracer/core/trace.h"
#include "tracer/events/events.h"
#include "tracer/events/list.h"
#include "tracer/output/fmt/print.h"

enum { EVENTS = 5 };

static struct guestsym_event events[EVENTS];
static const struct guestsym_event_list list = {
	.common = made_common,
	.nr_common = sizeof(made_common) / sizeof(made_common[0]),
	.v = events,
	.n = EVENTS,
};

static struct guestsym_event event(const struct guestsym_event *made, uint16_t id, uint32_t flags)
{
	struct guestsym_event ev = *made;

	ev.id = id;
	ev.flags = flags;
	ev.source = flags & GUESTSYM_EVENT_FL_REG ? GUESTSYM_EVENT_PROBE : GUESTSYM_EVENT_FTRACE;
	ev.tracepoint = FAKE_VA(0x8000);
	ev.probe = FAKE_VA(0x9000);
	return ev;
}

static void make_events(void)
{
	static const struct guestsym_event branch = {
		.system = "ftrace", .name = "branch", .print_fmt = "\"\""};
	static const struct guestsym_event function = {
		.system = "ftrace", .name = "function", .print_fmt = "\"\""};

	events[0] = event(&made_switch, 314, GUESTSYM_EVENT_FL_REG);
	events[0].print_fmt = "\"prev_comm=%s prev_pid=%d next_comm=%s next_prio=%d\", "
			      "REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_prio";
	events[1] = event(&branch, 8, GUESTSYM_EVENT_FL_IGNORE_ENABLE);
	events[2] = event(&made_kmalloc, 400, GUESTSYM_EVENT_FL_REG);
	events[3] = event(&function, 99, GUESTSYM_EVENT_FL_IGNORE_ENABLE);
	events[4] = event(&made_switch, 313, GUESTSYM_EVENT_FL_REG);
	events[4].name = "sched_stat_wait";
}

/* The guest's machine is there, and it tells its events from now on. */
static void tell(struct world *w)
{
	make_events();
	fake.events = &list;
	w->trace->m = (struct machine *)&fake;
}

static int set_up_events(void **state)
{
	int rc = set_up(state);

	tell(*state);
	return rc;
}

static int tear_down_events(void **state)
{
	struct world *w = *state;

	w->trace->m = NULL; /* nothing was attached */
	return tear_down(state);
}

static int finds(struct world *w, const char *path)
{
	view_id id;

	return view_find(w->view, path, &id);
}

/* Its names in a line, in the order in which they come. */
static void expect_names(struct world *w, const char *path, const char *want)
{
	struct view_entry *entries;
	char names[512] = "";
	size_t len = 0;
	view_id id = 0;
	ssize_t n;

	assert_int_equal(view_find(w->view, path, &id), 0);
	n = view_list(w->view, id, &entries);
	assert_true(n >= 0);
	for (ssize_t i = 0; i < n; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s ", entries[i].name);
	free(entries);
	assert_string_equal(names, want);
}

static void test_files(void **state)
{
	struct world *w = *state;

	expect_names(w, "events", "enable kmem sched ftrace header_event header_page ");
	expect_names(w, "events/sched", "enable filter sched_stat_wait sched_switch ");
	expect_names(w, "events/sched/sched_switch",
		     "enable filter format hist hist_debug id inject trigger ");
	expect_names(w, "events/ftrace/branch", "format hist hist_debug ");
	expect_names(w, "events/ftrace/function", "format hist hist_debug id ");
	assert_int_equal(finds(w, "events/kmem/kmalloc/format"), 0);
	assert_int_equal(finds(w, "events/kmem/sched_switch"), -ENOENT);
	assert_int_equal(finds(w, "events/sched/sched"), -ENOENT);
	assert_int_equal(finds(w, "events/sched/sched_switch/none"), -ENOENT);
	assert_int_equal(finds(w, "events/net"), -ENOENT);
	assert_int_equal(finds(w, "events/sched/enable/x"), -ENOTDIR);
	expect(w, "events/sched/sched_switch/id", "314\n");
	expect(w, "events/sched/sched_stat_wait/id", "313\n");
	expect(w, "events/ftrace/function/id", "1\n"); /* of our own records */
	expect(w, "available_events", "sched:sched_switch\nkmem:kmalloc\nsched:sched_stat_wait\n");
}

/* A guest that is not there yet, or does not tell, has the rest; later it may. */
static void test_told_later(void **state)
{
	struct world *w = *state;

	assert_int_equal(finds(w, "events/enable"), -ENOENT);
	assert_int_equal(finds(w, "set_event"), -ENOENT);
	assert_int_equal(finds(w, "events/sched"), -ENOENT);
	expect_names(w, "events/ftrace/print", "format hist hist_debug id trigger ");
	tell(w);
	fake.events = NULL;
	assert_int_equal(finds(w, "set_event"), -ENOENT);
	fake.events = &list;
	assert_int_equal(finds(w, "set_event"), 0);
	assert_int_equal(finds(w, "events/sched/sched_switch/enable"), 0);
}

static void test_enable(void **state)
{
	static const char *const files[] = {"events/enable", "events/sched/enable",
					    "events/sched/sched_switch/enable"};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		expect(w, files[i], "0\n");
		assert_int_equal(put(w, files[i], O_TRUNC, "2\n"), -EINVAL);
		assert_int_equal(put(w, files[i], O_TRUNC, "z"), -EINVAL);
		assert_int_equal(put(w, files[i], O_TRUNC, "0"), 1);
		/* There are no trampolines. */
		assert_int_equal(put(w, files[i], O_TRUNC, "1"), -EOPNOTSUPP);
		expect(w, files[i], "0\n");
	}
	assert_int_equal(put(w, "set_event", O_TRUNC, "sched:sched_switch kmalloc"), -EOPNOTSUPP);
	assert_int_equal(put(w, "set_event", O_APPEND, "!sched:* kmalloc"), 9);
	assert_int_equal(put(w, "set_event", O_TRUNC, "nosuch"), -EINVAL);
	assert_int_equal(put(w, "set_event", O_TRUNC, "\n"), 1);
	assert_int_equal(put(w, "set_event", O_TRUNC, ""), 0);
	expect(w, "set_event", "");
}

/* Of set_ftrace_filter: what cannot be registered is not set. */
static void test_commands(void **state)
{
	static const char all[] = "#### all functions enabled ####\n";
	struct world *w = *state;

	assert_int_equal(put(w, "set_ftrace_filter", O_APPEND, "vfs_read:enable_event:no:no\n"),
			 -EINVAL);
	assert_int_equal(put(w, "set_ftrace_filter", O_APPEND, "vfs_read:enable_event:sched\n"),
			 -EINVAL);
	assert_int_equal(
		put(w, "set_ftrace_filter", O_APPEND, "vfs_read:enable_event:sched:sched_switch\n"),
		-EOPNOTSUPP);
	assert_int_equal(put(w, "set_ftrace_filter", O_APPEND,
			     "!vfs_read:disable_event:sched:sched_switch\n"),
			 -ENODEV);
	expect(w, "set_ftrace_filter", all);
	expect(w, "events/sched/sched_switch/enable", "0\n");
}

static void test_filters(void **state)
{
	static const char file[] = "events/sched/sched_switch/filter";
	struct world *w = *state;
	char buf[4096], longest[5000];
	view_id dir = 0, id;

	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "foo", &id), 0);
	assert_int_equal(put(w, file, O_TRUNC, "prev_pid == 1\n"), 14);
	expect(w, file, "prev_pid == 1\n");
	expect(w, "instances/foo/events/sched/sched_switch/filter", "none\n");
	expect(w, "error_log", "");
	assert_int_equal(put(w, file, O_TRUNC, "nosuch == 1"), -EINVAL);
	expect(w, file, "nosuch == 1\n       ^\nparse_error: Field not found\n\n");
	assert_non_null(strstr(get(w, "error_log", buf, sizeof(buf)),
			       "event filter parse error: error: Field not found\n"
			       "  Command: nosuch == 1\n                  ^\n"));
	assert_int_equal(put(w, file, O_TRUNC, "0\n"), 2);
	expect(w, file, "none\n");
	memset(longest, ' ', sizeof(longest));
	assert_int_equal(put_bytes(w, file, O_TRUNC, longest, sizeof(longest)), -EINVAL);

	assert_int_equal(put(w, "events/sched/filter", O_TRUNC, "common_pid == 0"), 15);
	expect(w, file, "common_pid == 0\n");
	expect(w, "events/kmem/kmalloc/filter", "none\n");
	assert_non_null(
		strstr(get(w, "events/sched/filter", buf, sizeof(buf)), "### global filter ###\n"));
	assert_int_equal(put(w, "events/sched/filter", O_TRUNC, "0"), 1);
	expect(w, file, "none\n");
}

static void test_pids(void **state)
{
	struct world *w = *state;

	expect(w, "set_event_pid", "");
	assert_int_equal(put(w, "set_event_pid", O_TRUNC, "5 3\n"), 4);
	expect(w, "set_event_pid", "3\n5\n");
	expect(w, "set_event_notrace_pid", "");
	expect(w, "set_ftrace_pid", "no pid\n");
	assert_int_equal(put(w, "set_event_pid", O_TRUNC, "abc"), -EINVAL);
	assert_int_equal(put(w, "set_event_pid", O_TRUNC, ""), 0);
	expect(w, "set_event_pid", "");
}

/* --- inject ---------------------------------------------------------------------------------- */

static const char switch_text[] =
	"prev_comm='bash' prev_pid=7 prev_prio=120 next_comm=\"sh\" next_pid=8 next_prio=-1";

/* The lines of the trace, without their times. */
static void expect_lines(struct world *w, const char *path, const char *want)
{
	char buf[8192], lines[8192] = "", *save = NULL;

	get(w, path, buf, sizeof(buf));
	for (char *line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *text = strstr(line, ": ");

		if (*line != '#' && text)
			strcat(strcat(lines, text + 2), "\n");
	}
	assert_string_equal(lines, want);
}

static int put_inject(struct world *w, const char *text)
{
	return (int)put(w, "events/sched/sched_switch/inject", 0, text);
}

/* Whether or not the event is on: and there is nothing here that could make it so. */
static void test_inject(void **state)
{
	static const char line[] =
		"sched_switch: prev_comm=bash prev_pid=7 next_comm=sh next_prio=-1\n";
	struct world *w = *state;
	struct open_file *f = NULL;
	char longest[4096], two[512];

	snprintf(two, sizeof(two), "%s%s", line, line);
	assert_int_equal(put_inject(w, switch_text), strlen(switch_text));
	expect_lines(w, "trace", line);
	expect(w, "events/sched/sched_switch/enable", "0\n");
	assert_int_equal(put_inject(w, "prev_pid=1 nosuch=1"), -ENOENT);
	assert_int_equal(put_inject(w, "prev_pid"), -EINVAL);
	memset(longest, ' ', sizeof(longest));
	assert_int_equal(
		put_bytes(w, "events/sched/sched_switch/inject", 0, longest, sizeof(longest)),
		-EINVAL);
	expect_lines(w, "trace", line);
	assert_int_equal(open_path(w, "events/sched/sched_switch/inject", O_RDONLY, &f), 0);
	assert_int_equal(view_read(f, longest, sizeof(longest), 0), -EPERM);
	view_close(w->view, f);

	/* While nothing is recorded it succeeds as well. */
	assert_int_equal(put(w, "tracing_on", O_TRUNC, "0"), 1);
	assert_int_equal(put_inject(w, switch_text), strlen(switch_text));
	assert_int_equal(put(w, "tracing_on", O_TRUNC, "1"), 1);
	expect_lines(w, "trace", line);
	/* What a filter, or the tasks that are asked for, leave out. */
	assert_int_equal(put(w, "events/sched/sched_switch/filter", O_TRUNC, "prev_pid == 7"), 13);
	assert_int_equal(put_inject(w, "prev_pid=8"), 10);
	assert_int_equal(put(w, "set_event_pid", O_TRUNC, "77"), 2);
	assert_int_equal(put_inject(w, switch_text), strlen(switch_text));
	expect_lines(w, "trace", line);
	snprintf(longest, sizeof(longest), "%s common_pid=77", switch_text);
	assert_int_equal(put_inject(w, longest), strlen(longest));
	expect_lines(w, "trace", two);
}

/* It is set, though this guest cannot be asked for the event. */
static void put_trigger(struct world *w, const char *text)
{
	assert_int_equal(put(w, "events/sched/sched_switch/trigger", O_APPEND, text), -EOPNOTSUPP);
}

/* Only those triggers see it that have to look at a record: the kernel asks the others before. */
static void test_inject_sets_off(void **state)
{
	struct world *w = *state;
	char buf[8192];

	assert_int_equal(put(w, "tracing_on", O_TRUNC, "0"), 1);
	put_trigger(w, "traceon");
	assert_int_equal(put_inject(w, switch_text), strlen(switch_text));
	expect(w, "tracing_on", "0\n");
	put_trigger(w, "hist:keys=prev_pid");
	assert_int_equal(put_inject(w, switch_text), strlen(switch_text));
	assert_non_null(strstr(get(w, "events/sched/sched_switch/hist", buf, sizeof(buf)),
			       "{ prev_pid:          7 } hitcount:          1\n"));
	expect(w, "tracing_on", "1\n");
	/* A trigger has the event on, but not kept. */
	expect_lines(w, "trace", "");
}

/* --- of a module that comes and goes --------------------------------------------------------- */

enum { FIRST = 300, LAST = 3000, SLACK = 16384, LAST_ID = 60000 };

static struct guestsym_event more_events[EVENTS + 1];
static struct guestsym_event_list more_list;

/* What it points to is there for now only. */
static void module_comes(struct world *w, uint16_t id, const char *print_fmt)
{
	char *system = strdup("nbd"), *module = strdup("nbd"), *format = strdup(print_fmt);

	memcpy(more_events, events, sizeof(events));
	more_events[EVENTS] = event(&made_kmalloc, id, GUESTSYM_EVENT_FL_REG);
	more_events[EVENTS].system = system;
	more_events[EVENTS].module = module;
	more_events[EVENTS].print_fmt = format;
	more_list = list;
	more_list.v = more_events;
	more_list.n = EVENTS + 1;
	fake.events = &more_list;
	events_changed(w->trace->trace_events);
	assert_int_equal(finds(w, "set_event"), 0);
	memset(system, 'x', 3);
	memset(module, 'x', 3);
	memset(format, 'x', strlen(format));
	free(system);
	free(module);
	free(format);
}

static void module_goes(struct world *w)
{
	fake.events = &list;
	events_changed(w->trace->trace_events);
	assert_int_equal(finds(w, "events/nbd"), -ENOENT);
}

/* A kernel gives it a new id each time; who looks at its files each time costs nothing either. */
static void test_module_again_and_again(void **state)
{
	struct world *w = *state;
	size_t first = 0;
	char id[16];

	w->trace->cfg.running = true;
	assert_int_equal(finds(w, "set_event"), 0);
	for (unsigned int i = 0; i < LAST; i++) {
		module_comes(w, (uint16_t)(1000 + i), "\"again\"");
		assert_int_equal(finds(w, "events/nbd/kmalloc/id"), 0);
		snprintf(id, sizeof(id), "%u\n", 1000 + i);
		expect(w, "events/nbd/kmalloc/id", id);
		module_goes(w);
		if (i == FIRST)
			first = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks < first + SLACK);
	/* Records of it from before are printed as ever. */
	assert_true(event_printer_knows(events_printer(w->trace->trace_events), 1000, 1000));
}

/* Nothing of a hostile list is twice the same: so many may come, and no more. */
static void test_module_of_a_hostile_list(void **state)
{
	struct world *w = *state;
	char format[64];

	w->trace->cfg.running = true;
	assert_int_equal(finds(w, "set_event"), 0);
	for (unsigned int i = 0; i < EVENTS_OWN + 3; i++) {
		snprintf(format, sizeof(format), "\"%u\"", i);
		module_comes(w, (uint16_t)(1000 + i), format);
		assert_int_equal(finds(w, "events/nbd/kmalloc"), i < EVENTS_OWN ? 0 : -ENOENT);
		module_goes(w);
	}
	/* What has been there may come again. */
	module_comes(w, LAST_ID, "\"7\"");
	assert_int_equal(finds(w, "events/nbd/kmalloc"), 0);
}

/* --- of many modules at once ------------------------------------------------------------------ */

enum { MANY = 4096, PAUSES_MAX = MANY / 256 };

static struct guestsym_event many_events[EVENTS + MANY];
static unsigned int times_resumed, times_asked, give_up_at;

static void count_resumed(void)
{
	times_resumed++;
}

static bool given_up(void *arg)
{
	(void)arg;
	return ++times_asked >= give_up_at;
}

/* n of them, all of one name: they differ in where they are, of which two have the last place. */
static void many_modules(struct world *w, size_t n)
{
	memcpy(many_events, events, sizeof(events));
	for (size_t i = 0; i < n; i++) {
		struct guestsym_event *ev = &many_events[EVENTS + i];

		*ev = event(&made_kmalloc, (uint16_t)(1000 + i), GUESTSYM_EVENT_FL_REG);
		ev->system = "nbd";
		ev->module = "nbd";
		ev->call = 0xffff888000000000 + 128 * (i < MANY - 1 ? i * 7 % MANY : i);
	}
	more_list = list;
	more_list.v = many_events;
	more_list.n = EVENTS + n;
	fake.events = &more_list;
	if (w->trace->trace_events)
		events_changed(w->trace->trace_events);
}

/* So many events of modules are there; the list is looked at anew. */
static size_t there_are(struct world *w)
{
	const struct guestsym_event_list *now;
	size_t n = 0;

	assert_int_equal(finds(w, "set_event"), 0);
	now = events_list(w->trace->trace_events);
	for (size_t i = 0; i < now->n; i++)
		n += now->v[i].module && !guestsym_event_is_gone(&now->v[i]);
	return n;
}

static void test_many_modules_go_at_once(void **state)
{
	struct world *w = *state;

	w->trace->cfg.running = true;
	many_modules(w, MANY);
	assert_int_equal(there_are(w), MANY);
	many_modules(w, 5);
	fake.run = count_resumed;
	times_resumed = 0;
	assert_int_equal(there_are(w), 5);
	fake.run = NULL;
	assert_in_range(times_resumed, 1, PAUSES_MAX);
	/* They come again, and what is twice in the list comes once. */
	many_modules(w, MANY);
	many_events[EVENTS + 11] = many_events[EVENTS + 10];
	assert_int_equal(there_are(w), MANY - 1);
}

/* A guest that is given up does not stand until all of its events have been looked at. */
static void test_many_modules_of_one_given_up(void **state)
{
	struct world *w = *state;

	w->trace->cfg.running = true;
	many_modules(w, MANY);
	assert_int_equal(there_are(w), MANY);
	many_modules(w, 0);
	give_up_at = MANY / 2;
	w->trace->guest.given_up = given_up;
	assert_in_range(there_are(w), 1, MANY);
	assert_in_range(times_asked, MANY / 2, MANY / 2 + 10);
	w->trace->guest.given_up = NULL;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up_events, tear_down_events)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_files),
		cmocka_unit_test_setup_teardown(test_told_later, set_up, tear_down_events),
		TEST(test_enable),
		TEST(test_commands),
		TEST(test_filters),
		TEST(test_pids),
		TEST(test_inject),
		TEST(test_inject_sets_off),
		TEST(test_module_again_and_again),
		TEST(test_module_of_a_hostile_list),
		TEST(test_many_modules_go_at_once),
		TEST(test_many_modules_of_one_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
