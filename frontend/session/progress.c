// SPDX-License-Identifier: GPL-2.0-or-later
/* progress.c - said while the guest runs: one line on the terminal, redrawn; losses, once. */
#include "frontend/session/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lib/escape.h"
#include "frontend/lib/output.h"

#define PROGRESS_PERIOD 0.2 /* seconds */

void progress_init(struct progress *p, bool wanted)
{
	memset(p, 0, sizeof(*p));
	p->wanted = wanted && isatty(STDERR_FILENO);
}

void progress_show(struct progress *p, double seconds, const struct trace_status *st)
{
	struct escape escape = {0};
	struct text line = {0};
	double rate;

	if (!p->wanted || seconds - p->last < PROGRESS_PERIOD)
		return;
	rate = (double)(st->hits - p->hits) / (seconds - p->last);
	text_printf(&line, "\r%7.1f s  %" PRIu64 " events  %.0f/s  %" PRIu64 " lost  ", seconds,
		    st->hits, rate, st->lost);
	if (st->at)
		escape_add(&escape, &line, st->at, strlen(st->at));
	escape_end(&escape, &line);
	text_puts(&line, "\033[K");
	output_control(stderr, STDERR_FILENO, line.buf, line.len);
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
	progress_clear(p);
	fprintf(stderr, "hvtrace: %" PRIu64 " records are lost so far: %s\n", st->staging_lost,
		advice);
}

void progress_percent(struct progress *p, const char *what, unsigned int percent)
{
	char line[160];
	int len;

	if (!p->wanted || (p->drawn && percent == p->percent))
		return;
	len = snprintf(line, sizeof(line), "\r%.120s  %u %%\033[K", what, percent);
	output_control(stderr, STDERR_FILENO, line, (size_t)len);
	p->percent = percent;
	p->drawn = true;
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		output_control(stderr, STDERR_FILENO, "\r\033[K", 4);
	p->drawn = false;
}
