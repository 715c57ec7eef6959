// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qemu-trace.c - traces a guest of tests/e2e/qemu-lib.sh again and again: no call is missing, and
 * the guest goes on as if nothing had been, its text byte by byte what it was, also when the tracer
 * is killed.
 *
 * usage: qemu-trace TARGET KERNEL SERIAL [URI]      with $HVTRACE, the program to be killed
 *
 * $QEMU_TRACE_TESTS, a pattern as of cmocka_set_test_filter(3), chooses tests.
 */
#include "tests/e2e/running-guest.h"
#include "tracer/tracer.h"
#include "tests/seed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Of cycles and kills each number is reached once in a run of all tests: cycles where they take
 * less time, kills where more may be left behind.
 */
#define READS	       3
#define CYCLES	       200
#define CYCLES_LIBVIRT 20
#define KILLS	       5
#define KILLS_LIBVIRT  20
#define TRIES	       3  /* of each kill: the tracer may have ended by itself */
#define WINDOW_MS      10 /* of a cycle */
#define LOADS	       2  /* one for each vCPU of most guests */
/* Of each process whose calls are counted, and of each of the load. */
#define COUNTED "workload getppid 60 openat 25"
#define LOAD	"workload getppid 400 openat 100"

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* --- tracing ----------------------------------------------------------------------------- */

static void trace_begin(struct env *e, uint64_t max_events)
{
	static const char *const filter[] = {"__*_sys_getppid", "do_sys_openat2"};
	struct trace_config cfg = {
		.tracer = "function",
		.filter = filter,
		.nr_filter = sizeof(filter) / sizeof(filter[0]),
		.buffer_bytes = 4 << 20,
		.max_events = max_events,
		.engine = TRACE_ENGINE_TRAP, /* tests/e2e/trampoline is about the other one */
	};

	env_trace(e, cfg);
}

/* The number of events, none of them lost. */
static uint64_t trace_end(struct env *e)
{
	struct trace_status st;

	assert_int_equal(trace_detach(e->trace), 0);
	trace_get_status(e->trace, &st);
	assert_int_equal(st.lost, 0);
	assert_int_equal(st.skipped, 0);
	return st.hits;
}

/* --- the guest's text -------------------------------------------------------------------- */

struct text_bytes {
	uint8_t *bytes;
	size_t len;
};

static struct text_bytes text_look(struct env *e)
{
	struct text_bytes t;

	env_attach(e, NULL);
	t.bytes = read_text(e, &t.len);
	env_detach(e);
	return t;
}

static void text_assert_same(struct env *e, struct text_bytes *before)
{
	struct text_bytes now = text_look(e);

	assert_true(before->len > 1 << 20);
	assert_int_equal(now.len, before->len);
	assert_memory_equal(now.bytes, before->bytes, now.len);
	free(now.bytes);
	free(before->bytes);
}

/* --- the load ---------------------------------------------------------------------------- */

/*
 * Processes of known calls, one after the other, until they are told to end. Each writes down what
 * it has done, and the shell that starts them how many there were.
 */
static void load_start(struct env *e)
{
	console_run(&e->console, "busybox rm -f /load /rounds /stop");
	console_run(&e->console, "run() { n=0; until [ -e /stop ]; do " LOAD
				 " >>/load; n=$((n + 1)); done; echo $n >>/rounds; }");
	for (int i = 0; i < LOADS; i++)
		console_run(&e->console, "run & true");
}

static unsigned long load_number(struct env *e, const char *command)
{
	char *end;
	unsigned long n;

	console_run(&e->console, command);
	n = strtoul(e->console.out + 1, &end, 10);
	assert_ptr_not_equal(end, e->console.out + 1);
	return n;
}

/* Every process has done all that it was to do. */
static void load_stop(struct env *e)
{
	unsigned long rounds = 0;

	console_run(&e->console, ">/stop; wait");
	for (int i = 0; i < LOADS; i++)
		rounds += load_number(e, i ? "busybox tail -n 1 /rounds"
					   : "busybox head -n 1 /rounds");
	assert_true(rounds >= LOADS);
	assert_int_equal(load_number(e, "busybox grep -c '^workload: getppid 400$' /load"), rounds);
	assert_int_equal(load_number(e, "busybox grep -c '^workload: openat 100$' /load"), rounds);
}

/* --- what a trace has -------------------------------------------------------------------- */

/* Sites of the image that a booted kernel still has are those that it says it has. */
static void compare_sites(const struct env *e, const struct guestsym *live)
{
	const struct guestsym_site *image, *memory;
	size_t n_image = guestsym_fentry_sites(e->gs, &image);
	size_t n_memory = guestsym_fentry_sites(live, &memory), k = 0;

	assert_true(n_memory > 30000);
	for (size_t i = 0; i < n_image; i++) {
		if (image[i].flags & GUESTSYM_SITE_INIT)
			continue;
		assert_true(k < n_memory);
		assert_int_equal(memory[k].addr, image[i].addr + e->slide);
		assert_int_equal(memory[k].func, image[i].func + e->slide);
		assert_string_equal(memory[k].name, image[i].name);
		k++;
	}
	assert_int_equal(k, n_memory);
}

/* While processes end, one of them that whose page tables the kernel was found through. */
static void test_sites(void **state)
{
	struct env *e = *state;

	load_start(e);
	for (int i = 0; i < READS; i++) {
		struct guestsym *live;
		char err[512];

		env_attach(e, NULL);
		live = trace_read_kernel(e->m, NULL, &(struct machine_patience){NULL, NULL}, err,
					 sizeof(err));
		env_detach(e);
		if (!live)
			fail_msg("%s", err);
		compare_sites(e, live);
		guestsym_close(live);
	}
	load_stop(e);
}

/* How many lines of a trace are of this task and function. */
static unsigned int count_lines(FILE *trace, long pid, const char *function)
{
	char line[512], task[64], what[128];
	unsigned int n = 0;

	snprintf(task, sizeof(task), " workload-%ld ", pid);
	snprintf(what, sizeof(what), ": %s <-", function);
	rewind(trace);
	while (fgets(line, sizeof(line), trace))
		n += strstr(line, task) && strstr(line, what);
	return n;
}

/* The name that the kernel itself prints for the site: __do_sys_getppid has another. */
static const char *function_name(struct env *e, const char *symbol)
{
	return guestsym_find(e->gs, guestsym_addr(e->gs, symbol), NULL, NULL)->name;
}

/* Two processes at a time, on as many vCPUs as there are: each call is there, and no other. */
static void test_counts(void **state)
{
	struct env *e = *state;
	FILE *trace = tmpfile();
	const char *at;
	int pids = 0;

	assert_non_null(trace);
	trace_begin(e, 0);
	console_run(&e->console, COUNTED " & " COUNTED "; wait");
	assert_true(trace_end(e) >= 2 * (60 + 25));
	assert_int_equal(trace_print(e->trace, trace), 0);
	for (at = e->console.out; (at = strstr(at, "workload: pid ")); pids++) {
		long pid = strtol(at += 14, NULL, 10);

		assert_int_equal(count_lines(trace, pid, function_name(e, "__x64_sys_getppid")),
				 60);
		assert_int_equal(count_lines(trace, pid, function_name(e, "do_sys_openat2")), 25);
	}
	assert_int_equal(pids, 2);
	env_trace_forget(e);
	fclose(trace);
}

/* --- letting go -------------------------------------------------------------------------- */

/* Every tenth cycle ends when it has an event, the others at some moment. */
static void cycle(struct env *e, int i)
{
	bool wait = i % 10 == 9;
	struct machine_event ev;
	uint64_t events;

	trace_begin(e, wait ? 1 : 0);
	assert_int_equal(machine_wait(e->m, &ev, wait ? LIMIT_S * 1000 : WINDOW_MS), 0);
	assert_int_equal(ev.type, wait ? MACHINE_EVENT_WAKE : MACHINE_EVENT_NONE);
	events = trace_end(e);
	if (wait)
		assert_int_equal(events, 1);
	env_trace_forget(e);
}

static void test_cycles(void **state)
{
	struct env *e = *state;
	int cycles = times_of("CYCLES", e->uri ? CYCLES_LIBVIRT : CYCLES);
	struct text_bytes before = text_look(e);
	uint64_t start = now_ns();

	load_start(e);
	for (int i = 0; i < cycles; i++)
		cycle(e, i);
	print_message("# %d cycles in %.1f s\n", cycles, (double)(now_ns() - start) / 1e9);
	load_stop(e);
	text_assert_same(e, &before);
}

/*
 * Killed at moments that are spread over all that a tracer does, from its start to its end. None of
 * its traps may be left: with nobody there to answer for it the guest would stand.
 */
static void test_killed(void **state)
{
	struct env *e = *state;
	const char *const options[] = {"-k",	   e->kernel, "-f", "vfs_*", "-f", "do_sys_openat2",
				       "--window", "300ms",   NULL};
	struct text_bytes before = text_look(e);
	int kills = times_of("KILLS", e->uri ? KILLS_LIBVIRT : KILLS);
	int killed = 0;
	uint64_t whole;

	load_start(e);
	whole = now_ns();
	env_tracer_start(e, options);
	assert_int_equal(env_tracer_wait(e), 0);
	whole = now_ns() - whole;
	srandom(test_seed());
	for (int i = 0; killed < kills && i < TRIES * kills; i++) {
		uint64_t part = whole / (uint64_t)kills;
		uint64_t at = part * (uint64_t)(i % kills) + (uint64_t)random() % part;
		int status;

		env_tracer_start(e, options);
		sleep_ns(at);
		kill(e->tracer, SIGKILL);
		status = env_tracer_wait(e);
		assert_true(!status || WIFSIGNALED(status));
		killed += !!status;
		/* One that has ended before: it does not take so long any more. */
		whole = status ? whole : at;
		console_run(&e->console, "true");
		env_recover(e);
	}
	print_message("# %d killed, within %.0f ms each\n", killed, (double)whole / 1e6);
	assert_int_equal(killed, kills);
	load_stop(e);
	text_assert_same(e, &before);
}

/*
 * Killed while a vCPU executes an instruction that is none of its own, for the sake of the clock:
 * it gets back to where it was. Under KVM that is done only where debugfs does not tell the TSC's
 * offset.
 */
static void test_killed_at_the_clock(void **state)
{
	const char *const options[] = {"-k",	     ((struct env *)*state)->kernel,
				       "-f",	     "flush_tlb_mm_range",
				       "--engine",   "trap",
				       "--window",   "400s",
				       "--no-mount", NULL};
	struct env *e = *state;

	e->without_debugfs = true;
	load_start(e);
	for (int i = 0; i < 3; i++) {
		assert_true(WIFSIGNALED(env_tracer_kill_at(e, options, "$vCont;c:")));
		console_run(&e->console, "true");
		env_recover(e);
	}
	load_stop(e);
}

/* The stub has been told to let go: it must not hear anything more. */
static void test_killed_at_the_end(void **state)
{
	struct env *e = *state;
	const char *const options[] = {"-k",   e->kernel,  "-f",    "vfs_statx",  "--engine",
				       "trap", "--window", "100ms", "--no-mount", NULL};

	for (int i = 0; i < 3; i++) {
		assert_true(WIFSIGNALED(env_tracer_kill_at(e, options, "$D;1#b0")));
		console_run(&e->console, "true");
		env_recover(e);
	}
}

/* A stub does not tell of it, libvirt may: whoever notices it first. */
static void test_reset(void **state)
{
	const uint64_t end = now_ns() + LIMIT_S * UINT64_C(1000000000);
	struct env *e = *state;
	struct machine_event ev;
	bool gone;

	trace_begin(e, 0);
	console_send(&e->console, "busybox reboot -f");
	do {
		assert_int_equal(machine_wait(e->m, &ev, 100), 0);
		gone = ev.type == MACHINE_EVENT_RESET || trace_guest_is_gone(e->trace);
	} while (!gone && now_ns() < end);
	assert_true(gone);
	trace_end(e);
	env_trace_forget(e);
	console_wait_up(&e->console);
	load_start(e);
	cycle(e, 9);
	load_stop(e);
}

/* Let go of before anybody has looked: the guest is in its firmware, or further. */
static void test_reset_unseen(void **state)
{
	struct env *e = *state;
	uint64_t start;

	trace_begin(e, 0);
	console_send(&e->console, "busybox reboot -f");
	sleep_ns(UINT64_C(1000000000));
	start = now_ns();
	trace_end(e);
	print_message("# let go of after %.1f s\n", (double)(now_ns() - start) / 1e9);
	env_trace_forget(e);
	console_wait_up(&e->console);
	load_start(e);
	cycle(e, 9);
	load_stop(e);
}

/* --- putting it together ----------------------------------------------------------------- */

/* A test that has failed has not let go. */
static int teardown(void **state)
{
	struct env *e = *state;

	if (e->tracer) {
		kill(e->tracer, SIGTERM);
		env_tracer_wait(e);
	}
	e->without_debugfs = false;
	env_trace_forget(e);
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, NULL, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sites),
		TEST(test_counts),
		TEST(test_cycles),
		TEST(test_killed),
		TEST(test_killed_at_the_clock),
		TEST(test_killed_at_the_end),
		TEST(test_reset),
		TEST(test_reset_unseen),
	};

	if (argc < 4) {
		fprintf(stderr, "usage: qemu-trace TARGET KERNEL SERIAL [URI]\n");
		return 2;
	}
	env_arguments = argv + 1;
	if (getenv("QEMU_TRACE_TESTS"))
		cmocka_set_test_filter(getenv("QEMU_TRACE_TESTS"));
	return cmocka_run_group_tests_name("tracing", tests, env_setup, env_teardown);
}
