/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssh.h - an ssh that runs, its ends, and what it has to say itself. */
#ifndef HVTRACE_FRONTEND_REMOTE_SSH_H
#define HVTRACE_FRONTEND_REMOTE_SSH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SSH_SAID_MAX 256

/* Zero-initialise. */
struct ssh {
	pid_t pid; /* 0: none */
	int pidfd;
	int in, out, err; /* what it reads, and writes; for poll(): out and err; -1: closed */
	char said[SSH_SAID_MAX]; /* the last line that it has written to stderr */
	char line[SSH_SAID_MAX]; /* that is not whole yet */
	size_t line_len;
	bool beats;
	int stop; /* of the thread that says that we are there */
	pthread_t thread;
};

/* 0, or -errno: then argv[0] cannot be started. */
int ssh_start(struct ssh *s, const char *const *argv);
/* All of it, or -errno; of what is long the other end has to read. */
int ssh_send(struct ssh *s, const void *bytes, size_t len);
/* From now on the other end is told that we are there. 0 or -errno. */
int ssh_beat(struct ssh *s);
/* There is something on err: it is kept in said. */
void ssh_hear(struct ssh *s);
/*
 * Nothing more is for the other end. Waits for ssh to end, for ms at most, and then ends it. Its
 * exit status, or -1: it had none.
 */
int ssh_end(struct ssh *s, int ms);
/* In place of that, where the process ends at once. Any thread. */
void ssh_drop(const struct ssh *s);

#endif
