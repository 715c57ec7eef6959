/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.h - the rows of a report by their keys. */
#ifndef HVTRACE_FRONTEND_JOBS_ROWS_H
#define HVTRACE_FRONTEND_JOBS_ROWS_H

#include "frontend/jobs/jobs.h"
#include "frontend/jobs/keyed.h"

struct rows {
	struct latency_report *report; /* the caller's */
	struct keyed by_key;
	size_t room;
};

/* False: no memory. */
bool rows_init(struct rows *x, struct latency_report *report);
void rows_exit(struct rows *x);
/*
 * The row of a key, which is called so from now on. What there is no room for goes to one that is
 * called "others". NULL: no memory. A pointer lasts until the next call.
 */
struct latency_row *rows_get(struct rows *x, uint64_t key, const char *from, const char *to);

#endif
