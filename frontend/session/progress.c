// SPDX-License-Identifier: GPL-2.0-or-later
/* progress.c - said while the guest runs: one line on the terminal, redrawn; losses, once. */
#include "frontend/session/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lib/escape.h"
#include "frontend/lib/meter.h"
#include "frontend/lib/output.h"

#define PROGRESS_PERIOD 0.2 /* seconds */

void progress_init(struct progress *p, bool wanted, uint64_t limit_ms)
{
	memset(p, 0, sizeof(*p));
	p->wanted = wanted && isatty(STDERR_FILENO);
	p->limit = (double)limit_ms / 1000;
}

void progress_show(struct progress *p, double seconds, const struct trace_status *st)
{
	struct escape escape = {0};
	struct text line = {0};
	char left[METER_TIME_LEN];
	double rate;

	if (!p->wanted || seconds - p->last < PROGRESS_PERIOD)
		return;
	rate = (double)(st->hits - p->hits) / (seconds - p->last);
	text_printf(&line, "%7.1f s  %" PRIu64 " events  %.0f/s  %" PRIu64 " lost  ", seconds,
		    st->hits, rate, st->lost);
	if (p->limit > seconds)
		text_printf(&line, "%s left  ", meter_time((uint64_t)(p->limit - seconds), left));
	if (st->at)
		escape_add(&escape, &line, st->at, strlen(st->at));
	escape_end(&escape, &line);
	output_status(line.buf, line.len);
	text_free(&line);
	p->last = seconds;
	p->hits = st->hits;
	p->drawn = true;
}

void progress_lost(struct progress *p, const struct trace_status *st, const char *advice)
{
	if (p->told || !st->staging_lost)
		return;
	p->told = true;
	fprintf(stderr, "hvtrace: %" PRIu64 " records are lost so far: %s\n", st->staging_lost,
		advice);
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		output_status("", 0);
	p->drawn = false;
}
