// SPDX-License-Identifier: GPL-2.0-or-later
/* test-window.c - windows: their memory, what page tables make of it, and finding them again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tracer/window/window-kernel.h"
#include "tracer/guest/ktables.h"

#define NX (UINT64_C(1) << 63)

static int set_up(void **state)
{
	(void)state;
	window_kernel_make();
	entry_set(507, 0x1fe063);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.paused, 0);
	free(fake.ram);
	return 0;
}

static void open_own(size_t size)
{
	char err[256];

	if (window_open(&w, &guest, NULL, size, size, err, sizeof(err)))
		fail_msg("%s", err);
}

static void close_own(void)
{
	char err[256];

	assert_int_equal(window_close(&w, NULL, err, sizeof(err)), 0);
	for (unsigned int i = 1; i < 507; i++)
		assert_int_equal(entry(i), 0);
	assert_int_equal(entry(0), 0x1ff063);
}

/* --- page tables -------------------------------------------------------------------------- */

static void directory_is_found(void **state)
{
	struct ktables t = {.root = PA(TOP_PGT), .levels = 4};
	uint64_t pa;

	(void)state;
	assert_int_equal(ktables_directory(&t, REGION, &pa), 0);
	assert_int_equal(pa, PA(DIRECTORY));
	assert_int_equal(ktables_directory(&t, FAKE_DIRECT, &pa), -EFAULT);
	/* Five levels: one more that leads to the same */
	put(TOP_PGT + 0x3000 + 8 * 511, PA(TOP_PGT) | 0x63, 8);
	t.root = PA(TOP_PGT + 0x3000);
	t.levels = 5;
	assert_int_equal(ktables_directory(&t, REGION, &pa), 0);
	assert_int_equal(pa, PA(DIRECTORY));
	put(UPPER + 8 * 511, 0xe3, 8); /* a page of 1 GiB */
	assert_int_equal(ktables_directory(&t, REGION, &pa), -EFAULT);
	put(UPPER + 8 * 511, (UINT64_C(1) << 50) | 0x63, 8); /* not RAM: whoever reads it sees */
	assert_int_equal(window_find(&w, &guest), -EFAULT);
}

static void entries_say_what_is_allowed(void **state)
{
	unsigned int slot;
	uint64_t table;

	(void)state;
	open_own(SIZE);
	slot = slot_of(&w);
	assert_true(slot > 256 && slot + 2 < 504 && w.mapped);
	assert_int_equal(w.slot_pa, PA(DIRECTORY) + 8 * slot);
	assert_int_equal(entry(slot), FAKE_TABLE | 0x23);
	assert_int_equal(entry(slot + 1), (FAKE_WINDOW + WINDOW_PIECE) | 0xe3 | NX);
	for (uint64_t off = 0; off < WINDOW_PIECE; off += 4096) {
		memcpy(&table, fake.ram + FAKE_TABLE + off / 4096 * 8, 8);
		if (off - WINDOW_TEXT < WINDOW_TEXT_SIZE ||
		    off - WINDOW_MOVED_TEXT < MOVED_ROWS * MOVED_SIZE)
			assert_int_equal(table, (FAKE_WINDOW + off) | 0x21);
		else
			assert_int_equal(table, (FAKE_WINDOW + off) | 0x63 | NX);
	}
	close_own();
	fake.sregs.efer = 0; /* a CPU that faults at bit 63 */
	open_own(SIZE);
	assert_int_equal(entry(slot_of(&w) + 1) & NX, 0);
	close_own();
}

static void used_entries_are_left_alone(void **state)
{
	bool moved = false;
	uint64_t first;
	char err[256];

	(void)state;
	open_own(SIZE);
	first = w.header.va;
	close_own();
	for (int i = 0; i < 64 && !moved; i++) {
		open_own(SIZE);
		moved = w.header.va != first;
		close_own();
	}
	assert_true(moved);
	for (unsigned int i = 256; i < SLOT_HIGH; i++)
		entry_set(i, i == 300 || i == 301 ? 0 : 0xa00); /* not present, but not free */
	open_own(SIZE);
	assert_int_equal(slot_of(&w), 300);
	assert_int_equal(window_close(&w, NULL, err, sizeof(err)), 0);
	entry_set(301, 0xa00);
	assert_int_equal(window_open(&w, &guest, NULL, SIZE, SIZE, err, sizeof(err)), -ENOSPC);
	assert_int_equal(entry(300), 0);
}

static void sizes_and_ranges_are_checked(void **state)
{
	char err[256];
	uint8_t byte = 7;

	(void)state;
	assert_int_equal(window_open(&w, &guest, NULL, 0, 0, err, sizeof(err)), -EINVAL);
	assert_int_equal(window_open(&w, &guest, NULL, SIZE + 4096, SIZE + 4096, err, sizeof(err)),
			 -EINVAL);
	assert_int_equal(window_open(&w, &guest, NULL, 65 * (size_t)WINDOW_PIECE,
				     65 * (size_t)WINDOW_PIECE, err, sizeof(err)),
			 -EINVAL);
	assert_int_equal(window_open(&w, &guest, NULL, 3 * (size_t)WINDOW_PIECE,
				     3 * (size_t)WINDOW_PIECE, err, sizeof(err)),
			 -ENOSPC);
	open_own(SIZE);
	assert_int_equal(window_write(&w, SIZE - 1, &byte, 1), 0);
	assert_int_equal(fake.ram[FAKE_WINDOW + SIZE - 1], 7);
	assert_int_equal(window_write(&w, SIZE, &byte, 1), -EFAULT);
	assert_int_equal(window_write_text(&w, UINT64_MAX, &byte, 1), -EFAULT);
	assert_int_equal(window_read(&w, 1, &byte, SIZE), -EFAULT);
	close_own();
}

/* --- finding ------------------------------------------------------------------------------ */

static void windows_are_found_again(void **state)
{
	struct window found;

	(void)state;
	assert_int_equal(window_find(&found, &guest), -ENOENT);
	open_own(SIZE);
	entry_set(slot_of(&w) + 1, entry(slot_of(&w) + 1) & ~UINT64_C(0x60)); /* the CPU's bits */
	assert_int_equal(window_find(&found, &guest), 0);
	assert_memory_equal(&found.header, &w.header, sizeof(w.header));
	assert_true(found.slot_pa == w.slot_pa && found.table_pa == w.table_pa && found.mapped &&
		    found.g == &guest);
	w = found;
	close_own();
	assert_int_equal(window_find(&found, &guest), -ENOENT);
}

/* A member of the header, and a value that it must not have, all else being right. */
#define HOSTILE(member, value)                                                                     \
	{                                                                                          \
		offsetof(struct payload_header, member),                                           \
			sizeof(((struct payload_header *)0)->member), value                        \
	}

static const struct {
	size_t off, len;
	uint64_t value;
} hostile[] = {
	HOSTILE(magic[15], 'x'),
	HOSTILE(va, REGION),
	HOSTILE(size, 0),
	HOSTILE(size, SIZE + WINDOW_PIECE),
	HOSTILE(nr_pieces, 0),
	HOSTILE(nr_pieces, 1),
	HOSTILE(nr_pieces, 65),
	HOSTILE(nr_pieces, UINT32_MAX),
	HOSTILE(ring_size, 12288),
	HOSTILE(ring_size, WINDOW_PIECE),
	HOSTILE(ring_size, 1u << 31),
	HOSTILE(nr_vcpus, MACHINE_MAX_VCPUS + 1),
	HOSTILE(borrowed, 2),
	HOSTILE(borrowed, 1), /* then it has addresses, too */
	HOSTILE(piece_pa[0], FAKE_WINDOW + WINDOW_PIECE),
	HOSTILE(piece_pa[1], FAKE_WINDOW),
	HOSTILE(piece_pa[1], UINT64_C(1) << 40),
	HOSTILE(piece_pa[1], FAKE_WINDOW + WINDOW_PIECE + 4096),
	HOSTILE(text_size, WINDOW_TEXT_SIZE + 1),
	HOSTILE(nr_edges, PAYLOAD_EDGES + 1),
	HOSTILE(edge[0].from, 9),
	HOSTILE(edge[0].to, 65),
};

static void is_refused(const struct payload_header *bad, size_t i)
{
	struct window found;

	assert_int_equal(window_write(&w, 0, bad, sizeof(*bad)), 0);
	if (window_find(&found, &guest) != -ENOENT)
		fail_msg("header %zu is taken for a good one", i);
}

static void hostile_headers_are_refused(void **state)
{
	static const uint32_t ring_size[] = {WINDOW_PIECE / 2, 0}; /* 0: not yet known */
	struct payload_header *h = &w.header;
	struct window found;

	(void)state;
	open_own(SIZE);
	h->nr_vcpus = 2;
	h->text_size = 64;
	h->nr_edges = 1;
	h->edge[0].to = 8;
	for (size_t r = 0; r < sizeof(ring_size) / sizeof(ring_size[0]); r++) {
		h->ring_size = ring_size[r];
		for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
			struct payload_header bad = *h;

			memcpy((uint8_t *)&bad + hostile[i].off, &hostile[i].value, hostile[i].len);
			is_refused(&bad, i);
		}
		assert_int_equal(window_write(&w, 0, h, sizeof(*h)), 0);
		assert_int_equal(window_find(&found, &guest), 0);
	}
	close_own();
}

/* The kernel has other things behind the last slot. */
static void windows_end_with_the_slots(void **state)
{
	const unsigned int last = SLOT_HIGH - 1;
	struct payload_header bad;
	struct window found;

	(void)state;
	open_own(SIZE);
	bad = w.header;
	bad.va = REGION + (uint64_t)last * WINDOW_PIECE;
	for (unsigned int i = 0; i < 2; i++) {
		entry_set(last + i, entry(slot_of(&w) + i));
		entry_set(slot_of(&w) + i, 0);
	}
	is_refused(&bad, 0);
	bad.va -= WINDOW_PIECE;
	for (unsigned int i = 0; i < 2; i++)
		entry_set(last + i - 1, entry(last + i));
	assert_int_equal(window_write(&w, 0, &bad, sizeof(bad)), 0);
	assert_int_equal(window_find(&found, &guest), 0);
}

/* Pieces that are none, though what maps the window has them as the header does. */
static void pieces_of_nothing_are_refused(void **state)
{
	static const uint64_t pa[] = {
		FAKE_WINDOW,	    /* twice */
		UINT64_C(1) << 40,  /* no RAM */
		FAKE_RAM,	    /* none any more */
		FAKE_WINDOW + 4096, /* no whole piece */
	};
	struct payload_header bad;
	struct window found;
	uint64_t flags;

	(void)state;
	open_own(SIZE);
	flags = entry(slot_of(&w) + 1) - w.header.piece_pa[1];
	for (size_t i = 0; i < sizeof(pa) / sizeof(pa[0]); i++) {
		bad = w.header;
		bad.piece_pa[1] = pa[i];
		entry_set(slot_of(&w) + 1, flags + pa[i]);
		is_refused(&bad, i);
	}
	entry_set(slot_of(&w) + 1, flags + w.header.piece_pa[1]);
	assert_int_equal(window_write(&w, 0, &w.header, sizeof(w.header)), 0);
	assert_int_equal(window_find(&found, &guest), 0);
	close_own();
}

static void entries_of_others_are_refused(void **state)
{
	struct window found;
	unsigned int next;

	(void)state;
	open_own(SIZE);
	next = slot_of(&w) + 1;
	entry_set(next, entry(next) & ~NX);
	assert_int_equal(window_find(&found, &guest), -ENOENT);
	entry_set(next, entry(next) | NX);
	assert_int_equal(window_find(&found, &guest), 0);
	fake.ram[FAKE_TABLE + 8 * 5] |= 2; /* text that can be written */
	assert_int_equal(window_find(&found, &guest), -ENOENT);
	close_own();
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(directory_is_found),
		TEST(entries_say_what_is_allowed),
		TEST(used_entries_are_left_alone),
		TEST(sizes_and_ranges_are_checked),
		TEST(windows_are_found_again),
		TEST(hostile_headers_are_refused),
		TEST(windows_end_with_the_slots),
		TEST(pieces_of_nothing_are_refused),
		TEST(entries_of_others_are_refused),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
