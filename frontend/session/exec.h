/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exec.h - a command in the guest of a session, for --exec: it is run when the guest is up, its
 * tasks are what is traced, and its end is the session's.
 */
#ifndef HVTRACE_FRONTEND_SESSION_EXEC_H
#define HVTRACE_FRONTEND_SESSION_EXEC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "frontend/exec/stream.h"
#include "frontend/session/session.h"
#include "vmm/machine.h"

/* What the guest has said, and has not been answered yet. */
enum exec_news {
	EXEC_NEWS_NONE,
	EXEC_NEWS_UP,	/* tell it what to run */
	EXEC_NEWS_TASK, /* trace that, and tell it to go on */
};

struct exec {
	struct session *s;
	const char *command;
	bool sync;    /* disks keep what it writes */
	FILE *out;    /* of the command's standard output; NULL: to stderr, as its standard error */
	bool out_bad; /* nobody takes that any more */

	pthread_mutex_t lock; /* what follows; stream is fed with it held */
	struct stream stream;
	struct machine *m; /* to be woken; NULL: not yet */
	enum exec_news news;
	char waits; /* EXEC_WAITS_...; 0: it has not said for what */
	uint32_t pid;
	bool ended, failed;
	uint32_t status;
	char why[STREAM_TEXT_MAX + 1]; /* it has failed */

	/* The thread of session_run() alone. */
	char *frame; /* on its way to the guest */
	size_t frame_len, frame_sent;
	const char *shown; /* what people are told that is waited for; NULL: nothing */
	bool answered;	   /* the guest is up */
	bool running;	   /* it was told to go on */
	struct timespec start;
};

/*
 * For what is in s->opt, before there is a machine; the trace begins with nothing to record. -1:
 * s->err is set.
 */
int exec_init(struct exec *e, struct session *s, const char *command, bool sync);
void exec_exit(struct exec *e);
/* For machine_config.channel: what the guest says. Any thread. */
void exec_receive(struct exec *e, const char *bytes, size_t len);
/* The machine is there, and s->m. */
void exec_ready(struct exec *e);

/* --- for session.c ------------------------------------------------------------------------------
 */

/* Do what is to be done next. True: the command has ended, or there is nothing more to expect. */
bool exec_step(struct exec *e);
/* It ran for so many seconds by now; less than 0: it did not run. */
double exec_seconds(const struct exec *e);
/* Of a command that has ended: its exit status, as of a shell. */
int exec_status(struct exec *e);
bool exec_has_ended(struct exec *e);
/* Why it is over, for people: "the command has ended with status 3" */
void exec_end_text(struct exec *e, char *text, size_t len);
/* It has not ended, and the session has: a line on stderr says how far it was, or why. */
void exec_say_unfinished(struct exec *e);
/* exec-trace.c: trace this task and its children, as s->opt asks for. -1: s->err is set. */
int exec_trace(struct session *s, uint32_t pid);

#endif
