/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait.h - one thread that looks after all that files have yet to have something for: however many
 * of them there are, they cost the host no more threads.
 */
#ifndef HVTRACE_FRONTEND_MOUNT_WAIT_H
#define HVTRACE_FRONTEND_MOUNT_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* How soon one who waits with others notices something, and how long he may wait for his file. */
#define WAIT_TICK_MS 20

/* One who waits; part of what he is. */
struct waiter {
	struct waiter *prev, *next;
	/*
	 * Look whether there is something, for at most timeout_ms. True: it has been seen to. The
	 * waiter may be gone by then.
	 */
	bool (*look)(struct waiter *w, int timeout_ms);
	bool queued;  /* to be looked at */
	bool leaving; /* waiting_remove() waits for the end of a look */
};

struct waiting {
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct waiter *first, *last;
	size_t nr;
	const struct waiter *busy; /* is being looked at, not in the list */
	bool again;		   /* has been added meanwhile */
	bool running, end;
	pthread_t thread;
};

void waiting_init(struct waiting *wt);
/* Who still waits is looked at once more, and then not any longer; nobody may be added. */
void waiting_stop(struct waiting *wt);
/* It has been stopped, and nobody is to be removed. */
void waiting_exit(struct waiting *wt);

/* Have it looked at until it has been seen to; again, if it has been already. 0 or -errno. */
int waiting_add(struct waiting *wt, struct waiter *w);
/* It is not looked at any more. */
void waiting_remove(struct waiting *wt, struct waiter *w);

#endif
