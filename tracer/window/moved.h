/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moved.h - instructions of the kernel's that are executed in the window (payload.h, MOVED_): which
 * there are, and which place there stands for which in the kernel's own text.
 */
#ifndef HVTRACE_TRACER_WINDOW_MOVED_H
#define HVTRACE_TRACER_WINDOW_MOVED_H

#include "tracer/window/window.h"

struct moved {
	uint64_t va; /* run-time, of the code of the first */
	size_t nr;
	/* By address; those that were read from a guest are so only if it says the truth. */
	struct payload_moved row[MOVED_ROWS];
};

/* What the window has: 0 or the machine's error. Rows that make no sense are left out, as 0. */
int moved_read(struct window *w, struct moved *m);
/* Write nr rows, and their code. They are executed by nobody yet. */
int moved_write(struct window *w, const struct moved *m, const uint8_t *code);

/* The place in the kernel's text that ip, in the code, stands for; 0: it is not there, or none. */
uint64_t moved_home(const struct moved *m, uint64_t ip);
/* The other way round: but for what the jumps themselves are at, which lead there. */
uint64_t moved_to(const struct moved *m, uint64_t va);
/* Run-time address of the code of a row. */
static inline uint64_t moved_code(const struct moved *m, size_t row)
{
	return m->va + row * MOVED_SIZE;
}

/* The jump that takes the place of the first of a row's instructions. */
void moved_jump(const struct moved *m, size_t row, uint8_t insn[5]);

#endif
