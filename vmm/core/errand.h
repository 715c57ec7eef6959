/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * errand.h - a call into somebody else's code that may never come back: it is made on a thread of
 * its own, so that who has asked for it can give up.
 */
#ifndef HVTRACE_VMM_CORE_ERRAND_H
#define HVTRACE_VMM_CORE_ERRAND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct errand;

struct errand_ops {
	const char *kind; /* of the thread: vmm/thread.h */
	/* The call, on the thread. */
	void (*run)(struct errand *e);
	/* Nobody has it any more, whether it was waited for or not: free what is in it. May be
	 * NULL. */
	void (*release)(struct errand *e);
};

/* The first member of what is to be done and what comes of it. Its members are errand.c's. */
struct errand {
	const struct errand_ops *ops;
	atomic_uint refs;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool done;
};

/* How long it is waited for. */
struct errand_patience {
	unsigned int ms;
	/* Asked now and then, on the thread that waits: true gives up. NULL: never */
	bool (*cancelled)(void *arg);
	void *arg;
};

/* size bytes (all of what it is the first member of), zeroed. NULL: no memory. */
void *errand_new(size_t size, const struct errand_ops *ops);
/*
 * Have it run. 0: it has come back. -ETIMEDOUT, -ECANCELED: nobody waits any more; what it is
 * working on is the thread's alone, and goes once it comes back, if ever. Others: no thread.
 */
int errand_run(struct errand *e, const struct errand_patience *patience);
/* Who had it made has done with it. */
void errand_put(struct errand *e);
/* Since the beginning of the process some were given up: they may be anywhere in their code. */
bool errand_any_left(void);

#endif
