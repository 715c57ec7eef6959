/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step.h - a command of hvtrace's own that runs beside the daemon: a guest is traced, or what was
 * recorded is looked at. What it does to itself it does not do to the daemon.
 */
#ifndef HVTRACE_FRONTEND_SERVE_STEP_H
#define HVTRACE_FRONTEND_SERVE_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "frontend/lib/said.h"

#define STEP_WORDS_MAX 256

struct step {
	const char *who;	  /* in front of what it says; stays */
	pid_t pid;		  /* 0: none runs */
	int pidfd;		  /* readable once it has ended; -1: it has, or there is none */
	struct said says;	  /* on stderr */
	int status;		  /* once it has ended: as a shell has it */
	struct rusage used;	  /* and what it has used */
	char last[SAID_LINE + 1]; /* the last that it has said, for what comes of it */
};

/*
 * Start this program with these words, argv[0] among them, NULL behind the last: with nothing to
 * read, its stdout the file `out` (-1: nowhere), in a process group of its own. It is asked to end
 * (SIGTERM) when the thread that calls this ends, however that may be. 0 or -errno.
 */
int step_start(struct step *s, char *const *argv, int out, const char *who);
/* A descriptor of it can be read: pass on what it has said, to stderr, and take note of its end. */
void step_hear(struct step *s);
/* It has ended and said all. */
bool step_is_over(const struct step *s);
/* Ask it to end, or have it end. Nothing if it has. */
void step_signal(const struct step *s, int signo);

#endif
