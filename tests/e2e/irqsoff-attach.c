// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * irqsoff-attach.c - the tracer irqsoff on a guest of tests/e2e/qemu-lib.sh: finds windows of known
 * length. One of the guest's kworkers makes them: it calls the kernel's own functions that take a
 * spinlock with interrupts off, wait for so many microseconds, and release it.
 *
 * usage: irqsoff-attach TARGET KERNEL SERIAL
 */
#include "tests/e2e/running-guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/probe/critical/sites.h"
#include "tracer/window/work.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/collect/collect.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

#define TEXT_MAX (4 << 20)
/*
 * How often windows are made again: where the host has had other things to do between a look at the
 * clock and the window's end, or another window was longer still.
 */
#define TRIES	 5
#define LEAST_NS UINT64_C(990) /* of a microsecond that is counted in MHz */
#define WINDOWS	 20	       /* in a try */
/* Room for a spinlock that nobody else knows. */
#define LOCK_AT (WINDOW_EVENT_ARRAY + EVENT_ARRAY_SIZE - 64)

enum { LOCK, BEGIN, WAIT, END, UNLOCK, NR_CALLS };

static const unsigned int lengths_us[] = {50, 100, 500, 5000};

/* Longer than any other, on a busy host, too. */
#define LONG_US 100000

/* Not all: then the guest could not be asked to work. */
static const char *const function_globs[] = {"*delay*", "*raw_spin*", "*tsc*"};

static void select_functions(struct instance *i)
{
	struct func_file *file;

	assert_int_equal(func_file_open(instance_functions(i), FUNC_FILTER, O_WRONLY, &file), 0);
	for (size_t k = 0; k < sizeof(function_globs) / sizeof(function_globs[0]); k++) {
		assert_true(func_file_write(file, function_globs[k], strlen(function_globs[k])) >
			    0);
		assert_true(func_file_write(file, "\n", 1) > 0);
	}
	func_file_close(file);
}

static void begin(struct env *e, bool functions)
{
	struct trace_config cfg = {
		.tracer = "nop",
		.control = true,
		.buffer_bytes = 4 << 20,
		.engine = TRACE_ENGINE_TRAMPOLINE,
	};
	struct instance *top;

	env_trace(e, cfg);
	top = trace_top(e->trace);
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_TRACE, functions), 0);
	if (functions)
		select_functions(top);
	assert_int_equal(instance_set_tracer(top, "irqsoff"), 0);
	assert_true(instance_options(top) & OUTPUT_LATENCY_FORMAT);
}

static void end(struct env *e)
{
	assert_int_equal(instance_set_tracer(trace_top(e->trace), "nop"), 0);
	assert_int_equal(trace_detach(e->trace), 0);
	env_trace_forget(e);
}

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

/* What the guest has recorded has come. */
static void catch_up(struct trace *t)
{
	trace_writers_stop(t);
	collect_catch_up(t);
	trace_writers_go(t);
}

static uint64_t khz_of(struct env *e)
{
	struct machine_info info;

	machine_get_info(e->m, &info);
	assert_true(info.tsc_khz > 0);
	return info.tsc_khz;
}

/*
 * Interrupts are off for that long, n times; how long by the guest's own TSC, ns. QEMU has to
 * translate all that is called when it is asked to work, within the window: so there is one before,
 * for that. Not by udelay(): what a busy host has a kernel calibrate may be ten times too short.
 */
static void make_windows(struct env *e, unsigned int us, uint64_t *known, size_t n)
{
	struct trace *t = e->trace;
	const struct guest_work work = {
		.gs = t->gs,
		.g = &t->guest,
		.borrow = t->borrow,
		.w = trampoline_window(t),
		.entry = trampoline_text(t)->work,
	};
	uint64_t lock = work.w->header.va + LOCK_AT, mhz = khz_of(e) / 1000;
	const struct borrow_call window[NR_CALLS] = {
		[LOCK] = {.fn = borrow_function(t->borrow, "_raw_spin_lock_irq"), .arg = {lock}},
		[BEGIN] = {.fn = borrow_function(t->borrow, "read_tsc")},
		[WAIT] = {.fn = borrow_function(t->borrow, "delay_tsc"), .arg = {us * mhz}},
		[END] = {.fn = borrow_function(t->borrow, "read_tsc")},
		[UNLOCK] = {.fn = borrow_function(t->borrow, "_raw_spin_unlock_irq"),
			    .arg = {lock}},
	};
	struct borrow_call calls[(WINDOWS + 1) * NR_CALLS], *made = calls + NR_CALLS;
	char err[256];

	assert_true(n <= WINDOWS);
	for (size_t i = 0; i < (n + 1) * NR_CALLS; i++) {
		assert_true(window[i % NR_CALLS].fn);
		calls[i] = window[i % NR_CALLS];
	}
	calls[WAIT].arg[0] = mhz;
	if (guest_work_run(&work, calls, (n + 1) * NR_CALLS, err, sizeof(err)))
		fail_msg("%s", err);
	for (size_t i = 0; i < n; i++, made += NR_CALLS)
		known[i] = (made[END].ret - made[BEGIN].ret) * 1000000 / khz_of(e);
}

static uint64_t make_window(struct env *e, unsigned int us)
{
	uint64_t known;

	make_windows(e, us, &known, 1);
	return known;
}

/* Told by the functions; a longer one has been somewhere else, if it is not ours. */
static bool is_ours(const char *text)
{
	return strstr(text, "#  => started at: _raw_spin_lock_irq\n"
			    "#  => ended at:   _raw_spin_unlock_irq\n");
}

/* The guest has looked at its clock within the window. */
static bool is_as_long(uint64_t found, uint64_t known)
{
	return found >= known && found - known <= known / 20 + 2000;
}

/* What the tracer is told of windows with our functions. */
static struct {
	struct instance *top;
	const struct tracer_ops *tracer;
	uint64_t khz;
	uint64_t ns[WINDOWS + 1];
	unsigned int nr;
} seen;

static bool is_in(const struct trace *t, const struct payload_record *r, const char *function)
{
	const struct guestsym_symbol *s =
		guestsym_find(t->gs, flag_sites_shown(t, r) - t->guest.slide, NULL, NULL);

	return s && !strcmp(s->name, function);
}

/* Others are longer now and then, on a busy host above all: the tracer is told of ours only. */
static void see(struct instance *i, const struct critical_window *w)
{
	if (!is_in(i->t, &w->off, "_raw_spin_lock_irq") ||
	    !is_in(i->t, &w->on, "_raw_spin_unlock_irq"))
		return;
	if (seen.nr <= WINDOWS)
		seen.ns[seen.nr++] = critical_ticks(w) * 1000000 / seen.khz;
	seen.tracer->window(i, w);
}

static void see_begin(struct env *e)
{
	static struct tracer_ops ops;

	seen.top = trace_top(e->trace);
	seen.khz = khz_of(e);
	seen.nr = 0;
	seen.tracer = seen.top->tracer;
	ops = *seen.tracer;
	ops.window = see;
	trace_writers_stop(e->trace);
	seen.top->tracer = &ops;
	trace_writers_go(e->trace);
}

static void see_end(struct env *e)
{
	trace_writers_stop(e->trace);
	seen.top->tracer = seen.tracer;
	trace_writers_go(e->trace);
}

/*
 * Enough is one that is as long as the guest says: the host may take a vCPU away behind its look at
 * the clock.
 */
static bool find_windows(struct env *e, unsigned int us)
{
	uint64_t known[WINDOWS];

	trace_set_thresh(e->trace, us * LEAST_NS);
	seen.nr = 0;
	make_windows(e, us, known, WINDOWS);
	catch_up(e->trace);
	for (unsigned int i = 0; i < seen.nr; i++) {
		for (unsigned int k = 0; k < WINDOWS; k++) {
			if (known[k] < us * LEAST_NS || !is_as_long(seen.ns[i], known[k]))
				continue;
			print_message("# %u us: %lu ns by the guest, %lu ns found\n", us, known[k],
				      seen.ns[i]);
			return true;
		}
	}
	return false;
}

static void known_windows(void **state)
{
	struct env *e = *state;

	begin(e, false);
	see_begin(e);
	for (size_t i = 0; i < sizeof(lengths_us) / sizeof(lengths_us[0]); i++) {
		unsigned int tries = 0;

		while (!find_windows(e, lengths_us[i]))
			if (++tries == TRIES)
				fail_msg("a window of %u us is not found", lengths_us[i]);
		print_message("# %u us: %u tries\n", lengths_us[i], tries + 1);
	}
	trace_set_thresh(e->trace, 0);
	see_end(e);
	end(e);
}

/* What calls the function that ends it follows, and what is called within it comes before. */
static void functions_within(void **state)
{
	struct env *e = *state;
	struct instance *top;
	unsigned int tries = 0;
	char *text = NULL, *wait, *over;

	begin(e, true);
	see_begin(e);
	top = trace_top(e->trace);
	do {
		assert_true(tries++ < TRIES);
		free(text);
		instance_set_max_latency(top, 0);
		make_window(e, LONG_US);
		catch_up(e->trace);
		text = read_trace(top);
	} while (!is_ours(text));
	print_message("# functions: %u tries\n", tries);
	wait = strstr(text, "delay");
	over = strstr(text, ": tracer_hardirqs_on <-_raw_spin_unlock_irq\n");
	assert_non_null(over);
	assert_non_null(wait);
	assert_true(wait < over);
	assert_non_null(strstr(text, "us : _raw_spin_unlock_irq"));
	assert_non_null(strstr(over, ": <stack trace>\n"));
	free(text);
	see_end(e);
	end(e);
}

/* Each that is long enough is kept, and the longest one so far is not asked for. */
static void threshold(void **state)
{
	struct env *e = *state;
	struct instance *top;
	unsigned int tries = 0;
	bool found = false;

	begin(e, false);
	see_begin(e);
	top = trace_top(e->trace);
	trace_set_thresh(e->trace, LONG_US * LEAST_NS);
	make_window(e, 2 * LONG_US);
	while (!found && tries++ < TRIES) {
		uint64_t known = make_window(e, LONG_US);
		char *text;

		catch_up(e->trace);
		text = read_trace(top);
		found = is_ours(text) && is_as_long(instance_max_latency(top), known);
		free(text);
	}
	trace_set_thresh(e->trace, 0);
	print_message("# threshold: %u tries\n", tries);
	assert_true(found);
	see_end(e);
	end(e);
}

static uint8_t *text_now(struct env *e, size_t *len)
{
	uint8_t *text;

	env_attach(e, NULL);
	text = read_text(e, len);
	env_detach(e);
	return text;
}

/* Switched on and off many times, while the guest is in the midst of it. */
static void nothing_is_left(void **state)
{
	struct env *e = *state;
	size_t len, now_len;
	uint8_t *before = text_now(e, &len), *now;
	struct instance *top;

	console_run(&e->console, "busybox dmesg -c >/dev/null");
	begin(e, false);
	top = trace_top(e->trace);
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(instance_set_tracer(top, i % 2 ? "irqsoff" : "nop"), 0);
		console_run(&e->console, "busybox ls -lR /proc/1 >/dev/null 2>&1");
	}
	end(e);
	now = text_now(e, &now_len);
	assert_int_equal(now_len, len);
	assert_memory_equal(now, before, len);
	free(now);
	free(before);
	console_run(&e->console, "busybox dmesg -c");
	assert_null(strstr(e->console.out, "BUG"));
	assert_null(strstr(e->console.out, "WARNING"));
}

/* With traps alone there is no such tracer in a guest of QEMU; nothing else is said or done. */
static void traps_are_refused(void **state)
{
	const struct trace_config cfg = {
		.tracer = "nop",
		.control = true,
		.buffer_bytes = 1 << 20,
		.engine = TRACE_ENGINE_TRAP,
	};
	struct env *e = *state;

	env_trace(e, cfg);
	assert_int_equal(instance_set_tracer(trace_top(e->trace), "irqsoff"), -EOPNOTSUPP);
	assert_string_equal(instance_tracer(trace_top(e->trace)), "nop");
	assert_int_equal(trace_detach(e->trace), 0);
	env_trace_forget(e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_windows),     cmocka_unit_test(functions_within),
		cmocka_unit_test(threshold),	     cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(traps_are_refused),
	};

	if (argc != 4)
		return 2;
	env_arguments = argv + 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, env_setup, env_teardown);
}
