/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stand.h - how long a guest stands because of hvtrace: counted, and watched.
 *
 * A guest stands from the first stand_begin() to the last stand_end(): they nest, and those of
 * several threads overlap. One that stands for longer than the limit is let go by a thread of its
 * own, whatever the others are waiting for: machine_ops.let_go.
 */
#ifndef HVTRACE_VMM_CORE_STAND_H
#define HVTRACE_VMM_CORE_STAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "vmm/machine.h"

struct stand {
	pthread_mutex_t lock; /* what follows */
	pthread_cond_t change;
	unsigned int depth; /* of stand_begin() */
	int64_t since;	    /* ns of CLOCK_MONOTONIC, while depth */
	/* Why it stands: as it was said first, and last. */
	const char *first, *last;
	struct machine_pauses sum; /* of those that are over, and the limit */
	/* The thread that watches. */
	bool watched, stop;
	pthread_t thread;
	struct machine_limits limits;
	void *arg;
};

/* 0 or -errno. */
int stand_init(struct stand *s);
void stand_exit(struct stand *s);

/* what: why it stands, as "reading its task list" fits behind "while"; static text. NULL: as
 * before. */
void stand_begin(struct machine *m, const char *what);
void stand_end(struct machine *m);

/*
 * Have a thread watch from now on, until stand_unwatch(); arg: for limits->stuck. Without a limit
 * in there (0) it is default_ms. 0 or -errno.
 */
int stand_watch(struct machine *m, const struct machine_limits *limits, unsigned int default_ms,
		void *arg);
/* Another default, now that more is known of the host. */
void stand_set_default(struct machine *m, unsigned int default_ms);
/*
 * The guest was let go, and who held it does not come back: nothing but the end of this process
 * will end that. Tells the owner, if he wants to know (machine_limits.stuck), and comes back if he
 * does. Without locks; any thread.
 */
void stand_is_stuck(struct machine *m);
/* The thread is gone when this is back: let_go() does not run, and will not. Once, or not at all.
 */
void stand_unwatch(struct machine *m);

#endif
