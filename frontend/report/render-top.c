// SPDX-License-Identifier: GPL-2.0-or-later
/* render-top.c - the table of hvtrace top. */
#include "frontend/report/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/report/duration.h"

enum { LINE_MAX_LEN = 512, WIDE = 100, TINY = 60 };

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

/* What does not fit into the terminal is cut off, and a word put there that says so. */
static void put_cut(const char *line, const char *cut, const struct render_top *opt,
		    struct text *out)
{
	size_t len = strlen(line), room = opt->columns && opt->columns < len ? opt->columns : len;
	size_t shown = room < len && room > strlen(cut) ? room - strlen(cut) : room;

	for (size_t i = 0; i < shown; i++)
		text_putc(out, (unsigned char)line[i] < ' ' || line[i] == 0x7f ? '?' : line[i]);
	text_printf(out, "%s\n", shown < room ? cut : "");
}

static void put_line(const char *line, const struct render_top *opt, struct text *out)
{
	put_cut(line, "", opt, out);
}

/* A narrow terminal has room for the names of functions or for all columns. */
static bool is_narrow(const struct render_top *opt)
{
	return opt->columns && opt->columns < WIDE;
}

/* Then there is no average, unless it is what they are sorted by; a tiny one has one time only. */
static bool is_tiny(const struct render_top *opt)
{
	return opt->columns && opt->columns < TINY;
}

static bool has_self(const struct render_top *opt)
{
	return !is_tiny(opt) || opt->order == ORDER_SELF;
}

static bool has_total(const struct render_top *opt)
{
	return is_tiny(opt) ? opt->order == ORDER_TOTAL
			    : !is_narrow(opt) || opt->order != ORDER_AVG;
}

static bool has_avg(const struct render_top *opt)
{
	return !is_narrow(opt) || opt->order == ORDER_AVG;
}

static bool has_cpu(const struct render_top *opt)
{
	return !is_tiny(opt) || (!has_self(opt) && !has_total(opt) && !has_avg(opt));
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
	snprintf(line, sizeof(line), "     HITS/s   %%CPU%s%s%s%s  FUNCTION",
		 has_cpu(opt) ? "       CPU" : "", has_self(opt) ? "      SELF" : "",
		 has_total(opt) ? "     TOTAL" : "", has_avg(opt) ? "       AVG" : "");
	put_line(line, opt, out);
}

static void put_row(const struct calltree *t, uint32_t node, const struct render_top *opt,
		    struct text *out)
{
	const struct call_stats *st = &t->node[node].st;
	char line[LINE_MAX_LEN], hits[RENDER_COUNT_LEN], share[16] = "-", cpu[DURATION_LEN] = "";
	char self[DURATION_LEN] = "", total[DURATION_LEN] = "", avg[DURATION_LEN] = "";

	if (t->has_cpu)
		snprintf(share, sizeof(share), "%.1f",
			 opt->covered > 0 ? (double)st->cpu / opt->covered / 1e7 : 0);
	if (has_cpu(opt) && t->has_cpu)
		duration_text(st->cpu, cpu);
	else if (has_cpu(opt))
		snprintf(cpu, sizeof(cpu), "-");
	if (has_self(opt))
		duration_text(st->self, self);
	if (has_total(opt))
		duration_text(st->total, total);
	if (has_avg(opt))
		duration_text(order_value(st, ORDER_AVG), avg);
	snprintf(line, sizeof(line), "%11s %6s%*s%*s%*s%*s  %s",
		 render_count(per_second(hits_of(st), opt), hits), share, has_cpu(opt) ? 10 : 0,
		 cpu, has_self(opt) ? 10 : 0, self, has_total(opt) ? 10 : 0, total,
		 has_avg(opt) ? 10 : 0, avg, calltree_name_of(t, node));
	put_cut(line, "...", opt, out);
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
