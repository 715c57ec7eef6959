// SPDX-License-Identifier: GPL-2.0-or-later
/* test-window-borrowed.c - windows of the guest's own memory: how it comes, and how it goes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tracer/window/window-kernel.h"

#define FN_MEMSET    0x1800
#define FN_AVAILABLE 0x1840
#define BLOCKS	     4

static struct borrow *borrow;

/* The guest's memory management. */
static struct {
	uint64_t blocks[BLOCKS]; /* that the allocator gives, then 0 */
	unsigned int given;
	uint64_t available; /* pages */
	uint64_t freed[BLOCKS];
	unsigned int nr_freed;
	uint64_t flushed_from, flushed_to;
	unsigned int nr_flushed, nr_emptied;
	uint32_t gfp;	     /* of the last allocation */
	bool tasks;	     /* there are some that do something */
	void (*looks)(void); /* at what there is, before and behind each call */
} mm;

static int set_up(void **state)
{
	(void)state;
	window_kernel_make();
	fake_symbol("memset", FAKE_VA(FN_MEMSET), 'T');
	fake_symbol("si_mem_available", FAKE_VA(FN_AVAILABLE), 'T');
	borrow = borrow_new(NULL, &guest);
	assert_non_null(borrow);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.paused, 0);
	assert_int_equal(fake.ntraps, 0);
	borrow_free(borrow);
	free(fake.ram);
	return 0;
}

static bool is_freed(uint64_t va)
{
	for (unsigned int i = 0; i < mm.nr_freed; i++) {
		if (mm.freed[i] == va)
			return true;
	}
	return false;
}

static uint64_t guest_allocates(const struct machine_regs *r)
{
	assert_int_equal(r->rsi, 9);
	mm.gfp = (uint32_t)r->rdi;
	return mm.given < BLOCKS && mm.blocks[mm.given] ? mm.blocks[mm.given++] : 0;
}

static void guest_frees(const struct machine_regs *r)
{
	bool is_given = false;

	assert_int_equal(r->rsi, 9);
	for (unsigned int i = 0; i < mm.given; i++)
		is_given |= mm.blocks[i] == r->rdi;
	assert_true(is_given);
	assert_false(is_freed(r->rdi));
	mm.freed[mm.nr_freed++] = r->rdi;
}

/* Of entries of the page directory, which are empty already. */
static void guest_empties(const struct machine_regs *r)
{
	uint64_t first = r->rdi - (FAKE_DIRECT + PA(DIRECTORY));

	assert_true(first % 8 == 0 && first < 4096 && r->rdx % 8 == 0 && r->rdx);
	assert_int_equal(r->rsi, 0);
	for (uint64_t off = 0; off < r->rdx; off += 8)
		assert_int_equal(entry((unsigned int)(first + off) / 8), 0);
	mm.nr_emptied++;
}

/* Each of its ranges once, from behind. */
static void guest_flushes(const struct machine_regs *r)
{
	if (mm.nr_flushed++)
		assert_int_equal(r->rsi, mm.flushed_from);
	else
		mm.flushed_to = r->rsi;
	mm.flushed_from = r->rdi;
}

static uint64_t kernel_does(const struct machine_regs *r)
{
	switch (r->rip - FAKE_VA(0)) {
	case FN_ALLOC:
		return guest_allocates(r);
	case FN_FREE:
		guest_frees(r);
		return 0;
	case FN_MEMSET:
		guest_empties(r);
		return 0;
	case FN_AVAILABLE:
		return mm.available;
	default:
		assert_int_equal(r->rip, FAKE_VA(FN_FLUSH));
		guest_flushes(r);
		return 0;
	}
}

static void look(void)
{
	if (mm.looks)
		mm.looks();
}

/* A guest that gets to a safe point at once and runs whatever function it is sent to. */
static void guest_runs(void)
{
	const uint64_t sp = FAKE_VA(STACK) + STACK_SIZE - 0x100;
	uint64_t off = mm.tasks ? FN_READ : FN_TIMER;

	put(PER_CPU_AREA + PCPU_COUNT, (uint32_t)COUNT_NONE | (mm.tasks ? 0 : 0x100), 4);
	if (!kernel_calls(borrow, 0, off, sp))
		return;
	while (fake.regs[0].rip != FAKE_VA(off) + 5) {
		uint64_t ret;

		look();
		ret = kernel_does(&fake.regs[0]);
		look();
		kernel_returns(borrow, 0, 0, ret);
	}
	look();
}

/* A guest with plenty of memory, none of which has been asked for. */
static void mm_make(void)
{
	memset(&mm, 0, sizeof(mm));
	mm.available = UINT64_MAX;
}

static int open_borrowed(uint64_t first, uint64_t second, char *err)
{
	mm_make();
	mm.blocks[0] = first;
	mm.blocks[1] = second;
	mm.tasks = true;
	fake.run = guest_runs;
	return window_open(&w, &guest, borrow, SIZE, SIZE, err, 256);
}

static const uint64_t low = FAKE_DIRECT + 2 * WINDOW_PIECE, high = FAKE_DIRECT + 3 * WINDOW_PIECE;

static void memory_is_borrowed(void **state)
{
	struct payload_header bad;
	struct window found;
	char err[256];

	(void)state;
	memset(fake.ram + 2 * WINDOW_PIECE, 0xff, 2 * WINDOW_PIECE);
	if (open_borrowed(high, low, err))
		fail_msg("%s", err);
	assert_true(w.header.piece_pa[0] == 3 * WINDOW_PIECE && w.header.piece_va[1] == low);
	assert_int_equal(fake.ram[2 * WINDOW_PIECE + 12345], 0);
	assert_int_equal(fake.ram[3 * WINDOW_PIECE + WINDOW_CTL], 0);
	assert_int_equal(mm.gfp & 0x400, 0); /* may not sleep */
	assert_int_equal(entry(slot_of(&w)), (3 * WINDOW_PIECE + WINDOW_TABLE) | 0x23);
	assert_int_equal(window_find(&found, &guest), 0);
	assert_memory_equal(&found.header, &w.header, sizeof(w.header));
	bad = w.header;
	bad.piece_va[1] = high; /* the guest's allocator would get what is not a piece */
	assert_int_equal(window_write(&w, 0, &bad, sizeof(bad)), 0);
	assert_int_equal(window_find(&found, &guest), -ENOENT);
	assert_int_equal(window_write(&w, 0, &w.header, sizeof(w.header)), 0);
	/* Its page table lies in it, or it is none of ours. */
	memcpy(fake.ram + FAKE_TABLE, fake.ram + 3 * WINDOW_PIECE + WINDOW_TABLE, 4096);
	entry_set(slot_of(&w), FAKE_TABLE | 0x23);
	assert_int_equal(window_find(&found, &guest), -ENOENT);
	entry_set(slot_of(&w), (3 * WINDOW_PIECE + WINDOW_TABLE) | 0x23);
	assert_int_equal(window_find(&found, &guest), 0);
	assert_int_equal(window_close(&found, borrow, err, sizeof(err)), 0);
	assert_int_equal(mm.flushed_from, w.header.va);
	assert_int_equal(mm.flushed_to, w.header.va + SIZE);
	assert_int_equal(mm.nr_emptied, 2);
	assert_true(mm.nr_freed == 2 && mm.freed[0] == low && mm.freed[1] == high);
	assert_int_equal(entry(slot_of(&w)), 0);
}

static void what_was_got_goes_back(void **state)
{
	char err[256];

	(void)state;
	assert_int_equal(open_borrowed(high, 0, err), -ENOMEM);
	assert_int_equal(mm.gfp & 0x400, 0x400); /* the last attempt was a patient one */
	assert_true(mm.nr_freed == 1 && mm.freed[0] == high);
	assert_non_null(strstr(err, "1 of 2"));
	assert_non_null(strstr(err, "--window-memory"));
	assert_int_equal(open_borrowed(0, 0, err), -ENOMEM);
	assert_int_equal(mm.nr_freed, 0);
	for (unsigned int i = 256; i < SLOT_HIGH; i++)
		entry_set(i, 1);
	assert_int_equal(open_borrowed(low, high, err), -ENOSPC);
	assert_non_null(strstr(err, "4 MiB of addresses"));
	assert_true(mm.given == 1 && mm.nr_freed == 1);
}

static void nothing_is_mapped(void)
{
	for (unsigned int i = 256; i < SLOT_HIGH; i++)
		assert_int_equal(entry(i), 0);
}

/* PAGES that the guest has left; the allocator would give three pieces. */
static int open_of(uint64_t pages, size_t size, size_t min, char *err)
{
	mm_make();
	for (unsigned int i = 0; i < 3; i++)
		mm.blocks[i] = FAKE_DIRECT + (1 + i) * WINDOW_PIECE;
	mm.available = pages;
	mm.tasks = true;
	fake.run = guest_runs;
	return window_open(&w, &guest, borrow, size, min, err, 256);
}

/* It is asked for no more than three quarters of what it has, be the window smaller for it. */
static void what_the_guest_needs_stays(void **state)
{
	const uint64_t two = 2 * (WINDOW_PIECE / 4096) * 4 / 3 + 1;
	char err[256];

	(void)state;
	assert_int_equal(open_of(two - 2, SIZE, SIZE, err), -ENOMEM);
	assert_non_null(strstr(err, "lacks memory: 1 of 2 blocks"));
	assert_int_equal(mm.given, 0);
	assert_int_equal(open_of(two, 3 * WINDOW_PIECE, WINDOW_PIECE, err), 0);
	assert_int_equal(mm.given, 2);
	assert_int_equal(w.header.size, 2 * WINDOW_PIECE);
	assert_int_equal(window_close(&w, borrow, err, sizeof(err)), 0);
	assert_int_equal(mm.nr_freed, 2);
	assert_int_equal(open_of(0, SIZE, WINDOW_PIECE, err), -ENOMEM);
	assert_int_equal(mm.given, 0);
	nothing_is_mapped();
}

static bool one_was_given(void *arg)
{
	(void)arg;
	return mm.given;
}

/* The rest would take a task that may sleep, and none comes by: nobody waits for it any more. */
static void what_was_got_goes_back_of_one_given_up(void **state)
{
	char err[256];

	(void)state;
	mm_make();
	mm.blocks[0] = high;
	fake.run = guest_runs;
	guest.given_up = one_was_given;
	assert_int_equal(window_open(&w, &guest, borrow, SIZE, SIZE, err, sizeof(err)), -ECANCELED);
	guest.given_up = NULL;
	assert_true(mm.nr_freed == 1 && mm.freed[0] == high);
	assert_int_equal(entry(slot_of(&w)), 0);
}

static void hostile_allocators_are_refused(void **state)
{
	char err[256];

	(void)state;
	assert_int_equal(open_borrowed(low + 4096, high, err), -EFAULT);
	assert_non_null(strstr(err, "is no memory"));
	assert_int_equal(open_borrowed(FAKE_DIRECT + FAKE_RAM, high, err), -EFAULT);
	assert_int_equal(open_borrowed(UINT64_MAX - WINDOW_PIECE + 1, high, err), -EFAULT);
	assert_int_equal(mm.nr_freed, 0);
	assert_int_equal(open_borrowed(low, low, err), -EFAULT);
	assert_true(mm.nr_freed == 1 && mm.freed[0] == low);
	nothing_is_mapped();
}

/* No task is about: the memory goes back all the same, in a softirq and without a flush. */
static void idle_guests_get_theirs_back(void **state)
{
	char err[256];

	(void)state;
	assert_int_equal(open_borrowed(low, high, err), 0);
	mm.tasks = false;
	assert_int_equal(window_close(&w, borrow, err, sizeof(err)), 0);
	assert_int_equal(mm.nr_freed, 2);
	assert_int_equal(mm.flushed_to, 0);
	/* It is closed: nothing more to be done. */
	assert_int_equal(window_close(&w, borrow, err, sizeof(err)), 0);
	assert_int_equal(mm.nr_freed, 2);
	nothing_is_mapped();
}

/* Nobody comes by at all: whoever attaches later finds all of it. */
static void guests_that_stand_keep_what_they_have(void **state)
{
	struct window found;
	char err[256];

	(void)state;
	assert_int_equal(open_borrowed(low, high, err), 0);
	fake.run = NULL;
	borrow_cancel(borrow, true);
	assert_int_equal(window_close(&w, borrow, err, sizeof(err)), -ECANCELED);
	borrow_cancel(borrow, false);
	assert_int_equal(window_find(&found, &guest), 0);
	assert_int_equal(found.header.nr_pieces, 2);
	fake.run = guest_runs;
	assert_int_equal(window_close(&found, borrow, err, sizeof(err)), 0);
	assert_int_equal(mm.nr_freed, 2);
	nothing_is_mapped();
}

/* --- dying meanwhile ---------------------------------------------------------------------- */

static unsigned int lost_most, looked;

/* Were the tracer to die now: what the next one finds is the guest's to be freed, all but one. */
static void what_there_is_is_found(void)
{
	struct window found;
	unsigned int pieces = 0, lost;

	if (!window_find(&found, &guest))
		pieces = found.header.nr_pieces;
	for (unsigned int i = 0; i < pieces; i++)
		assert_false(is_freed(found.header.piece_va[i]));
	lost = mm.given - mm.nr_freed - pieces;
	assert_in_range(lost, 0, 1);
	if (lost > lost_most)
		lost_most = lost;
	looked++;
}

static void one_that_dies_leaves_what_is_found(void **state)
{
	char err[256];

	(void)state;
	mm_make();
	for (unsigned int i = 0; i < 2; i++)
		mm.blocks[i] = i ? low : high;
	mm.tasks = true;
	mm.looks = what_there_is_is_found;
	fake.run = guest_runs;
	lost_most = looked = 0;
	assert_int_equal(window_open(&w, &guest, borrow, SIZE, SIZE, err, sizeof(err)), 0);
	assert_int_equal(looked,
			 3 + 5); /* a call's begin and end once and twice, and each end of all */
	assert_int_equal(window_close(&w, borrow, err, sizeof(err)), 0);
	assert_int_equal(looked, 3 + 5 + 13); /* of six calls */
	assert_int_equal(lost_most, 1);
	assert_int_equal(mm.nr_freed, 2);
	nothing_is_mapped();
}

/* Died when the second piece was not mapped yet, or not any more. */
static void pieces_between_go_back(void **state)
{
	struct window found;
	char err[256];

	(void)state;
	assert_int_equal(open_borrowed(low, high, err), 0);
	entry_set(slot_of(&w) + 1, 0);
	assert_int_equal(window_find(&found, &guest), 0);
	assert_int_equal(found.header.nr_pieces, 2);
	entry_set(slot_of(&w) + 1, 0xa00); /* somebody else's */
	assert_int_equal(window_find(&w, &guest), -ENOENT);
	entry_set(slot_of(&found) + 1, 0);
	assert_int_equal(window_close(&found, borrow, err, sizeof(err)), 0);
	assert_int_equal(mm.nr_freed, 2);
	nothing_is_mapped();
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(memory_is_borrowed),
		TEST(what_was_got_goes_back),
		TEST(what_the_guest_needs_stays),
		TEST(what_was_got_goes_back_of_one_given_up),
		TEST(hostile_allocators_are_refused),
		TEST(idle_guests_get_theirs_back),
		TEST(guests_that_stand_keep_what_they_have),
		TEST(one_that_dies_leaves_what_is_found),
		TEST(pieces_between_go_back),
	};

	return cmocka_run_group_tests_name("window-borrowed", tests, NULL, NULL);
}
