// SPDX-License-Identifier: GPL-2.0-or-later
/* render-latency.c - the histogram of latencies as a table, each row with bars of its own. */
#include "frontend/report/duration.h"
#include "frontend/report/latency.h"
#include "frontend/report/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* From little to as much as there is in any bucket of the row. */
static const char *const unicode_bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii_bars[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};

enum { BARS = sizeof(ascii_bars) / sizeof(ascii_bars[0]), SCALE_LEN = 40 };

/* The columns that histograms take, all with the same scale. */
struct scale {
	unsigned int first, last;
	const char *const *bars;
	int width;
	bool errors; /* a column for them, too */
	char text[SCALE_LEN];
};

/* "64 ns" */
static const char *bound_text(unsigned int bucket, char buf[DURATION_LEN])
{
	return duration_text(latency_bucket_begin(bucket), buf);
}

static void scale_init(struct scale *s, const struct latency_report *r, size_t rows, bool blocks)
{
	char from[DURATION_LEN], to[DURATION_LEN];
	int len;

	latency_report_range(r, rows, &s->first, &s->last);
	s->bars = blocks ? unicode_bars : ascii_bars;
	s->errors = latency_words(r)->errors;
	len = snprintf(s->text, sizeof(s->text), "%s-%s", bound_text(s->first, from),
		       bound_text(s->last + 1, to));
	s->width = (int)(s->last - s->first + 1);
	s->width = len > s->width ? len : s->width;
}

/* What is there at all shows. */
static void put_bars(const struct latency_row *row, const struct scale *s, struct text *out)
{
	uint64_t most = 1;

	for (unsigned int b = s->first; b <= s->last; b++)
		most = row->bucket[b] > most ? row->bucket[b] : most;
	for (unsigned int b = s->first; b <= s->last; b++) {
		double share = (double)row->bucket[b] / (double)most * (BARS - 2);

		text_puts(out, s->bars[row->bucket[b] ? 1 + (unsigned int)(share + 0.5) : 0]);
	}
	for (int i = (int)(s->last - s->first + 1); i < s->width; i++)
		text_putc(out, ' ');
}

static void put_figures(const struct latency_row *row, const struct scale *s, struct text *out)
{
	char count[RENDER_COUNT_LEN], mean[DURATION_LEN], p99[DURATION_LEN], max[DURATION_LEN];
	char total[DURATION_LEN];

	text_printf(out, "%12s", render_count(row->count, count));
	if (s->errors)
		text_printf(out, " %10s", render_count(row->errors, count));
	text_printf(out, " %10s %10s %10s %10s  ", duration_text(row->total, total),
		    duration_text(latency_mean(row), mean),
		    duration_text(latency_percentile(row, 99), p99), duration_text(row->max, max));
	put_bars(row, s, out);
}

/* The first word of what there are several of ends in an s. */
static void put_number(size_t nr, const char *things, struct text *out)
{
	size_t word = strcspn(things, " ");

	if (nr == 1)
		text_printf(out, "1 %.*s%s", (int)word - 1, things, things + word);
	else
		text_printf(out, "%zu %s", nr, things);
}

static void put_summary(const struct latency_report *r, size_t shown, struct text *out)
{
	char buf[RENDER_COUNT_LEN];

	text_printf(out, "# %s: ", r->tracer);
	if (shown < r->nr)
		text_printf(out, "%zu of ", shown);
	put_number(r->nr, latency_words(r)->rows, out);
	if (r->left_out)
		text_printf(out, "; %s %s of others are left out", render_count(r->left_out, buf),
			    latency_words(r)->each);
	if (r->gaps)
		text_printf(out, "; records were lost %s times", render_count(r->gaps, buf));
	text_puts(out, "\n");
}

static void put_stack(const struct latency_row *row, struct text *out)
{
	const char *at = row->stack;

	while (at) {
		const char *tab = strchr(at, '\t');

		text_printf(out, "%12s => ", "");
		text_add(out, at, tab ? (size_t)(tab - at) : strlen(at));
		text_putc(out, '\n');
		at = tab ? tab + 1 : NULL;
	}
}

void latency_put_names(const struct latency_row *row, struct text *out)
{
	render_name(row->from, out);
	if (!*row->to)
		return;
	text_puts(out, " -> ");
	render_name(row->to, out);
}

void render_latency(const struct latency_report *r, const struct latency_view *view,
		    struct text *out)
{
	size_t shown = r->nr < view->rows ? r->nr : view->rows;
	struct latency_row sum;
	struct scale scale;

	scale_init(&scale, r, r->nr, view->blocks);
	put_summary(r, shown, out);
	text_printf(out, "%12s", "COUNT");
	if (scale.errors)
		text_printf(out, " %10s", "ERRORS");
	text_printf(out, " %10s %10s %10s %10s  %-*s  %s\n", "TOTAL", "MEAN", "P99 <=", "MAX",
		    scale.width, scale.text, latency_words(r)->column);
	for (size_t i = 0; i < shown; i++) {
		put_figures(&r->row[i], &scale, out);
		text_puts(out, "  ");
		latency_put_names(&r->row[i], out);
		text_putc(out, '\n');
		if (view->stacks)
			put_stack(&r->row[i], out);
	}
	latency_report_sum(r, &sum);
	put_figures(&sum, &scale, out);
	text_puts(out, "  all\n");
}
