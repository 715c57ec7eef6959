/* SPDX-License-Identifier: GPL-2.0-or-later */
/* summary-out.h - for session.c: where --summary goes. The file is whole, or as it was. */
#ifndef HVTRACE_FRONTEND_SESSION_SUMMARY_OUT_H
#define HVTRACE_FRONTEND_SESSION_SUMMARY_OUT_H

#include <stdbool.h>

struct session;
struct session_options;

/* Before anything else is opened. Sets s->summary, or there is none. -1 with s->err set. */
int summary_out_open(struct session *s);
/* It would take the place of the trace, as far as that can be told by now. */
bool summary_out_collides(const struct session_options *opt);
/* The guest has been let go: write it. What goes wrong is said on stderr; the exit status. */
int summary_out_finish(struct session *s, int status);
/* What is not written by now leaves nothing. */
void summary_out_close(struct session *s);

#endif
