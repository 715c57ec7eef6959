// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * window-attach.c - borrows memory from a guest of tests/e2e/qemu-lib.sh and maps it there: both
 * sides see it, the guest may execute nothing but its code, and all is as before in the end.
 *
 * usage: window-attach TARGET KERNEL SERIAL LEVELS
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/e2e/qemu-console.h"
#include "tracer/borrow/borrow.h"
#include "tracer/guest/ktables.h"
#include "tracer/window/window.h"
#include "tests/elsewhere.h"

#define MIB	 (1024 * 1024)
#define SIZE	 ((size_t)16 * MIB)
#define RUN_MS	 400000 /* for what must happen */
#define CYCLES	 20
#define REGION	 UINT64_C(0xffffffffc0000000)
#define PRESENT	 UINT64_C(1)
#define WRITABLE UINT64_C(2)
#define LARGE	 UINT64_C(0x80)
#define NX	 (UINT64_C(1) << 63)

struct env {
	const char *target;
	unsigned int levels;
	struct guestsym *gs;
	struct machine *m;
	struct guest_kernel g;
	struct borrow *b;
	struct window w;
	uint64_t die_at; /* a tracer is killed at a trap from here to 15 bytes behind; 0: never */
	struct console console;
};

/* --- attaching ----------------------------------------------------------------------------------
 */

static void trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct env *e = arg;

	(void)m;
	holds(hit->cookie == BORROW_COOKIE);
	if (e->die_at && hit->va - e->die_at < 16)
		raise(SIGKILL);
	borrow_hit(e->b, hit);
}

static const char *attach_error(struct env *e)
{
	static char err[256]; /* of one process, which fails then */
	struct machine_attach_config cfg = {.target = e->target, .trap = trap, .arg = e};
	int ret;

	e->m = machine_attach(&cfg, err, sizeof(err));
	if (!e->m)
		return err;
	if (guest_learn(&e->g, e->gs, err, sizeof(err)))
		return err;
	guest_bind(&e->g, e->m);
	machine_pause(e->m);
	ret = guest_locate(&e->g, e->gs, err, sizeof(err));
	machine_resume(e->m);
	if (ret)
		return err;
	e->b = borrow_new(e->gs, &e->g);
	return e->b ? NULL : "no memory";
}

static void attach(struct env *e)
{
	const char *err = attach_error(e);

	if (err)
		fail_msg("%s", err);
}

static void detach(struct env *e)
{
	machine_free(e->m);
	borrow_free(e->b);
	e->m = NULL;
	e->b = NULL;
	elsewhere_check();
}

static void open_window(struct env *e, size_t size)
{
	char err[256];

	if (window_open(&e->w, &e->g, e->b, size, size, err, sizeof(err)))
		fail_msg("%s", err);
}

static void close_window(struct env *e)
{
	char err[256];

	if (window_close(&e->w, e->b, err, sizeof(err)))
		fail_msg("%s", err);
}

static uint64_t call(struct env *e, uint64_t fn, uint64_t a, uint64_t b, uint64_t c)
{
	struct borrow_call one = {.fn = fn, .arg = {a, b, c}};
	char err[256];

	assert_true(fn);
	if (borrow_run(e->b, &one, 1, BORROW_ANY, RUN_MS, err, sizeof(err)))
		fail_msg("%s", err);
	assert_true(one.done);
	return one.ret;
}

static uint64_t function(struct env *e, const char *name)
{
	return borrow_function(e->b, name);
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* --- what the guest says ------------------------------------------------------------------------
 */

static long free_mib(struct env *e)
{
	const char *line;

	console_run(&e->console, "cat /proc/meminfo");
	line = strstr(e->console.out, "MemFree:");
	assert_non_null(line);
	return strtol(line + strlen("MemFree:"), NULL, 10) / 1024;
}

static void no_complaint(struct env *e)
{
	console_run(
		&e->console,
		"busybox dmesg | busybox grep -E 'BUG:|WARNING:|Oops|FAILED|stalls? on CPU|general protection'");
	if (strstr(e->console.out, "[ "))
		fail_msg("the guest complains: %s", e->console.out);
}

/* --- tests --------------------------------------------------------------------------------------
 */

/* The shell sleeps in read(2), and nothing else goes on. */
static void idle_guest(void **state)
{
	struct env *e = *state;
	double begin, opened, closed;

	attach(e);
	assert_int_equal(guest_image_u32(&e->g, e->g.l5_enabled, 0) ? 5 : 4, e->levels);
	/* Once in some 500 boots KASLR leaves a kernel where it was. */
	print_message("# slide %#" PRIx64 "\n", e->g.slide);
	begin = now_ms();
	open_window(e, SIZE);
	opened = now_ms();
	close_window(e);
	closed = now_ms();
	print_message("# idle: open %.0f ms, close %.0f ms\n", opened - begin, closed - opened);
	detach(e);
	no_complaint(e);
}

static void both_sides_see_it(void **state)
{
	struct env *e = *state;
	uint8_t there[4096], here[4096];
	uint64_t va;

	attach(e);
	open_window(e, SIZE);
	va = e->w.header.va;
	assert_int_equal(
		call(e, function(e, "memchr_inv"), va + WINDOW_RINGS, 0, SIZE - WINDOW_RINGS), 0);
	/* Across two pieces, which lie anywhere. */
	call(e, function(e, "memset"), va + 2 * WINDOW_PIECE - 2048, 0x5a, sizeof(there));
	assert_int_equal(window_read(&e->w, 2 * WINDOW_PIECE - 2048, there, sizeof(there)), 0);
	memset(here, 0x5a, sizeof(here));
	assert_memory_equal(there, here, sizeof(here));
	memset(here, 0xa5, sizeof(here));
	assert_int_equal(window_write(&e->w, 3 * WINDOW_PIECE - 100, here, sizeof(here)), 0);
	assert_int_equal(
		call(e, function(e, "memchr_inv"), va + 3 * WINDOW_PIECE - 100, 0xa5, sizeof(here)),
		0);
	assert_int_equal(call(e, function(e, "memchr_inv"), va + 3 * WINDOW_PIECE - 100, 0xa5,
			      sizeof(here) + 1),
			 va + 3 * WINDOW_PIECE - 100 + sizeof(here));
	assert_int_equal(window_read(&e->w, SIZE - 1, here, 2), -EFAULT);
	assert_int_equal(window_write(&e->w, SIZE + 1, here, 0), -EFAULT);
	close_window(e);
	detach(e);
}

/* Is that page of the window's first piece one of those `size` bytes? */
static bool within(unsigned int page, size_t from, size_t size)
{
	return page * 4096 >= from && page * 4096 < from + size;
}

static void only_text_is_executed(void **state)
{
	static const uint8_t code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov $42, %eax; ret */
	struct env *e = *state;
	struct ktables t = {0};
	uint64_t dir[512], table[512], pa;
	unsigned int slot;

	attach(e);
	open_window(e, SIZE);
	assert_int_equal(window_write_text(&e->w, WINDOW_TEXT, code, sizeof(code)), 0);
	assert_int_equal(call(e, e->w.header.va + WINDOW_TEXT, 0, 0, 0), 42);
	machine_pause(e->m);
	assert_int_equal(ktables_find(e->m, 0, &t), 0); /* those that a vCPU has, not the master */
	machine_resume(e->m);
	assert_int_equal(ktables_directory(&t, e->w.header.va, &pa), 0);
	assert_int_equal(machine_read(e->m, pa, dir, sizeof(dir)), 0);
	slot = (unsigned int)((e->w.header.va - REGION) / WINDOW_PIECE);
	for (unsigned int i = 1; i < SIZE / WINDOW_PIECE; i++)
		assert_int_equal(dir[slot + i] & (NX | LARGE | WRITABLE | PRESENT),
				 NX | LARGE | WRITABLE | PRESENT);
	assert_int_equal(dir[slot] & (LARGE | PRESENT), PRESENT);
	pa = e->w.header.piece_pa[0] + WINDOW_TABLE;
	assert_int_equal(dir[slot] & UINT64_C(0x000ffffffffff000), pa);
	assert_int_equal(machine_read(e->m, pa, table, sizeof(table)), 0);
	for (unsigned int i = 0; i < 512; i++) {
		bool text = within(i, WINDOW_TEXT, WINDOW_TEXT_SIZE) ||
			    within(i, WINDOW_MOVED_TEXT, MOVED_ROWS * MOVED_SIZE);

		assert_int_equal(table[i] & (NX | WRITABLE | PRESENT),
				 text ? PRESENT : NX | WRITABLE | PRESENT);
	}
	close_window(e);
	assert_int_equal(machine_read(e->m, e->w.slot_pa, dir, SIZE / WINDOW_PIECE * 8), 0);
	for (unsigned int i = 0; i < SIZE / WINDOW_PIECE; i++)
		assert_int_equal(dir[i], 0);
	detach(e);
	no_complaint(e);
}

static int find(struct env *e, struct window *w)
{
	int ret;

	machine_pause(e->m);
	ret = window_find(w, &e->g);
	machine_resume(e->m);
	return ret;
}

/* A tracer that has gone leaves a window, which the next one finds and takes away. */
static void is_found_again(void **state)
{
	struct env *e = *state;
	struct payload_header bad;
	struct window found;
	long before = free_mib(e);

	attach(e);
	assert_int_equal(find(e, &found), -ENOENT);
	open_window(e, SIZE);
	detach(e);
	assert_true(free_mib(e) < before - (long)(SIZE / MIB) / 2);
	attach(e);
	assert_int_equal(find(e, &found), 0);
	assert_memory_equal(&found.header, &e->w.header, sizeof(found.header));
	assert_int_equal(found.slot_pa, e->w.slot_pa);
	bad = found.header;
	bad.piece_pa[3] += WINDOW_PIECE;
	assert_int_equal(window_write(&found, WINDOW_HEADER, &bad, sizeof(bad)), 0);
	assert_int_equal(find(e, &e->w), -ENOENT);
	assert_int_equal(window_write(&found, WINDOW_HEADER, &found.header, sizeof(bad)), 0);
	assert_int_equal(find(e, &e->w), 0);
	close_window(e);
	assert_int_equal(find(e, &found), -ENOENT);
	detach(e);
	assert_true(free_mib(e) > before - (long)(SIZE / MIB) / 2);
}

static uint64_t jiffies(struct env *e)
{
	return guest_image_u64(&e->g, guestsym_addr(e->gs, "jiffies_64"), 0);
}

/* Something goes on on both vCPUs until it is told to end, and writes down what it has done. */
static void load_start(struct env *e)
{
	console_run(&e->console, "busybox rm -f /stop /load");
	console_run(
		&e->console,
		"run() { until [ -e /stop ]; do workload $* >>/load || echo failed >>/load; done; }");
	console_run(&e->console, "run getppid 20000 openat 1000 & run stat 1000 & true");
}

/* Each call of it has succeeded, and the guest goes on. */
static void load_stop(struct env *e)
{
	console_run(&e->console, "echo >/stop; wait; [ -s /load ] && ! busybox grep -qvE "
				 "'^workload: (pid .*|getppid 20000|openat 1000|stat 1000)$' /load "
				 "&& workload openat 10");
	assert_non_null(strstr(e->console.out, "workload: openat 10"));
}

/* More memory in sum than the guest has. */
static void cycles_under_load(void **state)
{
	struct env *e = *state;
	double open_ms = 0, close_ms = 0, worst = 0, begin, stopped;
	uint64_t ticks;

	load_start(e);
	attach(e);
	ticks = jiffies(e);
	begin = now_ms();
	for (int i = 0; i < CYCLES; i++) {
		double at = now_ms(), opened;

		open_window(e, SIZE);
		opened = now_ms();
		close_window(e);
		close_ms += now_ms() - opened;
		open_ms += opened - at;
		worst = opened - at > worst ? opened - at : worst;
	}
	/* A guest that stands does not count; its timer ticks 250 times a second. */
	stopped = (now_ms() - begin) - (double)(jiffies(e) - ticks) * 4;
	print_message(
		"# busy: open %.0f ms (at most %.0f), close %.0f ms, guest stopped %.0f ms for both\n",
		open_ms / CYCLES, worst, close_ms / CYCLES, stopped / CYCLES);
	detach(e);
	load_stop(e);
	no_complaint(e);
}

static void guest_lacks_memory(void **state)
{
	struct env *e = *state;
	struct window more;
	long before = free_mib(e);
	char err[256];

	attach(e);
	open_window(e, (size_t)96 * MIB);
	assert_int_equal(window_open(&more, &e->g, e->b, (size_t)128 * MIB, (size_t)128 * MIB, err,
				     sizeof(err)),
			 -ENOMEM);
	assert_non_null(strstr(err, "--window-memory"));
	print_message("# %s\n", err);
	/* Who can do with less gets what there is. */
	assert_int_equal(window_open(&more, &e->g, e->b, (size_t)128 * MIB, (size_t)8 * MIB, err,
				     sizeof(err)),
			 0);
	assert_in_range(more.header.size, (size_t)8 * MIB, (size_t)126 * MIB);
	assert_int_equal(more.header.size, more.header.nr_pieces * (uint64_t)WINDOW_PIECE);
	print_message("# %llu MiB of 128\n", (unsigned long long)more.header.size >> 20);
	assert_int_equal(window_close(&more, e->b, err, sizeof(err)), 0);
	close_window(e);
	detach(e);
	console_run(&e->console, "true");
	assert_true(free_mib(e) > before - 8);
	no_complaint(e);
}

static void guest_stands(void **state)
{
	struct env *e = *state;
	struct borrow_call one = {0};
	char err[256];

	attach(e);
	one.fn = function(e, "sys_ni_syscall");
	machine_pause(e->m);
	assert_int_equal(borrow_run(e->b, &one, 1, BORROW_ANY, 100, err, sizeof(err)), -ETIMEDOUT);
	assert_false(one.done);
	machine_resume(e->m);
	assert_int_equal((int64_t)call(e, one.fn, 0, 0, 0), -ENOSYS);
	detach(e);
	console_run(&e->console, "true");
}

/* In each context that there is, in a guest that makes system calls. */
static void contexts(void **state)
{
	static const enum borrow_where all[] = {BORROW_ANY, BORROW_TASK, BORROW_SLEEP};
	struct env *e = *state;
	char err[256];

	load_start(e);
	attach(e);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct borrow_call two[2] = {0};

		two[0].fn = two[1].fn = function(e, "sys_ni_syscall");
		if (borrow_run(e->b, two, 2, all[i], RUN_MS, err, sizeof(err)))
			fail_msg("context %zu: %s", i, err);
		assert_true(two[0].done && two[1].done);
		assert_int_equal((int64_t)two[1].ret, -ENOSYS);
	}
	detach(e);
	load_stop(e);
}

/* A child attaches, and is killed where the borrowed function has just returned. */
static void killed_tracer(void **state)
{
	struct env *e = *state;

	for (int i = 0; i < 3; i++) {
		char err[256];
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			if (attach_error(e))
				_exit(1);
			e->die_at = function(e, "sys_ni_syscall");
			window_open(&e->w, &e->g, e->b, SIZE, SIZE, err, sizeof(err));
			_exit(2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		console_run(&e->console, "workload getppid 1000 openat 10");
		assert_non_null(strstr(e->console.out, "workload: openat 10"));
	}
	no_complaint(e);
}

/* A test that has failed has not let go. */
static int teardown(void **state)
{
	detach(*state);
	return 0;
}

#define TEST(fn) cmocka_unit_test_teardown(fn, teardown)

static char **arguments; /* cmocka has no way to hand them to setup() */

static int setup(void **state)
{
	static struct env e;
	char err[256];

	e.target = arguments[1];
	e.levels = (unsigned int)strtoul(arguments[4], NULL, 10);
	e.gs = guestsym_open(NULL, arguments[2], 0, err, sizeof(err));
	if (!e.gs)
		fail_aloud("%s", err);
	e.console.fd = console_open(arguments[3]);
	assert_true(e.console.fd >= 0);
	console_wait_up(&e.console);
	*state = &e;
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(idle_guest),     TEST(both_sides_see_it), TEST(only_text_is_executed),
		TEST(is_found_again), TEST(cycles_under_load), TEST(guest_lacks_memory),
		TEST(guest_stands),   TEST(contexts),	       TEST(killed_tracer),
	};

	if (argc != 5) {
		fprintf(stderr, "usage: window-attach TARGET KERNEL SERIAL LEVELS\n");
		return 2;
	}
	arguments = argv;
	return cmocka_run_group_tests_name("window", tests, setup, NULL);
}
