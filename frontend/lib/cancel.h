/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cancel.h - Ctrl-C and SIGTERM: the first asks what is under way to end in good order, a second
 * one is not for asking any more.
 */
#ifndef HVTRACE_FRONTEND_LIB_CANCEL_H
#define HVTRACE_FRONTEND_LIB_CANCEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * timeout(1) and shells send a signal to a process and then to its group: what comes so soon behind
 * the first is the same one.
 */
#define CANCEL_ECHO_MS 250

#define CANCEL_STATUS(signo) (128 + (signo)) /* exit status, as of a shell */

struct cancel {
	/* For a second signal, on a thread of its own; it may end the process. */
	void (*leave)(void *arg, int signo);
	void *arg;
	int64_t (*now_ms)(void);
	/* What follows is cancel.c's. */
	atomic_int signo; /* that nobody has taken yet; 0: none */
	atomic_bool came; /* one has, taken or not */
	int fd;		  /* readable as long as there is one; for poll() */
	int signals, stop;
	int64_t first_ms; /* when the first one came; 0: none has */
	bool started;
	pthread_t thread;
};

/*
 * From here on SIGINT and SIGTERM come here only; before any other thread exists. leave and arg are
 * set, all else is zero. 0 or -errno.
 */
int cancel_start(struct cancel *c);
/* The signals stay blocked. Nothing if it was not started. */
void cancel_stop(struct cancel *c);
/*
 * The same without signals, of whose process it is not: somebody else asks, by cancel_ask(), from
 * any thread or a signal handler. All is zero. 0 or -errno.
 */
int cancel_open(struct cancel *c);
void cancel_ask(struct cancel *c, int signo);
void cancel_close(struct cancel *c);
/* The signal that asks to end, or 0. Any thread. */
int cancel_asked(const struct cancel *c);
/* The same, and it is answered by that: it is not asked any more. A later one is the second. */
int cancel_take(struct cancel *c);
/* There has been one, whether or not it is answered by now. Any thread. */
bool cancel_came(const struct cancel *c);

#endif
