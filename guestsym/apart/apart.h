/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apart.h - work on hostile bytes in a process of its own, which can do nothing else.
 *
 * apart_start() forks a server. It closes whatever hvtrace has open, gives up capabilities and all
 * system calls but a few, and waits. Each piece of work is done by a process that the server forks
 * for it: it gets three descriptors, memory and time that are limited, and ends. What it leaves
 * behind in the descriptors is to be checked like anything that a stranger has written.
 */
#ifndef HVTRACE_GUESTSYM_APART_APART_H
#define HVTRACE_GUESTSYM_APART_APART_H

#include <stddef.h>
#include <stdint.h>

#define APART_FDS  3
#define APART_TEXT 512

struct apart;

/* A kind of work. */
struct apart_job {
	/* 0 or -errno; why may get a line about that, else it is empty. */
	int (*run)(const int fds[APART_FDS], char why[APART_TEXT]);
};

struct apart_limits {
	uint64_t memory; /* bytes, beside twice what the files behind the descriptors have */
	uint64_t file;	 /* bytes that a file may grow to */
	unsigned int cpu_s, wall_s;
};

/*
 * From here on jobs[0..n) can be had; they and limits stay as they are. Before other threads are
 * made: they may hold locks. cancel is a descriptor that is readable once nobody wants results any
 * more, or -1. 0 or -errno.
 */
int apart_start(struct apart **a, const struct apart_job *jobs, size_t n,
		const struct apart_limits *limits, int cancel);
void apart_stop(struct apart *a); /* NULL is allowed */

/*
 * Have jobs[job] done; unused descriptors are -1. What it gives, with its text in why, which is
 * printable; -ECANCELED, -ETIME (a limit of time), or -EPROTO (it did not come to an end), with a
 * text as well. Any thread: one waits for the other.
 */
int apart_run(struct apart *a, size_t job, const int fds[APART_FDS], char why[APART_TEXT]);

/*
 * An unnamed file, for what goes there and comes back: a descriptor or -errno. name is for those
 * who look at descriptors.
 */
int apart_file(const char *name, const void *data, size_t len);
/* The same, for what is only read: who gets it can neither change it nor have it grow. */
int apart_file_given(const char *name, const void *data, size_t len);
/* Its bytes, mapped to be read: for munmap(2). -EFBIG beyond max. An empty file has *data NULL. */
int apart_file_map(int fd, size_t max, void **data, size_t *len);
/* The same for what comes back, which nobody can change any more. */
int apart_file_take(int fd, size_t max, void **data, size_t *len);
/* Write all of it, at that offset. 0 or -errno. */
int apart_write(int fd, const void *data, size_t len, uint64_t off);

#endif
