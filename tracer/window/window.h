/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window.h - the window: memory of the guest's that both sides see, mapped at kernel addresses
 * within reach of the kernel's text. What lies where in it: payload/payload.h.
 *
 * Of hvtrace's own machine it is a memory slot that the guest's memory map does not mention; of an
 * attached one it is borrowed from the guest's page allocator, in pieces of WINDOW_PIECE.
 */
#ifndef HVTRACE_TRACER_WINDOW_WINDOW_H
#define HVTRACE_TRACER_WINDOW_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/borrow/borrow.h"
#include "tracer/guest/guest.h"
#include "tracer/payload/payload.h"

struct window {
	struct guest_kernel *g;
	struct payload_header header; /* as it is in the guest */
	uint64_t slot_pa;	      /* of the first entry of the page directory that maps it */
	uint64_t table_pa;	      /* of the first piece's page table, which that entry is of */
	uint64_t nx;		      /* what forbids execution; 0: this CPU does not know it */
	bool mapped;		      /* its first piece, at least */
	bool has_moved;		      /* what has moved into it is there: moved.h */
};

/*
 * Get `size` bytes (a multiple of WINDOW_PIECE) into the guest and map them: WINDOW_TEXT read and
 * execute, all else read and write. The machine is not paused by the caller; an attached guest must
 * run. b is for attached machines only (NULL else). On error nothing is left behind, and one line
 * in err says why: no free entries in reach, no memory in the guest, guest stands. A guest that has
 * less at once makes room for `min` bytes only: w->header.size says how many there are.
 */
int window_open(struct window *w, struct guest_kernel *g, struct borrow *b, size_t size, size_t min,
		char *err, size_t errlen);
/*
 * Unmap it and give the memory back, piece by piece, so that a tracer that dies meanwhile leaves
 * what window_find() finds. No vCPU and no task is inside, and no site calls it any more.
 * -ETIMEDOUT: the guest had no safe point for that, and nothing has been done.
 */
int window_close(struct window *w, struct borrow *b, char *err, size_t errlen);

/*
 * The window that a tracer has left in this guest (machine paused): 0 and *w is like one that was
 * opened here, -ENOENT: there is none.
 */
int window_find(struct window *w, struct guest_kernel *g);

/* Copy at an offset: 0, -EFAULT out of range, or the machine's error. Any thread. */
int window_read(struct window *w, uint64_t off, void *buf, size_t len);
int window_write(struct window *w, uint64_t off, const void *buf, size_t len);
/* The same for WINDOW_TEXT. */
int window_write_text(struct window *w, uint64_t off, const void *buf, size_t len);

#endif
