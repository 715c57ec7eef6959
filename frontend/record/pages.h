/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages.h - takes the pages of all instances out of their rings, in batches. */
#ifndef HVTRACE_FRONTEND_RECORD_PAGES_H
#define HVTRACE_FRONTEND_RECORD_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/journal.h"

struct pages;
struct trace;

/* As journal_put(). */
typedef int (*pages_put)(void *arg, enum journal_kind kind, uint32_t a, uint32_t b,
			 const void *data, size_t len);

struct pages *pages_new(struct trace *t, pages_put put, void *arg); /* NULL: no memory */
void pages_free(struct pages *p);				    /* NULL is allowed */

enum pages_which {
	PAGES_FULL, /* those that are not written to any more */
	PAGES_ALL,  /* and what is in the one that is */
	/*
	 * What tracers of latencies keep of the longest one: their rings hold nothing else that is
	 * worth while, and are not taken from otherwise.
	 */
	PAGES_KEPT,
};

/* Those that there are now, but not for ever: how many, or -errno. */
int pages_take(struct pages *p, enum pages_which which);
/* What per_cpu/cpuN/stats says, into the options CPUSTAT. 0 or -errno. */
int pages_statistics(struct pages *p);

#endif
