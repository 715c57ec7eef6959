// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched-attach.c - the tracers that work on events of the scheduler, on a guest of
 * tests/e2e/qemu-lib.sh: what they record is what the events say that a second instance has
 * recorded at the same time.
 *
 * usage: sched-attach TARGET KERNEL SERIAL
 */
#include "tests/e2e/sched-watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tracer/ring/entry.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

#define OTHERS                                                                                     \
	"for i in 1 2 3 4; do busybox ls / | busybox cat >/dev/null & done; wait; "                \
	"busybox sleep 0.1"

static bool next_entry(struct ring_cursor *c, uint16_t type, struct ring_event *ev)
{
	while (ring_next(c, ev)) {
		const struct trace_entry *ent = ev->data;

		assert_int_equal(ev->lost, 0);
		if (ent->type == type)
			return true;
	}
	return false;
}

static void same_switch(const struct watch *w, unsigned int vcpu, const struct ring_event *ev,
			const struct ring_event *ctx)
{
	const struct trace_switch_entry *e = ctx->data;

	assert_int_equal(e->prev_pid, watch_value(w, SWITCH, ev, "prev_pid"));
	assert_int_equal(e->next_pid, watch_value(w, SWITCH, ev, "next_pid"));
	assert_int_equal(e->prev_prio, (uint8_t)watch_value(w, SWITCH, ev, "prev_prio"));
	assert_int_equal(e->next_prio, (uint8_t)watch_value(w, SWITCH, ev, "next_prio"));
	assert_int_equal(e->prev_state, ffs((int)watch_value(w, SWITCH, ev, "prev_state") & 0xff));
	assert_int_equal(e->next_cpu, vcpu);
}

/*
 * Of one vCPU; how many. What is collected late gets the time up to which an instance has been read
 * (tracer/ring/horizon.h), which is each instance's own: but for such, the times are the same.
 */
static unsigned int compare_switches(const struct watch *w, unsigned int vcpu)
{
	struct ring_cursor *events = ring_look(w->events->ring[vcpu]);
	struct ring_cursor *entries = ring_look(trace_top(w->e->trace)->ring[vcpu]);
	struct ring_event ev, ctx;
	unsigned int n = 0, late = 0;
	uint64_t most = 0;

	assert_non_null(events);
	assert_non_null(entries);
	for (; watch_next(w, events, SWITCH, &ev); n++) {
		if (!next_entry(entries, TRACE_CTX, &ctx))
			fail_msg("switch %u of vCPU %u has no entry", n, vcpu);
		same_switch(w, vcpu, &ev, &ctx);
		late += ctx.ts != ev.ts;
		most = ctx.ts > ev.ts + most ? ctx.ts - ev.ts : most;
		most = ev.ts > ctx.ts + most ? ev.ts - ctx.ts : most;
	}
	assert_false(next_entry(entries, TRACE_CTX, &ctx));
	print_message("# vCPU %u: %u switches, %u of them late, by %lu ns at most\n", vcpu, n, late,
		      most);
	assert_true(late <= n / 2);
	ring_cursor_free(events);
	ring_cursor_free(entries);
	return n;
}

/*
 * The next wakeup that has an entry: whoever runs when all is switched on is not known before the
 * vCPU's first switch, nor is its priority, so what it wakes up until then has none.
 */
static bool next_wakeup(const struct watch *w, struct ring_cursor *c, bool *known,
			struct ring_event *ev)
{
	while (ring_next(c, ev)) {
		const struct trace_entry *ent = ev->data;
		bool switched = ent->type == w->list->v[w->event[SWITCH]].id;

		assert_int_equal(ev->lost, 0);
		*known |= switched;
		if (!switched && (*known || !ent->pid))
			return true;
	}
	return false;
}

static unsigned int compare_wakeups(const struct watch *w, unsigned int vcpu)
{
	struct ring_cursor *events = ring_look(w->events->ring[vcpu]);
	struct ring_cursor *entries = ring_look(trace_top(w->e->trace)->ring[vcpu]);
	struct ring_event ev, wake;
	unsigned int n = 0;
	bool known = false;

	assert_non_null(events);
	assert_non_null(entries);
	for (; next_wakeup(w, events, &known, &ev); n++) {
		const struct trace_switch_entry *e;

		if (!next_entry(entries, TRACE_WAKE, &wake))
			fail_msg("wakeup %u of vCPU %u has no entry", n, vcpu);
		e = wake.data;
		assert_int_equal(e->prev_pid, ((const struct trace_entry *)ev.data)->pid);
		assert_int_equal(e->next_pid, watch_value(w, WAKEUP, &ev, "pid"));
		assert_int_equal(e->next_prio, (uint8_t)watch_value(w, WAKEUP, &ev, "prio"));
		assert_int_equal(e->next_cpu, watch_value(w, WAKEUP, &ev, "target_cpu"));
	}
	assert_false(next_entry(entries, TRACE_WAKE, &wake));
	ring_cursor_free(events);
	ring_cursor_free(entries);
	return n;
}

static void switches(void **state)
{
	unsigned int n = 0, wakeups = 0;
	struct watch w;

	watch_begin(&w, *state, "sched_switch");
	watch_clear(&w);
	watch_set_on(&w, true);
	console_run(&w.e->console, OTHERS);
	watch_stop(&w);
	for (unsigned int v = 0; v < w.e->trace->vcpus; v++) {
		n += compare_switches(&w, v);
		wakeups += compare_wakeups(&w, v);
	}
	watch_end(&w);
	print_message("# %u switches, %u wakeups\n", n, wakeups);
	assert_true(n > 50);
	assert_true(wakeups > 10);
}

/* --- wakeups --------------------------------------------------------------------------------- */

#define WAKEUPS	    1000
#define MAX_RT_PRIO 100
/* More than that: one that is waited for gives way to one that is more urgent. */
#define RT_LOOP	  "workload sched_setscheduler 1 nanosleep 1200"
#define FEW_RT	  "workload sched_setscheduler 1 nanosleep 50"
#define TRIES	  5 /* of a run in which nothing is lost */
#define NICE_LOOP "workload setpriority 1 nanosleep 200"
/* With something to do in the end: a task that has gone cannot be asked whose it was. */
#define DL_LOOP "workload setpriority 1 sched_setattr 1 setuid 1 nanosleep 200 getppid 10000"

#define TEXT_MAX    (16 << 20)
#define STACK_SHOWN 1000 /* letters of what is wrong */

static char *read_trace(struct instance *i)
{
	struct instance_reader *r = instance_read_open(i, ALL_VCPUS, false);
	char *text = calloc(1, TEXT_MAX);
	off_t at = 0;
	ssize_t n;

	assert_non_null(r);
	assert_non_null(text);
	while ((n = instance_read(r, text + at, TEXT_MAX - 1 - (size_t)at, at)) > 0)
		at += n;
	instance_read_close(r);
	return text;
}

/* What a test of a wakeup tracer does. */
struct wakeup_case {
	const char *tracer;
	int64_t below;
	const char *loop;
	unsigned int wakeups;
	bool functions;
	const char *task; /* what the header says of its class; NULL: there are some */
};

static void header_is_shown(const struct wakeup_case *c, const char *text, const struct offline *o)
{
	unsigned long entries, written;
	char line[128], *end;
	const char *at;

	snprintf(line, sizeof(line), "# tracer: %s\n#\n# %s latency trace v1.1.5 on ", c->tracer,
		 c->tracer);
	assert_int_equal(strncmp(text, line, strlen(line)), 0);
	snprintf(line, sizeof(line), "# latency: %lu us, #", o->max / 1000);
	at = strstr(text, line);
	assert_non_null(at);
	entries = strtoul(at + strlen(line), &end, 10);
	assert_int_equal(*end, '/');
	written = strtoul(end + 1, &end, 10);
	assert_int_equal(strncmp(end, ", CPU#", 6), 0);
	assert_int_equal(entries, written);
	if (c->functions)
		assert_true(entries > 6);
	else
		assert_int_equal(entries, 6);
	snprintf(line, sizeof(line), "-%ld %s", o->max_pid, c->task ? c->task : "(uid:0 nice:");
	assert_non_null(strstr(text, line));
}

/* The lines between the wakeup and the switch are calls, and that is what there is of them. */
static unsigned int calls_between(const char *wake, const char *end)
{
	unsigned int n = 0;

	for (const char *at = strchr(wake, '\n'); at && at < end; at = strchr(at + 1, '\n'))
		n += at + 1 < end && memmem(at, (size_t)(end - at), " <-", 3) != NULL;
	return n;
}

/*
 * Behind an entry is its stack: the tracer's own functions, then what called them, as this and then
 * some; returns what is behind it. NULL: whatever that is.
 */
static char *stack_is_shown(char *entry, const char *probe, const char *caller)
{
	static const char first[] = ": <stack trace>\n => __ftrace_trace_stack\n => ";
	char *at = strstr(entry, first);
	unsigned int n = 0;

	assert_non_null(at);
	at += strlen(first);
	assert_int_equal(strncmp(at, probe, strlen(probe)), 0);
	at = strchr(at, '\n') + 1;
	if (caller)
		assert_int_equal(strncmp(at + 4, caller, strlen(caller)), 0);
	for (; !strncmp(at, " => ", 4); n++) {
		if (!strncmp(at, " => 0x", 6))
			fail_msg("an address without a name: %.*s", STACK_SHOWN, entry);
		at = strchr(at, '\n') + 1;
	}
	assert_true(n >= 2);
	return at;
}

static void max_is_shown(const struct watch *w, const struct wakeup_case *c,
			 const struct offline *o)
{
	char *text = read_trace(trace_top(w->e->trace)), line[64], *wake, *nobody, *schedule, *sw;

	header_is_shown(c, text, o);
	wake = strstr(text, ":R   + [00");
	assert_non_null(wake);
	wake = stack_is_shown(wake, "probe_wakeup\n", NULL);
	nobody = strstr(wake, ": 0\n");
	assert_non_null(nobody);
	schedule = strstr(nobody, ": __schedule\n");
	assert_non_null(schedule);
	sw = strstr(schedule, " ==> [00");
	assert_non_null(sw);
	snprintf(line, sizeof(line), " %7ld:", o->max_pid);
	assert_non_null(strstr(sw, line));
	stack_is_shown(sw, "probe_wakeup_sched_switch\n", "__schedule\n");
	assert_true((calls_between(nobody, schedule) > 0) == c->functions);
	free(text);
}

static void is_empty(struct instance *top, const struct wakeup_case *c)
{
	char *text = read_trace(top), want[64];

	snprintf(want, sizeof(want), "# tracer: %s\n#\n", c->tracer);
	assert_string_equal(text, want);
	free(text);
}

static void wakeup_begin(struct watch *w, struct env *e, const struct wakeup_case *c)
{
	struct instance *top;

	watch_begin(w, e, "nop");
	top = trace_top(e->trace);
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_TRACE, c->functions), 0);
	assert_int_equal(instance_set_tracer(top, c->tracer), 0);
	assert_int_equal(instance_set_tracer(w->events, c->tracer), -EINVAL);
}

static uint64_t lost(const struct watch *w)
{
	struct trace_status st;

	trace_get_status(w->e->trace, &st);
	return st.staging_lost;
}

/* False: records have been lost, and what they tell of. */
static bool wakeup_run(struct watch *w, const struct wakeup_case *c)
{
	struct instance *top = trace_top(w->e->trace);
	uint64_t before;

	watch_clear(w);
	is_empty(top, c);
	instance_set_max_latency(top, 0);
	before = lost(w);
	watch_set_on(w, true);
	console_run(&w->e->console, c->loop);
	watch_set_on(w, false);
	return lost(w) == before;
}

static void wakeup_is_found(struct env *e, const struct wakeup_case *c)
{
	struct offline o = {.below = c->below};
	struct instance *top;
	struct watch w;
	int tries = 0;

	wakeup_begin(&w, e, c);
	top = trace_top(e->trace);
	while (!wakeup_run(&w, c))
		assert_true(++tries < TRIES);
	print_message("# %u tries\n", tries + 1);
	watch_stop(&w);
	offline_compute(&w, &o);
	print_message("# %s: %u wakeups, at most %lu ns\n", c->tracer, o.windows, o.max);
	assert_true(o.windows >= c->wakeups);
	assert_in_range(instance_max_latency(top), o.max - o.max / 100, o.max + o.max / 100);
	o.max = instance_max_latency(top);
	assert_int_equal(instance_snapshot(top, ALL_VCPUS), -EBUSY);
	max_is_shown(&w, c, &o);
	watch_end(&w);
}

static const struct wakeup_case rt_case = {
	.tracer = "wakeup_rt",
	.below = MAX_RT_PRIO,
	.loop = RT_LOOP,
	.wakeups = WAKEUPS,
	.task = "(uid:0 nice:0 policy:1 rt_prio:",
};

static void wakeups(void **state)
{
	wakeup_is_found(*state, &rt_case);
}

static void wakeups_with_functions(void **state)
{
	struct wakeup_case c = rt_case;

	c.functions = true;
	wakeup_is_found(*state, &c);
}

/* A task that has used up its time is put back without a wakeup. */
static void wakeups_of_deadline_tasks(void **state)
{
	const struct wakeup_case c = {
		.tracer = "wakeup_dl",
		.loop = DL_LOOP,
		.wakeups = 50,
		.task = "(uid:1000 nice:-10 policy:6 rt_prio:0)",
	};

	wakeup_is_found(*state, &c);
}

static void wakeups_of_nice_tasks(void **state)
{
	const struct wakeup_case c = {
		.tracer = "wakeup",
		.below = INT64_MAX,
		.loop = NICE_LOOP,
		.wakeups = 150,
	};

	wakeup_is_found(*state, &c);
}

/* tracing_max_latency is what a latency has to exceed; tracing_thresh what it has to come up to. */
static void thresholds(void **state)
{
	struct env *e = *state;
	struct instance *top;
	struct watch w;
	uint64_t max;

	wakeup_begin(&w, e, &rt_case);
	top = trace_top(e->trace);
	instance_set_max_latency(top, UINT64_MAX);
	instance_clear(top, ALL_VCPUS);
	console_run(&e->console, FEW_RT);
	is_empty(top, &rt_case);
	trace_set_thresh(e->trace, 1);
	console_run(&e->console, FEW_RT);
	instance_set_on(top, false);
	max = instance_max_latency(top);
	assert_true(max > 0 && max < UINT64_MAX);
	instance_set_max_latency(top, 0);
	trace_set_thresh(e->trace, UINT64_C(3600) * 1000000000);
	instance_clear(top, ALL_VCPUS);
	instance_set_on(top, true);
	console_run(&e->console, FEW_RT);
	is_empty(top, &rt_case);
	assert_int_equal(instance_max_latency(top), 0);
	trace_set_thresh(e->trace, 0);
	watch_stop(&w);
	watch_end(&w);
}

/* --- stacks through the probes' own code ------------------------------------------------------ */

/* Timers go off while vCPUs call functions, most of the time within what records that. */
#define TIMERS_LOOP                                                                                \
	"workload stat 4000 & workload stat 4000 & workload nanosleep 300 & "                      \
	"workload nanosleep 300 & wait"
#define TIMER_STACKS 100 /* that go on behind the interrupt */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* How the kernel is entered, or one of its threads begins; or what its tables say nothing of. */
static bool is_way_in(const char *name)
{
	static const char *const ways[] = {
		"entry_SYSCALL_64_after_hwframe\n",
		"asm_exc_",
		"asm_sysvec_",
		"asm_common_interrupt\n",
		"ret_from_fork",
		"secondary_startup_64",
		"common_startup_64\n", /* since 6.10 */
		"__x86_indirect_thunk_",
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (begins(name, ways[i]))
			return true;
	return false;
}

/* Whether it is of an interrupt's that has come into the kernel. */
static bool stack_is_whole(const char *stack)
{
	const char *last = stack, *at = stack;
	unsigned int n = 0, timer = UINT32_MAX;

	for (; begins(at, " => "); n++) {
		last = at + 4;
		if (begins(last, "asm_sysvec_apic_timer_interrupt\n"))
			timer = n;
		at = strchr(at, '\n') + 1;
	}
	if (!is_way_in(last))
		fail_msg("nothing is entered by the outermost: %.*s", STACK_SHOWN, stack);
	return timer + 1 < n;
}

static void stacks_through_the_payload(void **state)
{
	static const char first[] = ": <stack trace>\n";
	struct env *e = *state;
	unsigned int stacks = 0, timers = 0;
	struct watch w;
	char *text, *at;

	watch_begin(&w, e, "function");
	assert_int_equal(instance_set_option(w.events, OUTPUT_STACKTRACE, true), 0);
	watch_clear(&w);
	watch_set_on(&w, true);
	console_run(&e->console, TIMERS_LOOP);
	watch_stop(&w);
	text = read_trace(w.events);
	for (at = text; (at = strstr(at, first)); stacks++)
		timers += stack_is_whole(at += strlen(first));
	print_message("# %u stacks, %u of timers in the kernel\n", stacks, timers);
	assert_true(timers >= TIMER_STACKS);
	free(text);
	assert_int_equal(trace_detach(e->trace), 0);
	instance_put(w.events);
	env_trace_forget(e);
}

/* --- from the beginning ----------------------------------------------------------------------- */

static void begins_with(struct env *e, enum trace_engine engine, const char *command)
{
	struct trace_config cfg = {
		.tracer = "sched_switch",
		.buffer_bytes = 1 << 20,
		.engine = engine,
	};
	uint64_t entries = 0;

	env_trace(e, cfg);
	console_run(&e->console, command);
	assert_int_equal(trace_detach(e->trace), 0);
	for (unsigned int v = 0; v < e->trace->vcpus; v++) {
		struct ring_stats st;

		ring_get_stats(trace_top(e->trace)->ring[v], &st);
		entries += st.entries;
	}
	env_trace_forget(e);
	assert_true(entries > 0);
}

/* Chosen before anything is recorded, as with attach -t. Each event costs traps two stops. */
static void from_the_beginning(void **state)
{
	begins_with(*state, TRACE_ENGINE_TRAMPOLINE, OTHERS);
	begins_with(*state, TRACE_ENGINE_TRAP, "busybox true");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches),
		cmocka_unit_test(wakeups),
		cmocka_unit_test(wakeups_with_functions),
		cmocka_unit_test(wakeups_of_deadline_tasks),
		cmocka_unit_test(wakeups_of_nice_tasks),
		cmocka_unit_test(thresholds),
		cmocka_unit_test(stacks_through_the_payload),
		cmocka_unit_test(from_the_beginning),
	};

	if (argc != 4)
		return 2;
	env_arguments = argv + 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, env_setup, env_teardown);
}
