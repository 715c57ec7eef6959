/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * borrow.h - makes a running guest's kernel call functions of its own for us.
 *
 * A vCPU is borrowed at a safe point: at the entry of one of a few functions, with interrupts on,
 * not within an interrupt, with room on its stack. Its registers are put back afterwards and it
 * goes on as if nothing had been.
 */
#ifndef HVTRACE_TRACER_BORROW_BORROW_H
#define HVTRACE_TRACER_BORROW_BORROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

#define BORROW_MAX_ARGS 4

struct borrow_call {
	uint64_t fn; /* run-time address */
	uint64_t arg[BORROW_MAX_ARGS];
	uint64_t ret;	 /* rax */
	uint64_t ret_to; /* where else that goes (run-time address), 0: nowhere; of work.h alone */
	bool done;
};

/* Where functions are called, from the most to the least frequent place. */
enum borrow_where {
	BORROW_ANY,   /* in a task or a softirq: functions that do not sleep */
	BORROW_TASK,  /* in a task, without spinlocks: the same, and they may wait for other CPUs */
	BORROW_SLEEP, /* in a task that holds no lock at all: functions that may sleep */
};

/* Traps with this cookie belong to borrow_hit(). */
#define BORROW_COOKIE (UINT64_MAX - 256)

struct borrow;

/* gs and g outlive it. NULL: no memory. */
struct borrow *borrow_new(const struct guestsym *gs, struct guest_kernel *g);
void borrow_free(struct borrow *b); /* NULL is allowed */

/*
 * Sites that calls are made at are asked for before (run-time addresses), and given back by asking
 * for none. The lender gives 0 or -errno; the machine runs.
 */
typedef int borrow_lend_fn(void *arg, const uint64_t *vas, size_t n);
void borrow_lender(struct borrow *b, borrow_lend_fn *lend, void *arg);

/* Run-time address of a function of the kernel, 0 when it has none of this name. */
uint64_t borrow_function(const struct borrow *b, const char *name);
/* The same of a function that has another name in other kernels. */
uint64_t borrow_function_or(const struct borrow *b, const char *name, const char *other);

/* A call that has begun may take this much longer than the time that was given for all. */
#define BORROW_FINISH_MS 30000

/* Nothing could be asked for any more, were this run-time address the guest's own to patch. */
bool borrow_needs(const struct borrow *b, uint64_t va);

/*
 * How calls are made. Who is told of them is told on the vCPU's thread, while that vCPU stands and
 * the machine is paused; an error ends it: no further call is made, and that is the result.
 */
struct borrow_how {
	enum borrow_where where;
	int ms;	     /* for getting to a safe point */
	bool wanted; /* of what is set up: not waited for when the guest is given up (guest.h) */
	int (*before)(void *arg, size_t i); /* call i is about to be made; NULL: not told */
	int (*after)(void *arg, size_t i);  /* it has been, and has its ret; NULL: not told */
	void *arg;
};

/*
 * Make n calls, one after the other, on one vCPU; the machine runs, and this is not its thread.
 * One thread at a time. 0 and all calls are done. -ETIMEDOUT: the guest never got to a safe point,
 * no call was made; -ECANCELED: nobody waits for one any more. -EHOSTDOWN: it has halted before all
 * was done; -ESRCH: its machine has ended by then, or was let go of. -EIO: it did not get back from
 * a call, which is then not done, nor are those behind it (it goes on by itself, should it ever get
 * back). Others. One line in err.
 */
int borrow_run_as(struct borrow *b, struct borrow_call *calls, size_t n,
		  const struct borrow_how *how, char *err, size_t errlen);
/* The same, and nobody is told. */
int borrow_run(struct borrow *b, struct borrow_call *calls, size_t n, enum borrow_where where,
	       int timeout_ms, char *err, size_t errlen);
/* The same of what is wanted. */
int borrow_run_wanted(struct borrow *b, struct borrow_call *calls, size_t n,
		      enum borrow_where where, int timeout_ms, char *err, size_t errlen);
/*
 * A trap of ours was hit; on the vCPU's thread. True: by a call of the function that is there;
 * false: by the return of one that was borrowed.
 */
bool borrow_hit(struct borrow *b, const struct machine_hit *hit);
/*
 * Whoever waits for a safe point in borrow_run(), now or later, gets -ECANCELED until that is taken
 * back. Any thread.
 */
void borrow_cancel(struct borrow *b, bool cancel);

#endif
