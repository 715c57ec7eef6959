/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace-out.h - for session.c: where a trace goes, printed at its end or recorded all along. */
#ifndef HVTRACE_FRONTEND_SESSION_TRACE_OUT_H
#define HVTRACE_FRONTEND_SESSION_TRACE_OUT_H

#include "frontend/session/session.h"

/* Before a machine is there. -1 with s->err set. */
int trace_out_open(struct session *s);
/* The trace's files are there: what it records goes to its file, if that is wanted. The same. */
int trace_out_begin(struct session *s, const char *guest);
/*
 * The guest's boot is over, and what it has recorded is printed, as far as it is; more comes behind
 * it. 0 or -errno, of which nothing was said.
 */
int trace_out_part(struct session *s);
/* What is printed from here on is of the next boot. */
void trace_out_next(struct session *s);
/* The guest has been let go. What goes wrong is said on stderr; the exit status. */
int trace_out_finish(struct session *s);

#endif
