/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worst.h - the longest waits, and who had the vCPU meanwhile. */
#ifndef HVTRACE_FRONTEND_JOBS_WORST_H
#define HVTRACE_FRONTEND_JOBS_WORST_H

#include "frontend/jobs/local.h"

struct worst;

/* So many of them. NULL: no memory. */
struct worst *worst_new(size_t nr);
void worst_free(struct worst *x); /* NULL is allowed */

/* A vCPU goes over to another task; 0: to none. NULL comm: not known. */
void worst_switch(struct worst *x, unsigned int cpu, uint64_t now, int32_t next, const char *comm);
/* Records were lost: who ran is not known any more. */
void worst_lost(struct worst *x, unsigned int cpu);
/* A task has waited from then until now for that vCPU. Before worst_switch(). */
void worst_wait(struct worst *x, const struct job_task *t, unsigned int cpu, uint64_t now);
/* What there is goes to r, the longest first. */
void worst_end(struct worst *x, struct job_result *r);

#endif
