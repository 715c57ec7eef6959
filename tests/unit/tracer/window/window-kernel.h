/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window-kernel.h - on top of fake-kernel.h: page tables that a window can be mapped by. FAKE_RAM
 * may be given.
 */
#ifndef HVTRACE_TESTS_WINDOW_KERNEL_H
#define HVTRACE_TESTS_WINDOW_KERNEL_H

#include "tests/unit/fake-kernel.h"
#include "tracer/window/window.h"

#define SIZE	  (2 * (size_t)WINDOW_PIECE)
#define REGION	  UINT64_C(0xffffffffc0000000)
#define UPPER	  (TOP_PGT + 0x1000) /* the table between, and the page directory */
#define DIRECTORY (TOP_PGT + 0x2000)
#define SLOT_HIGH 481 /* in map.c */
#define PA(off)	  (FAKE_PA + (off))

static struct guest_kernel guest;
static struct window w;

static void entry_set(unsigned int i, uint64_t value)
{
	put(DIRECTORY + 8 * i, value, 8);
}

static uint64_t entry(unsigned int i)
{
	return get(FAKE_VA(DIRECTORY + 8 * i));
}

static unsigned int slot_of(const struct window *win)
{
	return (unsigned int)((win->header.va - REGION) / WINDOW_PIECE);
}

static void window_kernel_make(void)
{
	char err[128];

	kernel_make();
	fake.window = true;
	memset(&guest, 0, sizeof(guest));
	if (guest_learn(&guest, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	guest_bind(&guest, NULL);
	put(TOP_PGT + 8 * 511, PA(UPPER) | 0x63, 8);
	put(UPPER + 8 * 511, PA(DIRECTORY) | 0x63, 8);
	entry_set(0, 0x1ff063); /* modules */
}

#endif
