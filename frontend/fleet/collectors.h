/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collectors.h - a process for each of several guests. What they say on stderr comes out of this
 * process with the name of the guest in front, and what ends this one ends them.
 */
#ifndef HVTRACE_FRONTEND_FLEET_COLLECTORS_H
#define HVTRACE_FRONTEND_FLEET_COLLECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "frontend/lib/said.h"

struct collector {
	const char *name; /* of the guest, which stays */
	int status;	  /* in the end: the exit status, or CANCEL_STATUS() of what killed it */
	bool killed;	  /* which it was */
	/* What follows is collectors.c's. */
	pid_t pid;
	int pidfd; /* -1: it has ended */
	struct said says;
};

/*
 * Have trace(arg, i) called in a process for each of them, and wait until all have ended. Ctrl-C
 * and SIGTERM go to all of them, each time; for kill -9 of this process they get SIGTERM. There are
 * no threads before. One that cannot be started has status EXIT_FAILED, and is told of. The signal
 * that has come, or 0.
 */
int collectors_run(struct collector *c, size_t nr, int (*trace)(void *arg, size_t i), void *arg);

#endif
