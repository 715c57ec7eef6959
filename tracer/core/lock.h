/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock.h - the locks that several rooms take, in the order in which one thread takes them: the
 * machine is paused before any of them, and a lock of one room alone is taken within all of these.
 *
 * Builds with a sanitizer (HVTRACE_LOCK_ORDER) end at the first one that is taken out of order.
 */
#ifndef HVTRACE_TRACER_CORE_LOCK_H
#define HVTRACE_TRACER_CORE_LOCK_H

#include "tracer/core/trace.h"

enum lock_rank {
	LOCK_EVENTS,	/* which events are wanted: events_lock() */
	LOCK_CHANGE,	/* what is patched; by one thread several times */
	LOCK_INSTANCES, /* the list of instances, and who holds which */
	LOCK_VCPU,	/* a vCPU's rings; of several, in the order of their numbers */
	LOCK_WAIT,	/* readers that wait */
	LOCK_RANKS,
};

#ifdef HVTRACE_LOCK_ORDER
/* lock is about to be taken, or has been given back; which: of several of one rank. */
void lock_order_take(enum lock_rank rank, unsigned int which);
void lock_order_give(enum lock_rank rank);
#else
static inline void lock_order_take(enum lock_rank rank, unsigned int which)
{
	(void)rank;
	(void)which;
}

static inline void lock_order_give(enum lock_rank rank)
{
	(void)rank;
}
#endif

static inline void lock_take(pthread_mutex_t *lock, enum lock_rank rank, unsigned int which)
{
	lock_order_take(rank, which);
	pthread_mutex_lock(lock);
}

static inline void lock_give(pthread_mutex_t *lock, enum lock_rank rank)
{
	pthread_mutex_unlock(lock);
	lock_order_give(rank);
}

static inline void change_lock(struct trace *t)
{
	lock_take(&t->change, LOCK_CHANGE, 0);
	t->changes++;
}

static inline void change_unlock(struct trace *t)
{
	t->changes--;
	lock_give(&t->change, LOCK_CHANGE);
}

static inline void instances_lock(struct trace *t)
{
	lock_take(&t->instances_lock, LOCK_INSTANCES, 0);
}

static inline void instances_unlock(struct trace *t)
{
	lock_give(&t->instances_lock, LOCK_INSTANCES);
}

static inline void vcpu_lock(struct trace *t, unsigned int vcpu)
{
	lock_take(&t->vcpu_lock[vcpu], LOCK_VCPU, vcpu);
}

static inline void vcpu_unlock(struct trace *t, unsigned int vcpu)
{
	lock_give(&t->vcpu_lock[vcpu], LOCK_VCPU);
}

#endif
