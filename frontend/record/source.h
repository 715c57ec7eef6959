/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - what is recorded: where pages come from, and what there is to say about them. */
#ifndef HVTRACE_FRONTEND_RECORD_SOURCE_H
#define HVTRACE_FRONTEND_RECORD_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/journal.h"

struct record;

/* As journal_put(). */
typedef int (*record_put)(void *arg, enum journal_kind kind, uint32_t a, uint32_t b,
			  const void *data, size_t len);

/* Where something goes. */
struct record_to {
	record_put put;
	void *arg;
};

enum record_pages {
	RECORD_PAGES_FULL, /* those that are not written to any more */
	RECORD_PAGES_ALL,  /* and what is in the one that is */
	/*
	 * What tracers of latencies keep of the longest one: their rings hold nothing else that is
	 * worth while, and are not taken from otherwise.
	 */
	RECORD_PAGES_KEPT,
};

/* All give -errno on error. Those on pages are called by one thread at a time, and so are the
 * others, but not by the same. */
struct record_source {
	void *arg; /* for all of them */
	unsigned int vcpus;
	/* Those pages that there are now, but not for ever: how many. */
	int (*take)(void *arg, enum record_pages which, const struct record_to *to);
	/* What per_cpu/cpuN/stats says, into the options CPUSTAT; when all pages are taken. */
	int (*statistics)(void *arg, const struct record_to *to);
	/* What never changes; and what may have changed since the last time. */
	int (*describe)(void *arg, const struct record_to *to);
	int (*update)(void *arg, const struct record_to *to);
	/* What is traced is let go: from now on nothing of it may be read. */
	void (*let_go)(void *arg);
	/* With record_close(). */
	void (*free)(void *arg);
};

/* As record_start(), of anything. The source is taken over, also on error. */
int record_start_source(struct record *r, const struct record_source *source);

#endif
