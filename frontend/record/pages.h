/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages.h - takes the pages of all instances out of their rings, in batches. */
#ifndef HVTRACE_FRONTEND_RECORD_PAGES_H
#define HVTRACE_FRONTEND_RECORD_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "frontend/record/source.h"

struct pages;
struct trace;

struct pages *pages_new(struct trace *t); /* NULL: no memory */
void pages_free(struct pages *p);	  /* NULL is allowed */

/* Those that there are now, but not for ever: how many, or -errno. */
int pages_take(struct pages *p, enum record_pages which, const struct record_to *to);
/* What per_cpu/cpuN/stats says, into the options CPUSTAT. 0 or -errno. */
int pages_statistics(struct pages *p, const struct record_to *to);

#endif
