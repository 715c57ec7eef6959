/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.h - the trace.dat files of several guests as one, in which each guest is a buffer.
 *
 * One file has one table of formats, one of symbols and one of tasks' names, and one clock. So
 * records get the numbers of formats that these have in it, times that are the host's, and, where
 * kernels lie elsewhere, addresses in a range of their guest's own: docs/recording.md says how.
 * What is behind the end of what other readers know tells hvtrace which is whose: dat_part().
 */
#ifndef HVTRACE_FRONTEND_JOIN_JOIN_H
#define HVTRACE_FRONTEND_JOIN_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/dat.h"

#define JOIN_FILES_MAX DAT_PARTS_MAX

struct join_result {
	uint64_t size;	   /* of the file */
	uint64_t events;   /* in it */
	uint64_t damaged;  /* pages, and what was in them from there on is missing */
	uint64_t left_out; /* events that are longer than a page */
	uint64_t late;	   /* events whose times go back on their vCPU, which were put right */
};

struct join_options {
	const char *out;
	const char *const *paths; /* JOIN_FILES_MAX at most */
	/* What they are called in it; NULL, or one of them is: as their files say. */
	const char *const *names;
	size_t nr;
	bool own_times; /* leave times as they are that nothing makes the host's */
	bool no_sandbox;
	void (*done)(void *arg, unsigned int percent); /* NULL: nobody is told how far it is */
	void *arg;
	struct join_result *result; /* NULL: nobody wants to know */
};

/* Whether the times of two files are of one axis, whatever they are. */
bool join_is_one_axis(const struct dat *a, const struct dat *b);

/*
 * What was under opt->out stays until the new file is whole. It enters the sandbox, which is for
 * good: whoever has more to do calls it in a process of its own. Memory: the largest file's
 * description, and names. 0, or -1 with one line in err.
 */
int join_files(const struct join_options *opt, char *err, size_t errlen);
/*
 * The same of files that are open, and stay so, into one that is empty, by a journal that is, too.
 * Nothing is confined. 0, or -errno with a line in err.
 */
struct join_fds {
	const int *in;
	int journal, out;
};
int join_opened(const struct join_options *opt, const struct join_fds *fds, char *err,
		size_t errlen);

#endif
