/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files behind borrow.h share. */
#ifndef HVTRACE_TRACER_BORROW_INTERNAL_H
#define HVTRACE_TRACER_BORROW_INTERNAL_H

#include "tracer/borrow/borrow.h"

#include <pthread.h>

#define BORROW_MAX_SITES 24

enum borrow_state {
	BORROW_IDLE,
	BORROW_WAITING, /* for a safe point */
	BORROW_CALLING,
	BORROW_DONE,
};

struct borrow {
	const struct guestsym *gs;
	struct guest_kernel *g;
	uint64_t task_stack;  /* offset in task_struct */
	uint64_t irq_stack;   /* per-CPU offset of the pointer to the top word, or GUEST_NONE */
	borrow_lend_fn *lend; /* NULL: nobody has any sites */
	void *lend_arg;
	pthread_cond_t change;
	/*
	 * For the rest. Taken with the machine paused: a vCPU whose hit waits for it must not hold
	 * up another's pause.
	 */
	pthread_mutex_t lock;
	enum borrow_state state;
	bool cancelled;
	int error; /* of the machine, or of who is told; the state is BORROW_DONE then */
	struct borrow_how how;
	uint64_t landing, restore;
	uint64_t set[BORROW_MAX_SITES]; /* traps that are in the guest */
	size_t nr_set;
	struct borrow_call *calls;
	size_t next, n;
	struct machine_regs saved; /* of the borrowed task */
	uint64_t sp;		   /* of its frame */
};

/*
 * places.c. The machine is paused and b->lock held for those that set traps, take them out
 * or look at a hit.
 */

/* What is known of the kernel's stacks. */
void borrow_find_stacks(struct borrow *b);
/* Whether the vCPU that stands at a hit may be borrowed for what is asked. */
bool borrow_point_is_safe(struct borrow *b, const struct machine_hit *hit);
/*
 * Have traps at the landing (b->landing) and at all places where calls may be made. -ENOENT,
 * -EEXIST: the function *what is missing, or is being traced; then no trap is left.
 */
int borrow_traps_set(struct borrow *b, const char **what);
/* All, or all but the landing's: breakpoints on busy functions would only slow the guest. */
int borrow_traps_clear(struct borrow *b);
int borrow_traps_keep_landing(struct borrow *b);
/* Ask the lender for all sites, and give them back; the machine runs. */
int borrow_sites_ask(struct borrow *b);
void borrow_sites_give_back(struct borrow *b);

/* frame.c */

/* Look where a frame's registers are loaded (b->restore): 0 or -ENOENT and what is missing. */
int borrow_find_restore(struct borrow *b, const char **what);
/* Put the frame below the stack of the task that b->saved is of: 0 or -errno. */
int borrow_frame_write(struct borrow *b, unsigned int vcpu);
/* Send the vCPU to the function of the next call: 0 or -errno. */
int borrow_frame_call(struct borrow *b, unsigned int vcpu);

#endif
