// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile-attach.c - the function profiler and the stack tracer at a guest of
 * tests/e2e/qemu-lib.sh: a known number of calls is counted, the times of functions fit into each
 * other and into the clock on the wall, and the deepest stack is one that can be.
 *
 * usage: profile-attach TARGET KERNEL SERIAL
 */
#include "tracer/core/trace.h"
#include "tests/e2e/running-guest.h"
#include "tracer/instance/files.h"
#include "tracer/stat/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATS	     "workload stat 200"
#define STATS_N	     200
#define FEW_STATS    "workload stat 20"
#define FEW_STATS_N  20
#define LOOKUPS_N    4 /* of the shell that runs it: where it is, the first time */
#define STACK_FRAMES 100
#define STACK_LEAST  600
#define STACK_MOST   16000

static void begin(struct env *e, const char *tracer, enum trace_engine engine)
{
	struct trace_config cfg = {
		.tracer = tracer,
		.buffer_bytes = 1 << 20,
		.engine = engine,
		.control = true,
		.lossless = true,
	};

	env_trace(e, cfg);
}

static void end(struct env *e)
{
	struct trace_status st;

	assert_int_equal(trace_detach(e->trace), 0);
	trace_get_status(e->trace, &st);
	assert_int_equal(st.staging_lost, 0);
	assert_int_equal(st.corrupt, 0);
	env_trace_forget(e);
	console_run(&e->console, "busybox dmesg -c");
	assert_null(strstr(e->console.out, "BUG"));
	assert_null(strstr(e->console.out, "WARNING"));
}

static void filter(struct env *e, struct func_filter *f, const char *const *names)
{
	struct func_file *file;

	assert_int_equal(func_file_open(f, FUNC_FILTER, O_WRONLY | O_TRUNC, &file), 0);
	trace_change_begin(e->trace);
	for (; *names; names++) {
		size_t len = strlen(*names);

		assert_int_equal(func_file_write(file, *names, len), len);
		assert_int_equal(func_file_write(file, "\n", 1), 1);
	}
	func_file_close(file);
	trace_change_end(e->trace);
}

/* A function's row in trace_stat/ of all vCPUs. */
struct row {
	uint64_t hits;
	double us;
};

static bool row_parse(const char *line, const char *name, struct row *row)
{
	size_t len = strlen(name);
	char *at;

	line += strspn(line, " ");
	if (strncmp(line, name, len) != 0 || line[len] != ' ')
		return false;
	row->hits = strtoull(line + len, &at, 10);
	row->us = strtod(at, &at);
	return !strncmp(at, " us ", 4);
}

static struct row row_on(struct env *e, unsigned int vcpu, const char *name)
{
	struct text text = {0};
	struct row row, sum = {0};
	char *line, *at;

	trace_print_profile(e->trace, vcpu, &text);
	text_putc(&text, '\0');
	assert_false(text.failed);
	for (at = text.buf; (line = strsep(&at, "\n"));) {
		if (row_parse(line, name, &row)) {
			sum.hits += row.hits;
			sum.us += row.us;
		}
	}
	text_free(&text);
	return sum;
}

static struct row row_of(struct env *e, const char *name)
{
	struct row sum = {0};

	for (unsigned int v = 0; v < trace_vcpus(e->trace); v++) {
		struct row row = row_on(e, v, name);

		sum.hits += row.hits;
		sum.us += row.us;
	}
	print_message("# %s: %" PRIu64 " hits, %.3f us\n", name, sum.hits, sum.us);
	return sum;
}

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static uint64_t events(struct env *e)
{
	struct trace_status st;

	trace_get_status(e->trace, &st);
	return st.hits;
}

static const char *const stat_path[] = {"vfs_statx", "filename_lookup", NULL};

static void profile_stats(struct env *e, const char *command, uint64_t n)
{
	double wall = now_us();
	struct row outer, inner;

	assert_int_equal(trace_set_profile(e->trace, true), 0); /* counting starts anew */
	console_run(&e->console, command);
	outer = row_of(e, "vfs_statx");
	inner = row_of(e, "filename_lookup");
	assert_int_equal(trace_set_profile(e->trace, false), 0);
	assert_in_range(outer.hits, n, n + LOOKUPS_N);
	assert_true(inner.hits >= outer.hits);
	assert_true(outer.us > 0 && outer.us <= now_us() - wall);
}

static void counts_are_exact(struct env *e, const char *tracer)
{
	begin(e, tracer, TRACE_ENGINE_TRAMPOLINE);
	filter(e, instance_functions(trace_top(e->trace)), stat_path);
	profile_stats(e, STATS, STATS_N);
	profile_stats(e, FEW_STATS, FEW_STATS_N);
	assert_int_equal(events(e) > 0, !strcmp(tracer, "function"));
	end(e);
}

static void profile_alone(void **state)
{
	counts_are_exact(*state, "nop");
}

static void profile_beside_function(void **state)
{
	counts_are_exact(*state, "function");
}

static void profile_by_traps(void **state)
{
	struct env *e = *state;

	begin(e, "nop", TRACE_ENGINE_TRAP);
	filter(e, instance_functions(trace_top(e->trace)), stat_path);
	profile_stats(e, FEW_STATS, FEW_STATS_N);
	end(e);
}

/* There is one user of the graph of calls at a time. */
static void profile_or_graph(void **state)
{
	struct env *e = *state;
	struct instance *top;

	begin(e, "nop", TRACE_ENGINE_TRAMPOLINE);
	top = trace_top(e->trace);
	filter(e, instance_functions(top), stat_path);
	assert_int_equal(trace_set_profile(e->trace, true), 0);
	assert_int_equal(instance_set_tracer(top, "function"), 0);
	assert_int_equal(instance_set_tracer(top, "function_graph"), -EBUSY);
	assert_string_equal(instance_tracer(top), "nop");
	assert_int_equal(trace_set_profile(e->trace, false), 0);
	assert_int_equal(instance_set_tracer(top, "function_graph"), 0);
	assert_int_equal(trace_set_profile(e->trace, true), -EBUSY);
	end(e);
}

/* --- what counts for whom -------------------------------------------------------------------- */

static const char *const sleep_path[] = {"hrtimer_nanosleep", "do_nanosleep", NULL};
/* On one CPU: a call that ends on one where its function was not called yet takes no time, as in
 * the kernel. */
#define SLEEP	 "busybox taskset 1 busybox sleep 0.3"
#define SLEEP_US 300000.0

static void sleeps(struct env *e, double *outer, double *inner)
{
	assert_int_equal(trace_set_profile(e->trace, true), 0);
	console_run(&e->console, SLEEP);
	*outer = row_of(e, sleep_path[0]).us;
	*inner = row_of(e, sleep_path[1]).us;
	assert_int_equal(trace_set_profile(e->trace, false), 0);
	assert_true(*outer > 0 && *inner > 0);
}

static void option(struct env *e, uint32_t flag, bool on)
{
	assert_int_equal(
		instance_set_tracer_option(trace_top(e->trace), "function_graph", flag, on), 0);
}

/* Nearly all the time of one function is that of another, and nearly all of this no time at all. */
static void graph_and_sleep_time(void **state)
{
	struct env *e = *state;
	double outer, inner;

	begin(e, "nop", TRACE_ENGINE_TRAMPOLINE);
	filter(e, instance_functions(trace_top(e->trace)), sleep_path);
	sleeps(e, &outer, &inner);
	assert_true(inner >= SLEEP_US && outer >= inner);
	option(e, OUTPUT_GRAPH_GRAPH_TIME, false);
	sleeps(e, &outer, &inner);
	assert_true(inner >= SLEEP_US && outer < SLEEP_US / 4);
	option(e, OUTPUT_GRAPH_GRAPH_TIME, true);
	option(e, OUTPUT_GRAPH_SLEEP_TIME, false);
	sleeps(e, &outer, &inner);
	assert_true(outer >= inner && outer < SLEEP_US / 4);
	end(e);
}

/* --- everything ------------------------------------------------------------------------------ */

static void everything(void **state)
{
	struct env *e = *state;
	struct row outer, inner;

	begin(e, "nop", TRACE_ENGINE_TRAMPOLINE);
	assert_int_equal(trace_set_profile(e->trace, true), 0);
	console_run(&e->console, FEW_STATS);
	outer = row_of(e, "vfs_statx");
	inner = row_of(e, "filename_lookup");
	assert_in_range(outer.hits, FEW_STATS_N, FEW_STATS_N + LOOKUPS_N);
	assert_true(inner.us > 0 && outer.us > 0);
	end(e);
}

/* --- the deepest stack ----------------------------------------------------------------------- */

struct frames {
	unsigned int nr;
	struct {
		unsigned int depth, size;
		char at[128];
	} frame[STACK_FRAMES];
};

static unsigned int number_after(char **at, const char *before)
{
	char *end;
	unsigned long n;

	*at += strspn(*at, " ");
	assert_int_equal(strncmp(*at, before, strlen(before)), 0);
	n = strtoul(*at + strlen(before), &end, 10);
	assert_true(end > *at + strlen(before));
	*at = end;
	return (unsigned int)n;
}

/* How many there are to be. */
static unsigned int frames_parse(char *at, struct frames *f)
{
	unsigned int said = number_after(&at, "Depth    Size   Location    (");
	char *line;

	strsep(&at, "\n");
	strsep(&at, "\n");
	for (f->nr = 0; (line = strsep(&at, "\n")) && *line; f->nr++) {
		print_message("# %s\n", line);
		assert_true(f->nr < STACK_FRAMES);
		assert_int_equal(number_after(&line, ""), f->nr);
		f->frame[f->nr].depth = number_after(&line, ") ");
		f->frame[f->nr].size = number_after(&line, "");
		line += strspn(line, " ");
		snprintf(f->frame[f->nr].at, sizeof(f->frame[f->nr].at), "%s", line);
	}
	return said;
}

/* The table, and how deep it is: not of two stacks, though the guest's get deeper as it runs. */
static uint64_t print_stack(struct env *e, struct text *text)
{
	uint64_t deepest;

	do {
		text->len = 0;
		deepest = trace_stack_max_size(e->trace);
		trace_print_stack(e->trace, text);
	} while (deepest != trace_stack_max_size(e->trace));
	text_putc(text, '\0');
	assert_false(text->failed);
	return deepest;
}

/* The table, which must make sense by itself. */
static struct frames stack_of(struct env *e)
{
	struct text text = {0};
	struct frames f = {0};
	unsigned int said, sum = 0;
	uint64_t deepest = print_stack(e, &text);

	said = frames_parse(text.buf, &f);
	assert_int_equal(f.nr, said);
	text_free(&text);
	for (unsigned int n = f.nr; n--;) {
		sum += f.frame[n].size;
		assert_int_equal(f.frame[n].depth, sum);
	}
	assert_int_equal(sum, deepest);
	return f;
}

static bool is_at(const struct frames *f, unsigned int n, const char *function)
{
	size_t len = strlen(function);

	return n < f->nr && !strncmp(f->frame[n].at, function, len) && f->frame[n].at[len] == '+';
}

static void stack_of_path(struct env *e, enum trace_engine engine)
{
	static const char *const one[] = {"vfs_statx", NULL};
	struct frames f;

	begin(e, "nop", engine);
	filter(e, trace_stack_functions(e->trace), one);
	assert_int_equal(trace_set_stack_tracer(e->trace, 1), 0);
	console_run(&e->console, FEW_STATS);
	f = stack_of(e);
	assert_true(f.nr >= 4 && f.nr < 8);
	assert_true(is_at(&f, 0, "vfs_statx"));
	assert_int_equal(f.frame[0].size, 8);
	assert_true(is_at(&f, f.nr - 2, "do_syscall_64"));
	assert_true(is_at(&f, f.nr - 1, "entry_SYSCALL_64_after_hwframe"));
	/* struct pt_regs, and where the call of do_syscall_64() returns to. */
	assert_int_equal(f.frame[f.nr - 1].size, 176);
	assert_int_equal(trace_set_stack_tracer(e->trace, 0), 0);
	end(e);
}

static void stack_by_trampolines(void **state)
{
	stack_of_path(*state, TRACE_ENGINE_TRAMPOLINE);
}

static void stack_by_traps(void **state)
{
	stack_of_path(*state, TRACE_ENGINE_TRAP);
}

static bool is_enabled(struct env *e, const char *line)
{
	struct text text = {0};
	bool is;

	trace_print_enabled(e->trace, &text);
	text_putc(&text, '\0');
	assert_false(text.failed);
	is = strstr(text.buf, line);
	text_free(&text);
	return is;
}

/* Of all functions, also beside a tracer of all. */
static void deepest_stack(void **state)
{
	struct env *e = *state;
	uint64_t deepest;

	begin(e, "nop", TRACE_ENGINE_TRAMPOLINE);
	assert_int_equal(trace_set_stack_tracer(e->trace, 1), 0);
	console_run(&e->console, FEW_STATS);
	assert_true(stack_of(e).nr > 5);
	deepest = trace_stack_max_size(e->trace);
	assert_in_range(deepest, STACK_LEAST, STACK_MOST);
	assert_int_equal(events(e), 0);
	/* What is not that deep is not seen, but a lower limit is soon passed again. */
	trace_set_stack_max_size(e->trace, STACK_MOST);
	console_run(&e->console, FEW_STATS);
	assert_int_equal(trace_stack_max_size(e->trace), STACK_MOST);
	assert_true(is_enabled(e, "\nvfs_statx (1)"));
	assert_int_equal(instance_set_tracer(trace_top(e->trace), "function"), 0);
	assert_true(is_enabled(e, "\nvfs_statx (2)"));
	trace_set_stack_max_size(e->trace, 0);
	console_run(&e->console, FEW_STATS);
	stack_of(e);
	assert_in_range(trace_stack_max_size(e->trace), STACK_LEAST, STACK_MOST);
	assert_true(events(e) > 1000);
	end(e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_alone),	cmocka_unit_test(profile_beside_function),
		cmocka_unit_test(profile_or_graph),	cmocka_unit_test(profile_by_traps),
		cmocka_unit_test(graph_and_sleep_time), cmocka_unit_test(everything),
		cmocka_unit_test(stack_by_trampolines), cmocka_unit_test(stack_by_traps),
		cmocka_unit_test(deepest_stack),

	};

	if (argc != 4) {
		fprintf(stderr, "usage: profile-attach TARGET KERNEL SERIAL\n");
		return 2;
	}
	env_arguments = argv + 1;
	return cmocka_run_group_tests_name("profile", tests, env_setup, env_teardown);
}
