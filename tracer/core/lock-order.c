// SPDX-License-Identifier: GPL-2.0-or-later
/* lock-order.c - see lock.h: which locks a thread holds, in builds that look at that. */
#include "tracer/core/lock.h"

#ifdef HVTRACE_LOCK_ORDER

#include <assert.h>

/* How often each is held, and of several of one rank 1 + the number of the one taken last. */
static _Thread_local unsigned int held[LOCK_RANKS], last[LOCK_RANKS];

void lock_order_take(enum lock_rank rank, unsigned int which)
{
	for (unsigned int later = rank + 1; later < LOCK_RANKS; later++)
		assert(!held[later] && "a lock is taken within one that comes behind it");
	if (rank != LOCK_CHANGE)
		assert((!held[rank] || which >= last[rank]) && "locks of one rank go up");
	held[rank]++;
	last[rank] = which + 1;
}

void lock_order_give(enum lock_rank rank)
{
	assert(held[rank]);
	held[rank]--;
}

#endif
