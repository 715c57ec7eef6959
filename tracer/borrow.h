/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * borrow.h - makes a running guest's kernel call functions of its own for us.
 *
 * A vCPU is borrowed at a safe point: at the entry of one of a few functions, with interrupts on,
 * not within an interrupt, with room on its stack. Its registers are put back afterwards and it
 * goes on as if nothing had been.
 */
#ifndef HVTRACE_TRACER_BORROW_H
#define HVTRACE_TRACER_BORROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest.h"

#define BORROW_MAX_ARGS 4

struct borrow_call {
	uint64_t fn; /* run-time address */
	uint64_t arg[BORROW_MAX_ARGS];
	uint64_t ret; /* rax */
	bool done;
};

/* Traps with this cookie and above belong to borrow_hit(). */
#define BORROW_COOKIE (UINT64_MAX - 256)

struct borrow;

/* gs and g outlive it. NULL: no memory. */
struct borrow *borrow_new(const struct guestsym *gs, struct guest_kernel *g);
void borrow_free(struct borrow *b); /* NULL is allowed */

/*
 * Make n calls, one after the other, on one vCPU; the machine runs, and this is not its thread.
 * With `task` only in the context of a task that may sleep, without locks: else also in softirqs.
 * 0 and all calls done; -ETIMEDOUT: the guest never got to a safe point; others. One line in err.
 */
int borrow_run(struct borrow *b, struct borrow_call *calls, size_t n, bool task, int timeout_ms,
	       char *err, size_t errlen);
/* A trap of ours was hit; on the vCPU's thread. */
void borrow_hit(struct borrow *b, const struct machine_hit *hit);

#endif
