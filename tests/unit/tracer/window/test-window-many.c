// SPDX-License-Identifier: GPL-2.0-or-later
/* test-window-many.c - a window of more pieces than its header has room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define FAKE_RAM (UINT64_C(160) << 20)

#include "tests/unit/tracer/window/window-kernel.h"

#define LAST 400 /* slot that it may have */

static void set_up(void)
{
	char err[128];

	window_kernel_make();
	/* There is to be room for more behind it. */
	for (unsigned int i = LAST; i < SLOT_HIGH; i++)
		entry_set(i, 1);
	if (window_open(&w, &guest, NULL, SIZE, SIZE, err, sizeof(err)))
		fail_msg("%s", err);
}

/* So many, and all is right of them; the header's members have other meanings behind the last
 * place. */
static void pieces_make(struct payload_header *h, unsigned int n)
{
	uint64_t flags = entry(slot_of(&w) + 1) - (FAKE_WINDOW + WINDOW_PIECE);

	*h = w.header;
	h->nr_pieces = n;
	h->size = n * (uint64_t)WINDOW_PIECE;
	for (unsigned int i = LAST; i < SLOT_HIGH; i++)
		entry_set(i, 0);
	for (unsigned int i = 1; i < n; i++) {
		uint64_t pa = FAKE_WINDOW + i * (uint64_t)WINDOW_PIECE;

		entry_set(slot_of(&w) + i, pa | flags);
		memcpy((uint8_t *)h + offsetof(struct payload_header, piece_pa) + i * sizeof(pa),
		       &pa, sizeof(pa));
	}
	assert_int_equal(window_write(&w, 0, h, sizeof(*h)), 0);
}

static void too_many_pieces_are_refused(void **state)
{
	struct payload_header h;
	struct window found;

	(void)state;
	set_up();
	pieces_make(&h, WINDOW_MAX_PIECES);
	assert_int_equal(window_find(&found, &guest), 0);
	assert_int_equal(found.header.nr_pieces, WINDOW_MAX_PIECES);
	pieces_make(&h, WINDOW_MAX_PIECES + 1);
	assert_int_equal(window_find(&found, &guest), -ENOENT);
	assert_int_equal(fake.paused, 0);
	free(fake.ram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_pieces_are_refused),
	};

	return cmocka_run_group_tests_name("window-many", tests, NULL, NULL);
}
