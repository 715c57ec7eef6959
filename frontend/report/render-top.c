// SPDX-License-Identifier: GPL-2.0-or-later
/* render-top.c - the table of hvtrace top. */
#include "frontend/report/render.h"

#include <stdio.h>
#include <stdlib.h>

#include "frontend/report/duration.h"

enum { LINE_MAX_LEN = 512 };

/* Calls that began before are not hits of this while. */
static uint64_t hits_of(const struct call_stats *st)
{
	return st->calls - st->begun;
}

static uint64_t all_hits(const struct calltree *t, uint32_t all)
{
	uint64_t sum = 0;

	for (uint32_t c = t->node[all].child; c != CALLTREE_NONE; c = t->node[c].next)
		sum += hits_of(&t->node[c].st);
	return sum;
}

static uint64_t per_second(uint64_t n, const struct render_top *opt)
{
	return opt->covered > 0 ? (uint64_t)((double)n / opt->covered + 0.5) : 0;
}

/* What does not fit into the terminal is cut off. */
static void put_line(const char *line, const struct render_top *opt, struct text *out)
{
	unsigned int n = 0;

	for (; *line && (!opt->columns || n < opt->columns); line++, n++)
		text_putc(out, (unsigned char)*line < ' ' || *line == 0x7f ? '?' : *line);
	text_putc(out, '\n');
}

static void put_head(const struct calltree *t, uint32_t all, const struct render_top *opt,
		     size_t nr, struct text *out)
{
	char line[LINE_MAX_LEN], calls[RENDER_COUNT_LEN];
	int len;

	len = snprintf(line, sizeof(line), "hvtrace top%s%.64s: %s calls/s of %zu functions, ",
		       opt->guest ? " - " : "", opt->guest ? opt->guest : "",
		       render_count(per_second(all_hits(t, all), opt), calls), nr);
	if (opt->covered < 0.95 * opt->seconds)
		snprintf(line + len, sizeof(line) - (size_t)len,
			 "the last %.2f s of %.2f, which the buffers hold", opt->covered,
			 opt->seconds);
	else
		snprintf(line + len, sizeof(line) - (size_t)len, "%.2f s", opt->seconds);
	put_line(line, opt, out);
	text_putc(out, '\n');
	put_line("      HITS/s    %CPU        CPU       SELF      TOTAL        AVG  FUNCTION", opt,
		 out);
}

static void put_row(const struct calltree *t, uint32_t node, const struct render_top *opt,
		    struct text *out)
{
	const struct call_stats *st = &t->node[node].st;
	char line[LINE_MAX_LEN], hits[RENDER_COUNT_LEN], share[16] = "-", cpu[DURATION_LEN] = "-";
	char self[DURATION_LEN], total[DURATION_LEN], avg[DURATION_LEN];

	if (t->has_cpu) {
		snprintf(share, sizeof(share), "%.1f",
			 opt->covered > 0 ? (double)st->cpu / opt->covered / 1e7 : 0);
		duration_text(st->cpu, cpu);
	}
	snprintf(line, sizeof(line), "%12s %7s %10s %10s %10s %10s  %s",
		 render_count(per_second(hits_of(st), opt), hits), share, cpu,
		 duration_text(st->self, self), duration_text(st->total, total),
		 duration_text(order_value(st, ORDER_AVG), avg), calltree_name_of(t, node));
	put_line(line, opt, out);
}

void render_top(const struct calltree *t, const struct render_top *opt, struct text *out)
{
	uint32_t all = t->node[CALLTREE_ROOT].child;
	uint32_t *sorted;
	size_t nr, shown;

	if (all == CALLTREE_NONE)
		return;
	sorted = order_children(t, all, opt->order, &nr);
	put_head(t, all, opt, nr, out);
	shown = opt->rows > RENDER_TOP_HEAD ? opt->rows - RENDER_TOP_HEAD : opt->rows ? 0 : nr;
	for (size_t i = 0; i < nr && i < shown; i++)
		put_row(t, sorted[i], opt, out);
	free(sorted);
}
