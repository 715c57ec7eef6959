/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files behind window.h share. One line in err where there is one. */
#ifndef HVTRACE_TRACER_WINDOW_INTERNAL_H
#define HVTRACE_TRACER_WINDOW_INTERNAL_H

#include "tracer/window/window.h"

/*
 * pieces.c: the memory, of w->header.size bytes, and where the first piece's page table is
 * to lie. On error nothing is left.
 */

/* From the guest's page allocator, zeroed. */
int window_pieces_borrow(struct window *w, struct borrow *b, size_t min, char *err, size_t errlen);
/* From our own machine, zeroed and at one stretch. */
int window_pieces_own(struct window *w, char *err, size_t errlen);
/* Give what was borrowed back, after a flush of TLBs if the guest can do that. */
int window_pieces_return(struct window *w, struct borrow *b, char *err, size_t errlen);
/* The same of a window that has never been mapped, as far as the guest lets us. */
void window_pieces_drop(struct window *w, struct borrow *b);

/* map.c: the page tables. */

/* Write the header, and map the pieces; the machine is paused. */
int window_map(struct window *w, char *err, size_t errlen);
int window_unmap(struct window *w);

#endif
