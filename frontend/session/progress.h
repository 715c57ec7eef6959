/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.h - said while the guest runs: one line on the terminal, redrawn; losses, once. */
#ifndef HVTRACE_FRONTEND_SESSION_PROGRESS_H
#define HVTRACE_FRONTEND_SESSION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tracer/tracer.h"

struct progress {
	bool wanted; /* and stderr is a terminal: else nothing is drawn */
	double last;
	double limit; /* seconds; 0: none */
	uint64_t hits;
	bool drawn, told;
};

/* Draw on stderr, if that is a terminal and `wanted`. limit_ms: when it ends by itself; 0: never.
 */
void progress_init(struct progress *p, bool wanted, uint64_t limit_ms);
/* seconds: since the start. Draws a few times a second at most. */
void progress_show(struct progress *p, double seconds, const struct trace_status *st);
/* Say on stderr, terminal or not, when the first records are lost on their way from the guest. */
void progress_lost(struct progress *p, const struct trace_status *st, const char *advice);
/* Take the line away. */
void progress_clear(struct progress *p);

#endif
