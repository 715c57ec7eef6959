// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * render-latency-svg.c - the histogram of latencies as a picture: a panel for all, and one for each
 * row, all with the same scale of times. It needs neither scripts nor other files.
 */
#include "frontend/report/duration.h"
#include "frontend/report/latency.h"
#include "frontend/report/render.h"

#include <string.h>

enum {
	MARGIN = 16,
	HEAD = 64,
	COLUMNS = 2,
	PANEL_WIDTH = 580,
	PANEL_HEIGHT = 198,
	GAP = 16,
	PLOT_LEFT = 14,
	PLOT_TOP = 66,	   /* below the panel's two lines of text */
	PLOT_HEIGHT = 100, /* and below it the scale */
	LABEL_WIDTH = 64,  /* what a time takes there */
	NAMES_LEN = 70,	   /* letters that a panel has room for */
};

struct picture {
	const struct latency_report *r;
	struct text *out;
	unsigned int first, last; /* buckets */
	double step;		  /* pixels of one */
};

/* As much of a name as there is room for, with what tells that more was there. */
static void put_short(const char *name, size_t room, struct text *out)
{
	size_t len = strlen(name);

	render_xml(name, len > room ? room - 2 : len, out);
	if (len > room)
		text_puts(out, "..");
}

static void put_both(const struct latency_row *row, struct text *out)
{
	size_t from = strlen(row->from), to = strlen(row->to), half = NAMES_LEN / 2;
	size_t room = to < half ? NAMES_LEN - to : half;

	put_short(row->from, room, out);
	text_puts(out, " \xe2\x86\x92 ");
	room = from < half ? NAMES_LEN - from : half;
	put_short(row->to, room, out);
}

static void put_names(const struct latency_row *row, struct text *out)
{
	if (!*row->from)
		text_puts(out, "all");
	else if (*row->to)
		put_both(row, out);
	else
		put_short(row->from, NAMES_LEN, out);
}

/* --- panels ---------------------------------------------------------------------------------- */

static void put_bar(const struct picture *p, const struct latency_row *row, unsigned int b,
		    uint64_t most)
{
	double height = (double)row->bucket[b] / (double)most * PLOT_HEIGHT;
	double x = PLOT_LEFT + p->step * (b - p->first);
	char from[DURATION_LEN], to[DURATION_LEN], count[RENDER_COUNT_LEN];

	if (!row->bucket[b])
		return;
	if (height < 1.5)
		height = 1.5; /* to be seen */
	text_printf(p->out,
		    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1.5\" "
		    "fill=\"#d9713c\"><title>%s to %s: %s</title></rect>\n",
		    x + 0.5, PLOT_TOP + PLOT_HEIGHT - height, p->step - 1, height,
		    duration_text(latency_bucket_begin(b), from),
		    duration_text(latency_bucket_begin(b + 1), to),
		    render_count(row->bucket[b], count));
}

/* Times below the plot, at as many places as there is room for. */
static void put_scale(const struct picture *p)
{
	unsigned int every = (unsigned int)(LABEL_WIDTH / p->step) + 1;
	char buf[DURATION_LEN];

	text_printf(p->out,
		    "<path d=\"M%d %d H%d\" stroke=\"#bbb\"/>\n<g font-size=\"10.5\" "
		    "fill=\"#777\">\n",
		    PLOT_LEFT, PLOT_TOP + PLOT_HEIGHT, PANEL_WIDTH - PLOT_LEFT);
	for (unsigned int b = p->first; b <= p->last; b += every) {
		double x = PLOT_LEFT + p->step * (b - p->first);

		if (x + LABEL_WIDTH > PANEL_WIDTH)
			break;
		text_printf(p->out, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x,
			    PLOT_TOP + PLOT_HEIGHT + 16,
			    duration_text(latency_bucket_begin(b), buf));
	}
	text_puts(p->out, "</g>\n");
}

/* How many the highest bar is. */
static void put_count(uint64_t most, struct text *out)
{
	char count[RENDER_COUNT_LEN];

	text_printf(out,
		    "<path d=\"M%d %d H%d\" stroke=\"#eee\"/><text x=\"%d\" y=\"%d\" "
		    "font-size=\"10.5\" fill=\"#777\">%s</text>\n",
		    PLOT_LEFT, PLOT_TOP, PANEL_WIDTH - PLOT_LEFT, PLOT_LEFT, PLOT_TOP - 5,
		    render_count(most, count));
}

/* What 99 % took at most, as a line: only the bucket is known that it ends in. */
static void put_p99(const struct picture *p, const struct latency_row *row)
{
	uint64_t p99 = latency_percentile(row, 99);
	unsigned int b = p->first;
	double x;

	while (b <= p->last && latency_bucket_begin(b + 1) <= p99)
		b++;
	x = PLOT_LEFT + p->step * (b + 1 - p->first);
	text_printf(p->out,
		    "<path d=\"M%.1f %d V%d\" stroke=\"#4a6da7\" stroke-dasharray=\"3 3\"/>"
		    "<text x=\"%.1f\" y=\"%d\" font-size=\"10.5\" fill=\"#4a6da7\" "
		    "text-anchor=\"end\">99 %%</text>\n",
		    x, PLOT_TOP - 14, PLOT_TOP + PLOT_HEIGHT, x - 4, PLOT_TOP - 5);
}

static void put_panel(const struct picture *p, const struct latency_row *row, double x, double y)
{
	char count[RENDER_COUNT_LEN], mean[DURATION_LEN], p99[DURATION_LEN], max[DURATION_LEN];
	char total[DURATION_LEN];
	uint64_t most = 1;

	for (unsigned int b = p->first; b <= p->last; b++)
		most = row->bucket[b] > most ? row->bucket[b] : most;
	text_printf(p->out,
		    "<g transform=\"translate(%.0f %.0f)\">\n<rect width=\"%d\" height=\"%d\" "
		    "rx=\"4\" fill=\"#fff\" stroke=\"#e3e0d8\"/>\n<text x=\"%d\" y=\"20\" "
		    "font-weight=\"bold\">",
		    x, y, PANEL_WIDTH, PANEL_HEIGHT, PLOT_LEFT);
	put_names(row, p->out);
	text_printf(p->out,
		    "</text>\n<text x=\"%d\" y=\"38\" fill=\"#666\">%s in %s \xc2\xb7 mean %s "
		    "\xc2\xb7 p99 \xe2\x89\xa4 %s \xc2\xb7 max %s</text>\n",
		    PLOT_LEFT, render_count(row->count, count), duration_text(row->total, total),
		    duration_text(latency_mean(row), mean),
		    duration_text(latency_percentile(row, 99), p99), duration_text(row->max, max));
	for (unsigned int b = p->first; b <= p->last; b++)
		put_bar(p, row, b, most);
	put_scale(p);
	put_count(most, p->out);
	put_p99(p, row);
	text_puts(p->out, "</g>\n");
}

/* --- around them ----------------------------------------------------------------------------- */

static void put_head(const struct picture *p, size_t shown, const char *title)
{
	static const char *const sans = "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\"";
	size_t lines = (shown + (p->r->nr > 1) + COLUMNS - 1) / COLUMNS;
	unsigned int width = 2 * MARGIN + COLUMNS * PANEL_WIDTH + (COLUMNS - 1) * GAP;
	size_t height = HEAD + lines * (PANEL_HEIGHT + GAP) + MARGIN;
	char count[RENDER_COUNT_LEN], total[DURATION_LEN], max[DURATION_LEN];
	struct latency_row sum;

	latency_report_sum(p->r, &sum);
	text_printf(p->out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%zu\" "
		    "viewBox=\"0 0 %u %zu\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
		    "monospace\" font-size=\"11.5\" fill=\"#1c1c1c\">\n"
		    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fcfbf8\"/>\n"
		    "<text x=\"%d\" y=\"28\" %s font-size=\"17\" font-weight=\"bold\">",
		    width, height, width, height, MARGIN, sans);
	render_xml(title, strlen(title), p->out);
	text_printf(p->out,
		    "</text>\n<text x=\"%d\" y=\"48\" %s font-size=\"12\" fill=\"#666\">"
		    "%s %s in %s, at most %s \xc2\xb7 %zu of %zu %s</text>\n",
		    MARGIN, sans, render_count(sum.count, count), latency_words(p->r)->each,
		    duration_text(sum.total, total), duration_text(sum.max, max), shown, p->r->nr,
		    latency_words(p->r)->rows);
}

void render_latency_svg(const struct latency_report *r, size_t rows, const char *title,
			struct text *out)
{
	size_t shown = r->nr < rows ? r->nr : rows, all = r->nr > 1;
	struct picture p = {.r = r, .out = out};
	struct latency_row sum;

	latency_report_sum(r, &sum);
	if (latency_report_range(r, r->nr, &p.first, &p.last))
		p.step = (PANEL_WIDTH - 2.0 * PLOT_LEFT) / (p.last - p.first + 1);
	put_head(&p, shown, title);
	for (size_t i = 0; i < shown + all; i++) {
		size_t line = i / COLUMNS, column = i % COLUMNS;

		put_panel(&p, i < all ? &sum : &r->row[i - all],
			  MARGIN + (double)column * (PANEL_WIDTH + GAP),
			  HEAD + (double)line * (PANEL_HEIGHT + GAP));
	}
	text_puts(out, "</svg>\n");
}
