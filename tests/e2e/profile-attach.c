// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile-attach.c - the function profiler and the stack tracer at a guest of
 * tests/e2e/qemu-lib.sh: a known number of calls is counted, the times of functions fit into each
 * other and into the clock on the wall, and the deepest stack is one that can be.
 *
 * usage: profile-attach TARGET KERNEL SERIAL
 */
#include "tests/e2e/running-guest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATS	    "workload stat 200"
#define STATS_N	    200
#define FEW_STATS   "workload stat 20"
#define FEW_STATS_N 20

static void hand_over(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct env *e = arg;

	(void)m;
	trace_trap(e->trace, hit);
}

static void print_message_line(void *arg, const char *text)
{
	(void)arg;
	print_message("# %s\n", text);
}

static void begin(struct env *e, const char *tracer, enum trace_engine engine)
{
	struct machine_info info;
	struct trace_config cfg = {
		.gs = e->gs,
		.running = true,
		.tracer = tracer,
		.buffer_bytes = 1 << 20,
		.engine = engine,
		.control = true,
		.lossless = true,
		.message = print_message_line,
	};
	char err[512];

	env_attach(e, hand_over);
	machine_get_info(e->m, &info);
	cfg.vcpus = info.vcpus;
	e->trace = trace_new(&cfg, err, sizeof(err));
	if (!e->trace || trace_attach_running(e->trace, e->m, err, sizeof(err)))
		fail_msg("%s", err);
}

static void end(struct env *e)
{
	struct trace_status st;

	assert_int_equal(trace_detach(e->trace), 0);
	trace_get_status(e->trace, &st);
	assert_int_equal(st.staging_lost, 0);
	assert_int_equal(st.corrupt, 0);
	env_detach(e);
	trace_free(e->trace);
	e->trace = NULL;
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
	char found[64];

	return sscanf(line, "  %63s %" SCNu64 " %lf us", found, &row->hits, &row->us) == 3 &&
	       !strcmp(found, name);
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

static struct row profile_stats(struct env *e, const char *command, uint64_t n)
{
	double wall = now_us();
	struct row outer, inner;

	assert_int_equal(trace_set_profile(e->trace, true), 0);
	console_run(&e->console, command);
	outer = row_of(e, "vfs_statx");
	inner = row_of(e, "filename_lookup");
	assert_int_equal(trace_set_profile(e->trace, false), 0);
	/* The shell that runs it looks for it, too. */
	assert_in_range(outer.hits, n, n + 20);
	assert_true(inner.hits >= outer.hits);
	assert_true(outer.us > 0 && outer.us <= now_us() - wall);
	return outer;
}

static void counts_are_exact(struct env *e, const char *tracer)
{
	struct instance *top;
	struct row with, without;

	begin(e, tracer, TRACE_ENGINE_TRAMPOLINE);
	top = trace_top(e->trace);
	filter(e, instance_functions(top), stat_path);
	with = profile_stats(e, STATS, STATS_N);
	assert_int_equal(events(e) > 0, !strcmp(tracer, "function"));
	/* Without what they call. Counting starts anew. */
	assert_int_equal(
		instance_set_tracer_option(top, "function_graph", OUTPUT_GRAPH_GRAPH_TIME, false),
		0);
	without = profile_stats(e, STATS, STATS_N);
	assert_true(without.us / (double)without.hits < with.us / (double)with.hits);
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

/* --- sleep-time ------------------------------------------------------------------------------ */

static const char *const sleep_path[] = {"hrtimer_nanosleep", NULL};
#define SLEEP	 "busybox sleep 0.3"
#define SLEEP_US 300000

static double slept_us(struct env *e)
{
	struct row row;

	assert_int_equal(trace_set_profile(e->trace, true), 0);
	console_run(&e->console, SLEEP);
	row = row_of(e, sleep_path[0]);
	assert_int_equal(trace_set_profile(e->trace, false), 0);
	assert_true(row.hits >= 1);
	return row.us;
}

static void sleep_time(void **state)
{
	struct env *e = *state;
	struct instance *top;

	begin(e, "nop", TRACE_ENGINE_TRAMPOLINE);
	top = trace_top(e->trace);
	filter(e, instance_functions(top), sleep_path);
	assert_true(slept_us(e) >= SLEEP_US);
	assert_int_equal(
		instance_set_tracer_option(top, "function_graph", OUTPUT_GRAPH_SLEEP_TIME, false),
		0);
	assert_true(slept_us(e) < SLEEP_US / 4);
	end(e);
}

/* --- everything ------------------------------------------------------------------------------ */

static void everything(void **state)
{
	struct env *e = *state;
	struct row outer, inner;

	begin(e, "nop", TRACE_ENGINE_TRAMPOLINE);
	assert_int_equal(trace_set_profile(e->trace, true), 0);
	console_run(&e->console, STATS);
	outer = row_of(e, "vfs_statx");
	inner = row_of(e, "filename_lookup");
	assert_in_range(outer.hits, STATS_N, STATS_N + 20);
	assert_true(inner.us > 0 && outer.us > 0);
	end(e);
}

static char **arguments; /* cmocka has no way to hand them to setup() */

static int setup(void **state)
{
	static struct env e;

	env_init(&e, arguments + 1);
	env_attach(&e, NULL);
	find_kernel(&e);
	env_detach(&e);
	*state = &e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;

	guestsym_close(e->gs);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_alone),    cmocka_unit_test(profile_beside_function),
		cmocka_unit_test(profile_or_graph), cmocka_unit_test(profile_by_traps),
		cmocka_unit_test(sleep_time),	    cmocka_unit_test(everything),
	};

	if (argc != 4) {
		fprintf(stderr, "usage: profile-attach TARGET KERNEL SERIAL\n");
		return 2;
	}
	arguments = argv;
	return cmocka_run_group_tests_name("profile", tests, setup, teardown);
}
