/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files behind window.h share. One line in err where there is one. */
#ifndef HVTRACE_TRACER_WINDOW_INTERNAL_H
#define HVTRACE_TRACER_WINDOW_INTERNAL_H

#include "tracer/window/window.h"

#define PIECE_ORDER 9 /* 2 to the power of it pages */

_Static_assert(WINDOW_PIECE == 4096 << PIECE_ORDER, "a piece is one block of the allocator's");

/*
 * pieces.c: the memory, of w->header.size bytes, zeroed, and mapped. On error nothing is left.
 */

/*
 * From the guest's page allocator. Each piece is mapped as soon as the guest has given it, so that
 * what a tracer that dies leaves is found.
 */
int window_pieces_borrow(struct window *w, struct borrow *b, size_t min, char *err, size_t errlen);
/* From our own machine, at one stretch. */
int window_pieces_own(struct window *w, char *err, size_t errlen);

/*
 * return.c: unmap what was borrowed and give it back, after a flush of TLBs if the guest can do
 * that. w->header tells what is left.
 */
int window_return(struct window *w, struct borrow *b, char *err, size_t errlen);

/* map.c: the page tables. The machine is paused. */

/* Choose addresses for n pieces. */
int window_place(struct window *w, unsigned int n, char *err, size_t errlen);
/* Write the header, and map the pieces from the from-th on. */
int window_map(struct window *w, uint32_t from, char *err, size_t errlen);
/* The from-th up to before the to-th; the others stay. */
int window_unmap(struct window *w, uint32_t from, uint32_t to);

/* window.c */
int window_header_write(struct window *w);

#endif
