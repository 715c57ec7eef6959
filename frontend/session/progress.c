// SPDX-License-Identifier: GPL-2.0-or-later
/* progress.c - said while the guest runs: one line on the terminal, redrawn; losses, once. */
#include "frontend/session/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_PERIOD 0.2 /* seconds */

void progress_init(struct progress *p, bool wanted)
{
	memset(p, 0, sizeof(*p));
	p->out = wanted && isatty(STDERR_FILENO) ? stderr : NULL;
}

void progress_show(struct progress *p, double seconds, const struct trace_status *st)
{
	double rate;

	if (!p->out || seconds - p->last < PROGRESS_PERIOD)
		return;
	rate = (double)(st->hits - p->hits) / (seconds - p->last);
	fprintf(p->out, "\r%7.1f s  %" PRIu64 " events  %.0f/s  %" PRIu64 " lost  %s\033[K",
		seconds, st->hits, rate, st->lost, st->at ? st->at : "");
	fflush(p->out);
	p->last = seconds;
	p->hits = st->hits;
	p->drawn = true;
}

void progress_lost(struct progress *p, const struct trace_status *st, const char *advice)
{
	if (p->told || !st->staging_lost)
		return;
	p->told = true;
	progress_clear(p);
	fprintf(stderr, "hvtrace: %" PRIu64 " records are lost so far: %s\n", st->staging_lost,
		advice);
}

void progress_clear(struct progress *p)
{
	if (p->out && p->drawn)
		fputs("\r\033[K", p->out);
	p->drawn = false;
}
