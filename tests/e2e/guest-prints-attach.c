// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest-prints-attach.c - what a guest of tests/e2e/qemu-lib.sh writes into its own trace is in
 * ours as well, with the same text: trace_marker, trace_marker_raw, and calls of the functions that
 * trace_printk() and trace_puts() become. Its own trace has it as ever. And what turns that off and
 * on turns ours.
 *
 * usage: guest-prints-attach TARGET KERNEL SERIAL
 */
#include "tracer/instance/prints.h"
#include "tests/e2e/running-guest.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracer/window/work.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/internal.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/record/record.h"
#include "tracer/instance/files.h"
#include "tracer/tracer.h"

#define OWN   "/tracing/"
#define MARKS 300

/* Strings for the guest's kernel to point at: a row of the window that no probe has. */
#define STRINGS (WINDOW_PROBES + (PROBE_ROWS - 1) * PROBE_ROW_SIZE)

/* With traps they come with the window, which somebody has to ask for. */
static void window_begin(struct trace *t)
{
	char err[256] = "";

	events_lock(t->trace_events);
	if (trace_open_events(t, err, sizeof(err)))
		fail_msg("%s", err);
	events_unlock(t->trace_events);
}

static void begin(struct env *e, const char *const *function, struct trace_config cfg)
{
	cfg.filter = function;
	cfg.nr_filter = 1;
	cfg.control = true;
	cfg.buffer_bytes = 16 << 20;
	env_trace(e, cfg);
	if (cfg.engine == TRACE_ENGINE_TRAP)
		window_begin(e->trace);
}

static void prints_begin(struct env *e, const char *tracer, enum trace_engine engine)
{
	static const char *const filter = "vfs_*";

	begin(e, &filter, (struct trace_config){.tracer = tracer, .engine = engine});
	assert_true(e->trace->prints->placed);
	console_run(&e->console, "echo >" OWN "trace");
}

/* Of these texts: from where the task's name and the time are over. Lines without are left out. */
static char *texts_of(char *trace)
{
	char *to = trace, *line, *next;

	for (line = trace; *line; line = next) {
		size_t len = strcspn(line, "\r\n");
		char *at = NULL;

		next = line + len + strspn(line + len, "\r\n");
		line[len] = '\0';
		if (*line != '#')
			at = strstr(line, "[0");
		/* Of a time that ends with a colon. */
		at = at ? strstr(at, ": ") : NULL;
		if (!at)
			continue;
		len = strlen(at + 2);
		memmove(to, at + 2, len);
		to += len;
		*to++ = '\n';
	}
	*to = '\0';
	return trace;
}

static char *own_texts(struct env *e)
{
	char *text;

	console_run(&e->console, "busybox cat " OWN "trace");
	text = strdup(e->console.out);
	assert_non_null(text);
	return texts_of(text);
}

static char *our_texts(struct env *e)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(trace_print(e->trace, f), 0);
	assert_int_equal(fclose(f), 0);
	return texts_of(text);
}

/* --- tests ----------------------------------------------------------------------------------- */

static void markers_are_ours(struct env *e, enum trace_engine engine)
{
	char *own, *ours;

	prints_begin(e, "nop", engine);
	console_run(&e->console,
		    "cd " OWN "; echo one >trace_marker; busybox printf two >trace_marker; "
		    "busybox mkdir instances/other; "
		    "echo elsewhere >instances/other/trace_marker; "
		    "busybox rmdir instances/other; echo three >trace_marker; "
		    /* Android's, one byte for the end among them. */
		    "busybox printf 'B|42|draw: frame' >trace_marker; "
		    "busybox printf 'C|42|frames|3' >trace_marker; "
		    "busybox printf E >trace_marker; echo 'S|42|load|7' >trace_marker; "
		    "busybox printf '\\021\\0\\0\\0abcdefghijkl' >trace_marker_raw; cd /");
	own = own_texts(e);
	assert_int_equal(trace_detach(e->trace), 0);
	ours = our_texts(e);
	env_trace_forget(e);
	/* Behind what was written, the kernel has four bytes of whatever was there. */
	assert_non_null(strstr(ours, "tracing_mark_write: one\ntracing_mark_write: two\n"
				     "tracing_mark_write: three\n"
				     "tracing_mark_write: B|42|draw: frame\n"
				     "tracing_mark_write: C|42|frames|3\n"
				     "tracing_mark_write: E\n"
				     "tracing_mark_write: S|42|load|7\n"
				     "# 11 buf: 61 62 63 64 65 66 67 68 69 6a 6b 6c "));
	assert_string_equal(own, ours);
	free(own);
	free(ours);
}

static void markers(void **state)
{
	markers_are_ours(*state, TRACE_ENGINE_TRAMPOLINE);
}

static void markers_with_traps(void **state)
{
	markers_are_ours(*state, TRACE_ENGINE_TRAP);
}

/* One after the other, by a kworker of the guest. */
static void calls_run(struct env *e, struct borrow_call *call, size_t n)
{
	struct trace *t = e->trace;
	const struct guest_work work = {.gs = e->gs,
					.g = &t->guest,
					.borrow = t->borrow,
					.w = trampoline_window(t),
					.entry = trampoline_text(t)->work};
	char err[256] = "";

	if (guest_work_run(&work, call, n, err, sizeof(err)))
		fail_msg("%s", err);
}

/* A kernel whose modules call trace_printk() has done the first. */
enum { INIT, PUTS, NUMBER, SYMBOL, TEXT, NR_CALLS };

static void calls_make(struct env *e)
{
	static const char strings[][64] = {"constant\n", "answer %d\n", "from %ps\n"};
	static const char *const fn[NR_CALLS] = {"trace_printk_init_buffers", "__trace_bputs",
						 "__trace_bprintk", "__trace_bprintk",
						 "__trace_printk"};
	struct borrow_call call[NR_CALLS] = {0};
	struct window *w = trampoline_window(e->trace);
	uint64_t va = w->header.va + STRINGS;

	assert_int_equal(window_write(w, STRINGS, strings, sizeof(strings)), 0);
	for (unsigned int i = 0; i < NR_CALLS; i++) {
		call[i].fn = running(e, fn[i]);
		call[i].arg[0] = running(e, "vfs_read") + 16;
	}
	call[PUTS].arg[1] = va;
	call[NUMBER].arg[1] = call[TEXT].arg[1] = va + sizeof(strings[0]);
	call[NUMBER].arg[2] = 42;
	call[SYMBOL].arg[1] = va + 2 * sizeof(strings[0]);
	call[SYMBOL].arg[2] = running(e, "schedule");
	call[TEXT].arg[2] = (uint64_t)-43;
	calls_run(e, call, NR_CALLS);
}

/* The option of both. */
static void stacks(struct env *e, bool on)
{
	console_run(&e->console,
		    on ? "echo 1 >" OWN "options/stacktrace" : "echo 0 >" OWN "options/stacktrace");
	assert_int_equal(instance_set_option(trace_top(e->trace), OUTPUT_STACKTRACE, on), 0);
}

/*
 * What trace_printk() and trace_puts() become, called by a kworker of the guest, each with a stack
 * behind it; what is written to trace_marker has none.
 */
static void calls_are_ours(struct env *e, enum trace_engine engine)
{
	char *ours, *own;

	prints_begin(e, "nop", engine);
	stacks(e, true);
	console_run(&e->console, "echo marked >" OWN "trace_marker");
	calls_make(e);
	stacks(e, false);
	trace_writers_stop(e->trace);
	record_drain_all(e->trace);
	trace_writers_go(e->trace);
	/* The formats are there as long as the window is. */
	ours = our_texts(e);
	own = own_texts(e);
	assert_string_equal(ours, "tracing_mark_write: marked\n"
				  "vfs_read: constant\n<stack trace>\n"
				  "vfs_read: answer 42\n<stack trace>\n"
				  "vfs_read: from schedule\n<stack trace>\n"
				  "vfs_read: answer -43\n<stack trace>\n");
	assert_string_equal(own, ours);
	free(ours);
	free(own);
	console_run(&e->console, "echo >" OWN "trace");
	assert_int_equal(trace_detach(e->trace), 0);
	env_trace_forget(e);
}

static void calls(void **state)
{
	calls_are_ours(*state, TRACE_ENGINE_TRAMPOLINE);
}

static void calls_with_traps(void **state)
{
	calls_are_ours(*state, TRACE_ENGINE_TRAP);
}

static unsigned int times_in(const char *text, const char *what)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

/* None is lost where everything else is traced, too; and all tasks write at once. */
static void many(void **state)
{
	static const char *const tracers[] = {"function", "function_graph"};
	/* Among calls, text is a comment. */
	static const char *const marks[] = {"tracing_mark_write: mark", "/* mark"};
	struct env *e = *state;

	for (unsigned int i = 0; i < 2; i++) {
		struct trace_status st;
		char *ours = NULL;
		size_t len;
		FILE *f;

		prints_begin(e, tracers[i], TRACE_ENGINE_TRAMPOLINE);
		console_run(&e->console,
			    "cd " OWN "; for t in 1 2 3; do (i=0; while [ $i -lt 100 ]; do "
			    "echo mark$t >trace_marker; i=$((i + 1)); done) & done; wait; cd /");
		assert_int_equal(trace_detach(e->trace), 0);
		trace_get_status(e->trace, &st);
		assert_int_equal(st.lost, 0);
		f = open_memstream(&ours, &len);
		assert_non_null(f);
		assert_int_equal(trace_print(e->trace, f), 0);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(times_in(ours, marks[i]), MARKS);
		free(ours);
		env_trace_forget(e);
	}
}

/* --- tracing_off() and tracing_on() ----------------------------------------------------------- */

/* Nobody else calls it. */
#define CALLED "ktime_get_resolution_ns"

static void switches_begin(struct env *e, const char *tracer, enum trace_engine engine, bool ignore)
{
	static const char *const filter = CALLED;

	begin(e, &filter,
	      (struct trace_config){.tracer = tracer, .engine = engine, .ignore_switches = ignore});
	assert_int_equal(e->trace->guest_switch.placed, !ignore);
}

static void kernel_calls(struct env *e, const char *const *functions, size_t n)
{
	struct borrow_call call[8] = {0};

	assert_in_range(n, 1, sizeof(call) / sizeof(call[0]));
	for (size_t i = 0; i < n; i++)
		call[i].fn = running(e, functions[i]);
	calls_run(e, call, n);
}

static unsigned int switches_end(struct env *e)
{
	char *text = NULL;
	unsigned int n;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(trace_detach(e->trace), 0);
	assert_int_equal(trace_print(e->trace, f), 0);
	assert_int_equal(fclose(f), 0);
	n = times_in(text, CALLED);
	free(text);
	env_trace_forget(e);
	console_run(&e->console, "echo 1 >" OWN "tracing_on");
	return n;
}

static bool own_is_on(struct env *e)
{
	console_run(&e->console, "busybox cat " OWN "tracing_on");
	return *e->console.out == '1';
}

/* The collector gets to it within milliseconds. */
static void tells_off(struct env *e)
{
	time_t end = time(NULL) + LIMIT_S;

	while (instance_is_on(trace_top(e->trace)) && time(NULL) < end)
		sched_yield();
	assert_false(instance_is_on(trace_top(e->trace)));
}

/* What its kernel calls is kept where it is on, to the call, and its own trace goes as ever. */
static void kernel_switches(void **state)
{
	static const char *const calls[] = {CALLED,	  "tracing_off", CALLED,       CALLED,
					    "tracing_on", CALLED,	 "tracing_off"};
	static const struct {
		const char *tracer;
		enum trace_engine engine;
		bool ignore;
	} cases[] = {
		{"function", TRACE_ENGINE_TRAMPOLINE, false},
		{"function_graph", TRACE_ENGINE_TRAMPOLINE, false},
		{"function", TRACE_ENGINE_TRAP, false},
		{"function", TRACE_ENGINE_TRAMPOLINE, true},
	};
	struct env *e = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		switches_begin(e, cases[i].tracer, cases[i].engine, cases[i].ignore);
		kernel_calls(e, calls, sizeof(calls) / sizeof(calls[0]));
		assert_false(own_is_on(e));
		if (!cases[i].ignore)
			tells_off(e);
		kernel_calls(e, calls, 1);
		assert_int_equal(switches_end(e), cases[i].ignore ? 5 : 2);
	}
}

/* The file, which is about its own trace alone. */
static void own_file(void **state)
{
	static const char *const calls[] = {CALLED};
	struct env *e = *state;

	switches_begin(e, "function", TRACE_ENGINE_TRAMPOLINE, false);
	console_run(&e->console, "echo 0 >" OWN "tracing_on");
	assert_false(own_is_on(e));
	kernel_calls(e, calls, 1);
	assert_int_equal(switches_end(e), 1);
}

static int setup(void **state)
{
	int ret = env_setup(state);
	struct env *e = *state;

	console_run(&e->console, "busybox mkdir -p " OWN "; busybox mount -t tracefs tracefs " OWN);
	return ret;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markers),
		cmocka_unit_test(calls),
		cmocka_unit_test(markers_with_traps),
		cmocka_unit_test(calls_with_traps),
		cmocka_unit_test(many),
		cmocka_unit_test(kernel_switches),
		cmocka_unit_test(own_file),
	};

	if (argc != 4) {
		fprintf(stderr, "usage: guest-prints-attach TARGET KERNEL SERIAL\n");
		return 2;
	}
	env_arguments = argv + 1;
	return cmocka_run_group_tests_name("guest-prints", tests, setup, env_teardown);
}
