// SPDX-License-Identifier: GPL-2.0-or-later
/* test-quiesce.c - when has everyone left the payload? vCPUs, and the stacks of tasks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/window/quiesce.h"
#include "tracer/guest/tasks.h"
#include "tracer/window/moved.h"
#include "tracer/window/window.h"

#define WINDOW_VA  (TRAMP_REGION + 300 * UINT64_C(0x200000))
#define TEXT_VA	   (WINDOW_VA + WINDOW_TEXT)
#define TIMEOUT_MS 30 /* where it is to be reached */
#define LONG_MS	   60000
#define FRAME	   (SLEEPER_STACK + 0x3100)

enum { EDGE_FROM = 16, EDGE_TO = 24, TEXT_SIZE = 512 };

struct frame {
	uint64_t ip, cs, flags, sp, ss;
};

static struct guest_kernel guest;
static struct window w;
static unsigned int runs; /* how often the guest has been let run on */

static int set_up(void **state)
{
	char err[256];

	(void)state;
	tramp_kernel_make();
	memset(&guest, 0, sizeof(guest));
	assert_int_equal(guest_learn(&guest, NULL, err, sizeof(err)), 0);
	guest_bind(&guest, NULL);
	guest.given_up = NULL;
	w = (struct window){.g = &guest,
			    .header = {.va = WINDOW_VA,
				       .size = WINDOW_PIECE,
				       .nr_pieces = 1,
				       .piece_pa = {FAKE_WINDOW},
				       .text_size = TEXT_SIZE}};
	w.header.nr_edges = 1;
	w.header.edge[0].from = EDGE_FROM;
	w.header.edge[0].to = EDGE_TO;
	runs = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.paused, 0);
	free(fake.ram);
	return 0;
}

static int wait_ms(int ms)
{
	return quiesce(&guest, NULL, &w, (struct quiesce_patience){.ms = ms});
}

/* --- vCPUs ---------------------------------------------------------------------------------- */

static void guest_leaves_at_last(void)
{
	if (++runs == 3)
		fake.now[1].rip = FAKE_VA(FN_BETA);
}

static void vcpus_inside_run_on(void **state)
{
	(void)state;
	assert_int_equal(wait_ms(0), 0);
	fake.now[1].rip = TEXT_VA + TEXT_SIZE;
	assert_int_equal(wait_ms(0), 0);
	fake.now[1].rip = TEXT_VA + TEXT_SIZE - 1;
	assert_int_equal(wait_ms(TIMEOUT_MS), -ETIMEDOUT);
	fake.now[1].rip = TEXT_VA + EDGE_FROM; /* a vCPU is not moved by hand */
	assert_int_equal(wait_ms(TIMEOUT_MS), -ETIMEDOUT);
	fake.run = guest_leaves_at_last;
	assert_int_equal(wait_ms(LONG_MS), 0);
	assert_int_equal(runs, 4); /* once more after it was found to be out */
}

/* It is in there, and it was not there when the trace began. */
static void vcpus_that_were_plugged_in_run_on(void **state)
{
	(void)state;
	fake.now[TRAMP_CPUS].rip = TEXT_VA + 1;
	assert_int_equal(wait_ms(0), 0);
	fake.vcpus = TRAMP_CPUS + 1;
	assert_int_equal(wait_ms(TIMEOUT_MS), -ETIMEDOUT);
	fake.gone[TRAMP_CPUS] = true;
	assert_int_equal(wait_ms(0), 0);
	fake.vcpus_error = -E2BIG;
	assert_int_equal(wait_ms(0), -E2BIG);
}

static void vcpus_elsewhere_run_on(void **state)
{
	static const uint32_t counts[] = {0x10000, 0x100, 0x100000};
	uint64_t sp = fake.now[0].rsp;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		put(PER_CPU_AREA + PCPU_COUNT, (uint32_t)COUNT_NONE | counts[i], 4);
		assert_int_equal(wait_ms(0), -ETIMEDOUT);
	}
	put(PER_CPU_AREA + PCPU_COUNT, (uint32_t)COUNT_NONE | 0x200, 4); /* BHs are off */
	assert_int_equal(wait_ms(0), 0);
	fake.now[0].rsp = FAKE_VA(IRQ_STACK + 0x100); /* not its task's stack */
	assert_int_equal(wait_ms(0), -ETIMEDOUT);
	fake.now[0].rsp = sp;
	put(PER_CPU_AREA + PCPU_CURRENT, UINT64_C(0x1122334455667788), 8);
	assert_int_equal(wait_ms(0), -ETIMEDOUT);
}

static void vcpus_in_user_mode_or_not_started_are_nowhere(void **state)
{
	(void)state;
	fake.now[0].rip = TEXT_VA;
	fake.now[0].rsp = 0;
	fake.sregs.cpl = 3;
	assert_int_equal(wait_ms(0), 0);
	fake.sregs.cpl = 0;
	assert_int_equal(wait_ms(0), -ETIMEDOUT);
	fake.sregs.cr0 = 0x60000010; /* as after a reset */
	assert_int_equal(wait_ms(0), 0);
}

/* --- frames --------------------------------------------------------------------------------- */

static void frame_put(uint64_t off, struct frame f)
{
	memcpy(fake_at(FAKE_VA(off)), &f, sizeof(f));
}

static struct frame frame_in(uint64_t off, uint64_t ip)
{
	return (struct frame){
		.ip = ip, .cs = 0x10, .flags = 0x202, .sp = FAKE_VA(off) + 40, .ss = 0x18};
}

static void frame_is(uint64_t off, struct frame want)
{
	assert_memory_equal(fake_at(FAKE_VA(off)), &want, sizeof(want));
}

/* It goes on behind the call, as if the payload had returned. */
static void frames_at_edges_are_moved_on(void **state)
{
	static const uint64_t at[] = {EDGE_FROM, EDGE_TO - 1};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct frame f = frame_in(FRAME, TEXT_VA + at[i]);

		f.sp += 8 * i; /* the CPU aligns the stack that it pushes to */
		put(f.sp - FAKE_TEXT, FAKE_VA(FN_ALPHA + 5), 8);
		frame_put(FRAME, f);
		assert_int_equal(wait_ms(0), 0);
		f.ip = FAKE_VA(FN_ALPHA + 5);
		f.sp += 8;
		frame_is(FRAME, f);
	}
}

enum {
	PAGE = 0x1000,
	SPLIT_STACK = 0x30000, /* the frames of its pages, of which no two are neighbours */
	FOREIGN = 0xa5,
};
#define SPLIT_VA UINT64_C(0xffffc90000100000)

/* A stack as the kernel has it from vmalloc(): each page lies anywhere. */
static uint64_t split_page(unsigned int page)
{
	return SPLIT_STACK + (uint64_t)page * 2 * PAGE;
}

static void split_stack_make(void)
{
	uint64_t root = guest_image_pa(&guest, guest.pgtable_root);

	memset(fake_at(FAKE_VA(SPLIT_STACK)), FOREIGN, 2 * STACK_SIZE);
	for (unsigned int i = 0; i < STACK_SIZE / PAGE; i++) {
		fake_map(root, SPLIT_VA + (uint64_t)i * PAGE, PAGE, FAKE_PA + split_page(i));
		memset(fake_at(FAKE_VA(split_page(i))), 0, PAGE);
	}
	put(SLEEPER + TASK_STACK, SPLIT_VA, 8);
	put(SLEEPER + TASK_SP, SPLIT_VA, 8);
}

static void foreign_pages_are_untouched(void)
{
	for (unsigned int i = 0; i < STACK_SIZE / PAGE; i++) {
		const uint8_t *page = fake_at(FAKE_VA(split_page(i) + PAGE));

		for (size_t at = 0; at < PAGE; at++)
			assert_int_equal(page[at], FOREIGN);
	}
}

/* The CPU aligns frames to 16 bytes and they have 40: some begin in one page and end in the next.
 */
static void frames_across_pages_are_moved_on(void **state)
{
	static const uint64_t at[] = {0xfd8, 0xfe0, 0xfe8, 0xff0, 0xff8};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint64_t va = SPLIT_VA + 2 * PAGE + at[i], behind = FAKE_VA(FN_ALPHA + 5);
		struct frame now, f = {TEXT_VA + EDGE_FROM, 0x10, 0x202, va + sizeof(f), 0x18};

		split_stack_make();
		assert_int_equal(guest_write(&guest, va, &f, sizeof(f)), 0);
		assert_int_equal(guest_write(&guest, f.sp, &behind, sizeof(behind)), 0);
		assert_int_equal(wait_ms(0), 0);
		f.ip = behind;
		f.sp += 8;
		assert_int_equal(guest_read(&guest, va, &now, sizeof(now)), 0);
		assert_memory_equal(&now, &f, sizeof(f));
		foreign_pages_are_untouched();
	}
}

/* What is in a return's place: the site has its return back. */
static void frames_at_returns_begin_again(void **state)
{
	struct frame f = frame_in(FRAME, TEXT_VA + EDGE_FROM);

	(void)state;
	w.header.edge[0].how = EDGE_REDO;
	put(FRAME + sizeof(f), FAKE_VA(FN_ALPHA + 5), 8);
	frame_put(FRAME, f);
	assert_int_equal(wait_ms(0), 0);
	f.ip = FAKE_VA(FN_ALPHA);
	f.sp += 8;
	frame_is(FRAME, f);
}

static void frames_inside_hold_it_up(void **state)
{
	static const uint64_t at[] = {0, EDGE_FROM - 1, EDGE_TO, TEXT_SIZE - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct frame f = frame_in(FRAME, TEXT_VA + at[i]);

		frame_put(FRAME, f);
		assert_int_equal(wait_ms(0), -ETIMEDOUT);
		frame_is(FRAME, f);
	}
	frame_put(FRAME, frame_in(FRAME, TEXT_VA + TEXT_SIZE));
	assert_int_equal(wait_ms(0), 0);
	/* On the stack of a vCPU's own task as well, above its stack pointer. */
	frame_put(STACK + 0x3f00, frame_in(STACK + 0x3f00, TEXT_VA));
	assert_int_equal(wait_ms(0), -ETIMEDOUT);
	fake.now[0].rsp += 8;
	assert_int_equal(wait_ms(0), 0);
}

static void what_only_looks_like_a_frame_is_left_alone(void **state)
{
	const struct frame good = frame_in(FRAME, TEXT_VA + EDGE_FROM);
	struct frame bad[8];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].cs = 0x33;
	bad[1].flags = 0x200;
	bad[2].sp -= 8;
	bad[3].sp += 24;
	bad[4].sp = 0;
	bad[5].sp = UINT64_MAX;
	bad[6].ss = 0x2b;
	bad[7].ip = TEXT_VA - 1;
	for (size_t i = 0; i < 8; i++) {
		frame_put(FRAME, bad[i]);
		assert_int_equal(wait_ms(0), 0);
		frame_is(FRAME, bad[i]);
	}
	/* A return address that is the payload's own again: it goes nowhere. */
	put(FRAME + 40, TEXT_VA + EDGE_FROM, 8);
	frame_put(FRAME, good);
	assert_int_equal(wait_ms(0), 0);
	frame_is(FRAME, good);
}

/* --- what has moved ------------------------------------------------------------------------- */

#define MOVED_VA (WINDOW_VA + WINDOW_MOVED_TEXT)

/* Two instructions of alpha's, the second row; the first one is free. */
enum { MOVED_FROM = 2, MOVED_TO = 7, NOT_A_PLACE = 3 };

static const struct payload_moved moved_row = {
	.at = (uint32_t)FAKE_VA(FN_ALPHA),
	.size = 5,
	.places = 3,
	.from = {0, MOVED_FROM, 5},
	.to = {0, MOVED_TO, 12},
};

static void moved_make(struct moved *m)
{
	static const uint8_t code[2 * MOVED_SIZE];

	memset(m, 0, sizeof(*m));
	m->va = MOVED_VA;
	m->nr = 2;
	m->row[0] = (struct payload_moved){.at = (uint32_t)FAKE_VA(FN_SCHEDULE), .size = 5};
	m->row[1] = moved_row;
	assert_int_equal(moved_write(&w, m, code), 0);
}

static uint64_t moved_ip(unsigned int to)
{
	return MOVED_VA + MOVED_SIZE + to;
}

static void frames_where_it_has_moved_go_home(void **state)
{
	struct moved m;
	struct frame f = frame_in(FRAME, moved_ip(MOVED_TO));

	(void)state;
	moved_make(&m);
	frame_put(FRAME, f);
	assert_int_equal(wait_ms(0), 0);
	f.ip = FAKE_VA(FN_ALPHA + MOVED_FROM);
	frame_is(FRAME, f);
	f.ip = moved_ip(NOT_A_PLACE);
	frame_put(FRAME, f);
	assert_int_equal(wait_ms(0), -ETIMEDOUT);
	frame_is(FRAME, f);
	fake.now[1].rip = moved_ip(MOVED_TO);
	frame_put(FRAME, frame_in(FRAME, FAKE_VA(FN_ALPHA)));
	assert_int_equal(wait_ms(0), -ETIMEDOUT);
}

/* The payload returns there: nothing is left that leads into the window. */
static void frames_at_edges_go_home(void **state)
{
	struct moved m;
	struct frame f = frame_in(FRAME, TEXT_VA + EDGE_FROM);

	(void)state;
	moved_make(&m);
	frame_put(FRAME, f);
	put(FRAME + 40, moved_ip(12), 8);
	assert_int_equal(wait_ms(0), 0);
	f.ip = FAKE_VA(FN_ALPHA + 5);
	f.sp += 8;
	frame_is(FRAME, f);
	/* And what is done once more is done by the instruction itself. */
	w.header.edge[0].how = EDGE_REDO;
	f = frame_in(FRAME, TEXT_VA + EDGE_FROM);
	frame_put(FRAME, f);
	put(FRAME + 40, moved_ip(MOVED_TO + SITE_SIZE), 8);
	assert_int_equal(wait_ms(0), 0);
	f.ip = FAKE_VA(FN_ALPHA + MOVED_FROM);
	f.sp += 8;
	frame_is(FRAME, f);
}

/* What the guest has there may be anything. */
static void rows_that_make_no_sense_are_none(void **state)
{
	struct moved *m = calloc(1, sizeof(*m));

	(void)state;
	assert_non_null(m);
	for (unsigned int bad = 0; bad < 4; bad++) {
		struct payload_moved r = moved_row;

		r.size = bad == 0 ? MOVED_MAX + 1 : bad == 1 ? SITE_SIZE - 1 : r.size;
		r.places = bad == 2 ? MOVED_PLACES + 1 : r.places;
		r.to[1] = bad == 3 ? MOVED_SIZE : r.to[1];
		window_put_at(WINDOW_MOVED + sizeof(r), &r, sizeof(r));
		assert_int_equal(moved_read(&w, m), 0);
		assert_int_equal(m->nr, 0);
		assert_int_equal(moved_home(m, moved_ip(0)), 0);
	}
	free(m);
}

static int enter(void)
{
	static struct moved m;

	moved_make(&m);
	return quiesce_enter(&guest, NULL, &m);
}

/* Who is at the jump goes through it, who is behind it is there. */
static void those_inside_go_on_where_it_has_moved(void **state)
{
	const struct frame at_jump = frame_in(FRAME + 0x100, FAKE_VA(FN_ALPHA)),
			   behind = frame_in(FRAME + 0x200, FAKE_VA(FN_ALPHA + 5));
	struct frame f = frame_in(FRAME, FAKE_VA(FN_ALPHA + MOVED_FROM));

	(void)state;
	frame_put(FRAME, f);
	frame_put(FRAME + 0x100, at_jump);
	frame_put(FRAME + 0x200, behind);
	fake.now[1].rip = FAKE_VA(FN_ALPHA + MOVED_FROM);
	assert_int_equal(enter(), 0);
	f.ip = moved_ip(MOVED_TO);
	frame_is(FRAME, f);
	frame_is(FRAME + 0x100, at_jump);
	frame_is(FRAME + 0x200, behind);
	assert_int_equal(fake.regs[1].rip, moved_ip(MOVED_TO));
}

/* In an interrupt: on its stack, and on that of the task that it has come into. */
static void interrupted_ones_go_on_where_it_has_moved(void **state)
{
	struct frame f = frame_in(IRQ_STACK + 0x3000, FAKE_VA(FN_ALPHA + MOVED_FROM)),
		     g = frame_in(STACK + 0x3800, FAKE_VA(FN_ALPHA + MOVED_FROM));

	(void)state;
	frame_put(IRQ_STACK + 0x3000, f);
	frame_put(STACK + 0x3800, g);
	fake.now[0].rsp = FAKE_VA(IRQ_STACK + 0x2f00);
	put(PER_CPU_AREA + PCPU_COUNT, (uint32_t)COUNT_NONE | 0x10000, 4);
	assert_int_equal(enter(), 0);
	f.ip = g.ip = moved_ip(MOVED_TO);
	frame_is(IRQ_STACK + 0x3000, f);
	frame_is(STACK + 0x3800, g);
}

static void nobody_knows_what_an_nmi_goes_back_to(void **state)
{
	(void)state;
	fake.now[0].rsp = FAKE_VA(0x38000);
	assert_int_equal(enter(), -EBUSY);
	fake.sregs.cpl = 3;
	assert_int_equal(enter(), 0);
}

/* --- memory that makes no sense ------------------------------------------------------------- */

static void stacks_are_looked_at_as_far_as_they_go(void **state)
{
	static const uint64_t sps[] = {0, UINT64_MAX, FAKE_VA(SLEEPER_STACK) - 8,
				       FAKE_VA(SLEEPER_STACK) + STACK_SIZE,
				       FAKE_VA(SLEEPER_STACK) + 0x2f03};

	(void)state;
	frame_put(FRAME, frame_in(FRAME, TEXT_VA));
	for (size_t i = 0; i < sizeof(sps) / sizeof(sps[0]); i++) {
		put(SLEEPER + TASK_SP, sps[i], 8);
		assert_int_equal(wait_ms(0), -ETIMEDOUT);
	}
	put(SLEEPER + TASK_SP, FAKE_VA(SLEEPER_STACK) + STACK_SIZE - 8, 8);
	assert_int_equal(wait_ms(0), 0);
	put(SLEEPER + TASK_SP, 0, 8);
	for (uint64_t stack = UINT64_MAX; stack; stack <<= 7) {
		put(SLEEPER + TASK_STACK, stack, 8);
		assert_int_equal(wait_ms(0), 0);
	}
}

static void lists_into_nowhere_are_errors(void **state)
{
	static const uint64_t nowhere[] = {0, 8, UINT64_MAX, UINT64_C(1) << 63,
					   FAKE_DIRECT + FAKE_RAM};

	(void)state;
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		put(SLEEPER + TASK_THREAD_NODE, nowhere[i], 8);
		assert_int_equal(wait_ms(LONG_MS), -EFAULT);
		put(SLEEPER + TASK_THREAD_NODE, FAKE_VA(SIGNAL + SIGNAL_SIZE + THREAD_HEAD), 8);
		put(TASK + TASK_SIGNAL, nowhere[i], 8);
		assert_int_equal(wait_ms(LONG_MS), -EFAULT);
		put(TASK + TASK_SIGNAL, FAKE_VA(SIGNAL), 8);
		put(TASK + TASK_TASKS, nowhere[i], 8);
		assert_int_equal(wait_ms(LONG_MS), -EFAULT);
		put(TASK + TASK_TASKS, FAKE_VA(TASK + TASK_SIZE + TASK_TASKS), 8);
		assert_int_equal(wait_ms(0), 0);
	}
}

/* --- lists ---------------------------------------------------------------------------------- */

static bool count(void *arg, const struct task *task)
{
	unsigned int *n = arg;

	(void)task;
	return ++*n != 1000000; /* enough */
}

static void each_thread_comes_once(void **state)
{
	struct task_layout at;
	unsigned int n = 0;

	(void)state;
	assert_int_equal(task_layout_learn(&at, NULL, &guest), 0);
	assert_int_equal(tasks_each(&guest, &at, count, &n), 0);
	assert_int_equal(n, 3);
	n = 999998;
	assert_int_equal(tasks_each(&guest, &at, count, &n), 0);
	assert_int_equal(n, 1000000);
	fake.nfields--; /* mutex.owner: nobody's business here */
	fake.nfields--;
	assert_int_equal(task_layout_learn(&at, NULL, &guest), -ENODATA);
	assert_int_equal(wait_ms(0), -ENODATA);
}

/* The guest stands meanwhile, and each task may take a while: it is soon seen that none is new. */
static void ends(void)
{
	struct task_layout at;
	unsigned int n = 0;

	assert_int_equal(task_layout_learn(&at, NULL, &guest), 0);
	assert_int_equal(tasks_each(&guest, &at, count, &n), -ELOOP);
	assert_in_range(n, 1, 100);
}

/* A thread that is followed by itself, a process that is: neither list gets back to its head. */
static void lists_without_end_end(void **state)
{
	(void)state;
	put(SLEEPER + TASK_THREAD_NODE, FAKE_VA(SLEEPER + TASK_THREAD_NODE), 8);
	ends();
	put(SLEEPER + TASK_THREAD_NODE, FAKE_VA(TASK + TASK_SIZE + TASK_THREAD_NODE), 8);
	ends(); /* of two */
	put(SLEEPER + TASK_THREAD_NODE, FAKE_VA(SIGNAL + SIGNAL_SIZE + THREAD_HEAD), 8);
	put(TASK + TASK_TASKS, FAKE_VA(TASK + TASK_TASKS), 8);
	ends();
}

/* --- a list that is a lie ------------------------------------------------------------------- */

enum {
	NR_THREADS = 0x5900,
	FORGED = 0x500000, /* threads, of which each is the next word in memory */
	FORGED_TASKS = 100000,
	CLOCK_STEP_MS = 1,
};

static unsigned int nr_seen;
static int64_t fake_ms;

static int64_t clock_goes(void)
{
	return fake_ms += CLOCK_STEP_MS;
}

/* A thread follows the other, each with a stack: it does not go round, and ends where it should. */
static void forge_threads(void)
{
	uint64_t node = FAKE_DIRECT + FAKE_PA + FORGED;

	put(SLEEPER + TASK_THREAD_NODE, node, 8);
	for (uint32_t i = 1; i < FORGED_TASKS; i++)
		put(FORGED + 8 * (i - 1), node + UINT64_C(8) * i, 8);
	put(FORGED + 8 * (FORGED_TASKS - 1), FAKE_VA(SIGNAL + SIGNAL_SIZE + THREAD_HEAD), 8);
}

static int forged_walk(void)
{
	struct task_layout at;

	nr_seen = 0;
	assert_int_equal(task_layout_learn(&at, NULL, &guest), 0);
	return tasks_each(&guest, &at, count, &nr_seen);
}

static void no_more_tasks_than_the_kernel_counts(void **state)
{
	(void)state;
	fake_symbol("nr_threads", FAKE_VA(NR_THREADS), 'B');
	put(NR_THREADS, 3, 4);
	assert_int_equal(forged_walk(), 0);
	forge_threads();
	assert_int_equal(forged_walk(), -E2BIG);
	assert_in_range(nr_seen, 3, 3 + 100);
	assert_int_equal(wait_ms(LONG_MS), -E2BIG);
	put(NR_THREADS, UINT32_MAX, 4); /* a count that is a lie as well */
	assert_int_equal(forged_walk(), 0);
	fake.memory = 512 << 10; /* has no room for so many */
	assert_int_equal(forged_walk(), -E2BIG);
	assert_in_range(nr_seen, 1, 512);
}

/* The fake guest may stand for a second, of which some is kept for what comes next. */
static void no_longer_than_the_guest_may_stand(void **state)
{
	(void)state;
	forge_threads();
	guest.now_ms = clock_goes;
	assert_int_equal(forged_walk(), -ETIME);
	assert_in_range(nr_seen, 100, 1000 / CLOCK_STEP_MS);
	assert_int_equal(wait_ms(LONG_MS), -ETIME);
}

/* --- given up -------------------------------------------------------------------------------- */

enum { HOUR_MS = 3600000 };

static unsigned int looks_left;

static bool given_up(void *arg)
{
	(void)arg;
	return !looks_left || !--looks_left;
}

static int64_t an_hour_goes(void)
{
	return fake_ms += HOUR_MS;
}

/* The guest has stood for an hour each time, and would have to be let run for one. */
static void nobody_waits_for_what_is_given_up(void **state)
{
	const struct quiesce_patience to_undo = {.ms = 400 * HOUR_MS, .to_undo = true};

	(void)state;
	guest.now_ms = an_hour_goes;
	guest.given_up = given_up;
	fake.now[1].rip = TEXT_VA;
	for (unsigned int n = 1; n < 4; n++) {
		looks_left = n;
		assert_int_equal(wait_ms(to_undo.ms), -ECANCELED);
		assert_int_equal(looks_left, 0);
	}
	/* What has been done is undone all the same. */
	guest.now_ms = clock_goes;
	fake.run = guest_leaves_at_last;
	assert_int_equal(quiesce(&guest, NULL, &w, to_undo), 0);
}

/* No vCPU runs on, so those that are inside stay there. */
static void nobody_waits_for_a_machine_that_has_ended(void **state)
{
	(void)state;
	fake.ended = true;
	assert_int_equal(wait_ms(LONG_MS), 0);
	fake.now[1].rip = TEXT_VA;
	assert_int_equal(wait_ms(LONG_MS), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(vcpus_inside_run_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(vcpus_that_were_plugged_in_run_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(vcpus_elsewhere_run_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(vcpus_in_user_mode_or_not_started_are_nowhere,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_at_edges_are_moved_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_across_pages_are_moved_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(frames_at_returns_begin_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_inside_hold_it_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_only_looks_like_a_frame_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(stacks_are_looked_at_as_far_as_they_go, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(lists_into_nowhere_are_errors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_thread_comes_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lists_without_end_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_more_tasks_than_the_kernel_counts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_longer_than_the_guest_may_stand, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nobody_waits_for_what_is_given_up, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nobody_waits_for_a_machine_that_has_ended, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(frames_where_it_has_moved_go_home, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(frames_at_edges_go_home, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_that_make_no_sense_are_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(those_inside_go_on_where_it_has_moved, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(interrupted_ones_go_on_where_it_has_moved, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nobody_knows_what_an_nmi_goes_back_to, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("quiesce", tests, NULL, NULL);
}
