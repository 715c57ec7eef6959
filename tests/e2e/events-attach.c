// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events-attach.c - records trace events of a guest of tests/e2e/qemu-lib.sh: those of a known
 * number of system calls are all there with their arguments, those of task switches are without a
 * gap, all events of the kernel can be on at once, and the guest is afterwards what it was.
 *
 * usage: events-attach TARGET KERNEL SERIAL
 */
#include "tests/e2e/running-guest.h"
#include "tests/seed.h"

#include <fnmatch.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/ring/entry.h"
#include "tracer/events/registry.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/merge.h"
#include "tracer/instance/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"
#include "tracer/tracepoint/internal.h"

#define STATS	500
#define COUNTED "workload stat 500"
#define OTHERS                                                                                     \
	"for i in 1 2 3 4 5 6 7 8; do busybox ls / | busybox cat >/dev/null & done; wait; "        \
	"busybox sleep 0.1"

/* What a kernel says when something is wrong with it. */
static const char *const complaints[] = {"BUG",	  "WARNING", "Oops",	"lockup",
					 "stall", "W+X",     "missing", "general protection"};

static void events_begin(struct env *e, const char *tracer, bool control)
{
	struct trace_config cfg = {
		.tracer = tracer,
		.control = control,
		.buffer_bytes = 64 << 20,
		.engine = TRACE_ENGINE_TRAMPOLINE,
	};

	env_trace(e, cfg);
}

static void events_end(struct env *e)
{
	struct trace_status st;

	assert_int_equal(trace_detach(e->trace), 0);
	trace_get_status(e->trace, &st);
	print_message("# %lu events, %lu lost, %lu made, %lu corrupt\n", st.hits, st.lost, st.made,
		      st.corrupt);
	assert_int_equal(st.corrupt, 0);
	assert_int_equal(st.lost, 0);
}

static const struct guestsym_event_list *list_of(struct env *e)
{
	const struct guestsym_event_list *list;

	assert_int_equal(trace_events(e->trace, &list), 0);
	return list;
}

static uint32_t event_of(struct env *e, const char *name)
{
	const struct guestsym_event_list *list = list_of(e);

	for (uint32_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].name, name))
			return i;
	fail_msg("the kernel has no event %s", name);
	return 0;
}

/* Those that can be, of a system. */
static size_t events_set(struct env *e, const char *system, bool on)
{
	const struct guestsym_event_list *list = list_of(e);
	uint32_t *which = calloc(list->n, sizeof(*which));
	size_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if ((list->v[i].source == GUESTSYM_EVENT_PROBE ||
		     (list->v[i].source == GUESTSYM_EVENT_SYSCALL && list->v[i].syscall_nr >= 0)) &&
		    !fnmatch(system, list->v[i].system, 0))
			which[n++] = i;
	assert_int_equal(instance_set_events(trace_top(e->trace), which, n, on), 0);
	free(which);
	return n;
}

static const struct guestsym_event_field *field_of(const struct guestsym_event *ev,
						   const char *name)
{
	for (size_t i = 0; i < ev->nr_fields; i++)
		if (!strcmp(ev->fields[i].name, name))
			return &ev->fields[i];
	fail_msg("%s has no field %s", ev->name, name);
	return NULL;
}

static int64_t value_of(const struct guestsym_event *ev, const struct ring_event *rec,
			const char *name)
{
	const struct guestsym_event_field *f = field_of(ev, name);
	int64_t value = 0;

	assert_in_range(f->size, 1, sizeof(value));
	assert_true(f->offset + f->size <= rec->len);
	memcpy(&value, (const uint8_t *)rec->data + f->offset, f->size);
	return f->is_signed && f->size == 4 ? (int32_t)value : value;
}

/* --- the guest is what it was ---------------------------------------------------------------- */

static uint8_t *text_now(struct env *e, size_t *len)
{
	uint8_t *text;

	env_attach(e, NULL);
	text = read_text(e, len);
	env_detach(e);
	return text;
}

static uint8_t *text_before(struct env *e, size_t *len)
{
	console_run(&e->console, "busybox dmesg -c >/dev/null");
	return text_now(e, len);
}

static void nothing_is_left(struct env *e, uint8_t *before, size_t len)
{
	size_t now_len;
	uint8_t *now = text_now(e, &now_len);

	assert_int_equal(now_len, len);
	assert_memory_equal(now, before, len);
	free(now);
	free(before);
	console_run(&e->console, "busybox dmesg -c");
	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++)
		if (strstr(e->console.out, complaints[i]))
			fail_msg("the guest's kernel says: %s", e->console.out);
}

static int workload_pid(struct env *e)
{
	const char *at = strstr(e->console.out, "workload: pid ");

	assert_non_null(at);
	return (int)strtol(at + strlen("workload: pid "), NULL, 10);
}

/* --- tests ----------------------------------------------------------------------------------- */

struct counts {
	unsigned int enters, exits, wrong;
};

static void count_stats(struct env *e, int pid, struct counts *c)
{
	const struct guestsym_event_list *list = list_of(e);
	const struct guestsym_event *enter = &list->v[event_of(e, "sys_enter_newfstatat")],
				    *leave = &list->v[event_of(e, "sys_exit_newfstatat")];
	struct merge *m = merge_new(trace_top(e->trace)->ring, e->trace->vcpus, false);
	struct ring_event ev;
	unsigned int cpu;

	assert_non_null(m);
	while (merge_next(m, &ev, &cpu)) {
		const struct trace_entry *ent = ev.data;

		assert_int_equal(ev.lost, 0);
		if (ent->pid != pid)
			continue;
		if (ent->type == enter->id) {
			c->enters++;
			c->wrong += c->enters != c->exits + 1 ||
				    (int32_t)value_of(enter, &ev, "dfd") != -100 ||
				    !value_of(enter, &ev, "filename") ||
				    !value_of(enter, &ev, "statbuf");
		} else if (ent->type == leave->id) {
			c->exits++;
			c->wrong += c->enters != c->exits || value_of(leave, &ev, "ret") != 0;
		}
	}
	merge_free(m);
}

static void system_calls(void **state)
{
	struct env *e = *state;
	struct counts c = {0};
	uint32_t which[2];
	uint8_t *before;
	size_t len;
	int pid;

	before = text_before(e, &len);
	events_begin(e, "nop", true);
	which[0] = event_of(e, "sys_enter_newfstatat");
	which[1] = event_of(e, "sys_exit_newfstatat");
	assert_int_equal(instance_set_events(trace_top(e->trace), which, 2, true), 0);
	assert_true(instance_event_is_on(trace_top(e->trace), which[0]));
	console_run(&e->console, COUNTED);
	pid = workload_pid(e);
	assert_int_equal(instance_set_events(trace_top(e->trace), which, 2, false), 0);
	console_run(&e->console, COUNTED);
	events_end(e);
	count_stats(e, pid, &c);
	env_trace_forget(e);
	assert_int_equal(c.enters, STATS);
	assert_int_equal(c.exits, STATS);
	assert_int_equal(c.wrong, 0);
	nothing_is_left(e, before, len);
}

static void task_switches(void **state)
{
	struct env *e = *state;
	const struct guestsym_event *sw;
	int64_t running[MACHINE_MAX_VCPUS];
	unsigned int cpu, n = 0, gaps = 0;
	struct ring_event ev;
	struct merge *m;
	uint8_t *before;
	size_t len;

	before = text_before(e, &len);
	events_begin(e, "nop", true);
	events_set(e, "sched", true);
	console_run(&e->console, OTHERS);
	events_end(e);
	sw = &list_of(e)->v[event_of(e, "sched_switch")];
	memset(running, 0xff, sizeof(running));
	m = merge_new(trace_top(e->trace)->ring, e->trace->vcpus, false);
	assert_non_null(m);
	while (merge_next(m, &ev, &cpu)) {
		const struct trace_entry *ent = ev.data;

		assert_int_equal(ev.lost, 0);
		if (ent->type != sw->id)
			continue;
		n++;
		gaps += running[cpu] >= 0 && running[cpu] != value_of(sw, &ev, "prev_pid");
		gaps += ent->pid != value_of(sw, &ev, "prev_pid") ||
			!(ent->flags & TRACE_FLAG_IRQS_OFF);
		running[cpu] = value_of(sw, &ev, "next_pid");
	}
	merge_free(m);
	env_trace_forget(e);
	print_message("# %u switches\n", n);
	assert_true(n > 50);
	assert_int_equal(gaps, 0);
	nothing_is_left(e, before, len);
}

static void all_events(void **state)
{
	struct env *e = *state;
	struct ring_event ev;
	struct merge *m;
	uint64_t records = 0, unknown = 0;
	unsigned int cpu, kinds = 0;
	bool *seen;
	uint8_t *before;
	size_t len, n;

	before = text_before(e, &len);
	events_begin(e, "nop", true);
	n = events_set(e, "*", true);
	for (int i = 0; i < 3; i++)
		console_run(&e->console, OTHERS);
	events_set(e, "*", false);
	events_end(e);
	seen = calloc(list_of(e)->n, sizeof(*seen));
	assert_non_null(seen);
	m = merge_new(trace_top(e->trace)->ring, e->trace->vcpus, false);
	assert_non_null(m);
	while (merge_next(m, &ev, &cpu)) {
		const struct guestsym_event_list *list = list_of(e);
		const struct trace_entry *ent = ev.data;
		size_t i = 0;

		while (i < list->n && list->v[i].id != ent->type)
			i++;
		records++;
		unknown += i == list->n;
		if (i < list->n && !seen[i]) {
			seen[i] = true;
			kinds++;
		}
	}
	merge_free(m);
	env_trace_forget(e);
	free(seen);
	print_message("# %zu events on, %lu records of %u kinds\n", n, records, kinds);
	assert_true(n > 1000);
	assert_true(records > 1000);
	assert_true(kinds > 50);
	assert_int_equal(unknown, 0);
	nothing_is_left(e, before, len);
}

/* --- killed ---------------------------------------------------------------------------------- */

#define KILLS	4
#define KILL_MS 2500 /* all that a tracer does takes about so long, or longer */

static void sleep_ms(unsigned int ms)
{
	const struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&ts, NULL);
}

static void killed(void **state)
{
	struct env *e = *state;
	/* Without events, what the guest writes into its own trace is recorded all the same. */
	const char *const options[2][8] = {
		{"-k", e->kernel, "-t", "nop", "--no-mount", "-e", "*:*"},
		{"-k", e->kernel, "-t", "nop", "--no-mount", "-f", "vfs_read"},
	};
	unsigned int seed = test_seed();
	uint8_t *before;
	size_t len;

	before = text_before(e, &len);
	for (int i = 0; i < KILLS; i++) {
		env_tracer_start(e, options[i % 2]);
		sleep_ms(KILL_MS / KILLS * (unsigned int)i +
			 (unsigned int)rand_r(&seed) % (KILL_MS / KILLS));
		kill(e->tracer, SIGKILL);
		assert_true(WIFSIGNALED(env_tracer_wait(e)));
		console_run(&e->console, COUNTED);
		env_recover(e);
	}
	nothing_is_left(e, before, len);
}

/* Attached, with events on, it dies behind the row of one more: before that is registered. */
static void die_early(struct env *e)
{
	const struct guestsym_event *ev;
	struct payload_event row = {0};

	events_begin(e, "nop", false);
	events_set(e, "sched", true);
	ev = &list_of(e)->v[event_of(e, "timer_start")];
	row.tracepoint = ev->tracepoint;
	row.probe = ev->probe;
	row.data = events_window_va(e->trace->trace_events, events_file_offset(EVENT_FILES - 1));
	assert_int_equal(events_row_write(e->trace->trace_events, EVENT_FILES - 1, &row), 0);
	kill(getpid(), SIGKILL);
}

/* The kernel warns of a probe that is to be unregistered and is not there. */
static void killed_early(void **state)
{
	struct env *e = *state;
	uint8_t *before;
	size_t len;

	before = text_before(e, &len);
	e->tracer = fork();
	if (!e->tracer) {
		die_early(e);
		_exit(1);
	}
	assert_true(WIFSIGNALED(env_tracer_wait(e)));
	env_recover(e);
	nothing_is_left(e, before, len);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_calls), cmocka_unit_test(task_switches),
		cmocka_unit_test(all_events),	cmocka_unit_test(killed),
		cmocka_unit_test(killed_early),
	};

	if (argc != 4) {
		fprintf(stderr, "usage: events-attach TARGET KERNEL SERIAL\n");
		return 2;
	}
	env_arguments = argv + 1;
	return cmocka_run_group_tests_name("events", tests, env_setup, env_teardown);
}
