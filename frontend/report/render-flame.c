// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * render-flame.c - a flame graph: callers below what they call, each as wide as its share. The
 * picture needs no other files; a browser that runs its script can zoom and search in it.
 */
#include "frontend/report/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/report/duration.h"
#include "frontend/report/flame-script.h"
#include "frontend/report/subsystem.h"

enum {
	MARGIN = 12,
	ROW = 18,
	HEAD = 58, /* the title's and the line below it */
	FOOT = 40, /* the legend's */
	SHADES = 13,
};

static const double smallest = 0.3;	/* pixels: what is narrower is left out */
static const double letter_width = 7.0; /* of the font, at its size in the picture */

struct flame {
	const struct calltree *t;
	const struct render_flame *opt;
	struct text *out;
	uint64_t sum;
	double scale; /* pixels of one unit */
	unsigned int rows;
	bool used[SUBSYSTEM_NR];
};

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static unsigned int measure(const struct flame *f, uint32_t node)
{
	unsigned int rows = 0;

	for (uint32_t c = f->t->node[node].child; c != CALLTREE_NONE; c = f->t->node[c].next) {
		unsigned int below;

		if ((double)weight_sum(f->t, c, f->opt->by) * f->scale < smallest)
			continue;
		below = measure(f, c) + (*calltree_name_of(f->t, c) ? 1 : 0);
		if (below > rows)
			rows = below;
	}
	return rows;
}

/* --- frames ------------------------------------------------------------------------------- */

/* Shades of one colour tell neighbours apart. */
static void put_colour(struct flame *f, const char *name)
{
	enum subsystem s = subsystem_of(name);
	unsigned int hash = 0;
	int rgb[3];

	for (const char *p = name; *p; p++)
		hash = hash * 31 + (unsigned char)*p;
	for (int i = 0; i < 3; i++)
		rgb[i] = subsystems[s].rgb[i] + 2 * ((int)(hash % SHADES) - SHADES / 2);
	f->used[s] = true;
	text_printf(f->out, "#%02x%02x%02x", (unsigned int)rgb[0], (unsigned int)rgb[1],
		    (unsigned int)rgb[2]);
}

static void put_amount(const struct flame *f, uint64_t n)
{
	char buf[DURATION_LEN], count[RENDER_COUNT_LEN];

	if (f->opt->by == WEIGHT_CALLS)
		text_printf(f->out, "%s calls", render_count(n, count));
	else
		text_puts(f->out, duration_text(n, buf));
}

static void put_tooltip(const struct flame *f, uint32_t node, uint64_t weight)
{
	const struct call_stats *st = &f->t->node[node].st;
	const char *name = calltree_name_of(f->t, node);
	char count[RENDER_COUNT_LEN];

	text_puts(f->out, "<title>");
	render_xml(name, strlen(name), f->out);
	text_puts(f->out, "\n");
	put_amount(f, weight);
	text_printf(f->out, ", %.2f %%", 100 * (double)weight / (double)f->sum);
	if (weight != weight_self(st, f->opt->by)) {
		text_puts(f->out, "\nself: ");
		put_amount(f, weight_self(st, f->opt->by));
	}
	if (st->calls && f->opt->by != WEIGHT_CALLS)
		text_printf(f->out, "\n%s call%s", render_count(st->calls, count),
			    st->calls == 1 ? "" : "s");
	text_puts(f->out, "</title>");
}

static void put_label(const struct flame *f, const char *name, double x, double y, double width)
{
	size_t len = strlen(name), room = (size_t)((width - 5) / letter_width);

	if (width < 5 + 3 * letter_width || (room < 6 && len > room))
		return;
	text_printf(f->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + ROW - 5);
	if (len <= room) {
		render_xml(name, len, f->out);
	} else {
		render_xml(name, room - 2, f->out);
		text_puts(f->out, "..");
	}
	text_puts(f->out, "</text>");
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void put_frames(struct flame *f, uint32_t parent, double x, unsigned int row)
{
	size_t nr;
	uint32_t *sorted = order_children(f->t, parent, ORDER_NAME, &nr);

	for (size_t i = 0; i < nr; i++) {
		uint64_t weight = weight_sum(f->t, sorted[i], f->opt->by);
		const char *name = calltree_name_of(f->t, sorted[i]);
		double width = (double)weight * f->scale,
		       y = HEAD + (double)ROW * (f->rows - 1 - row);
		double gap = width > 3 ? 0.5 : 0;

		if (width < smallest)
			continue;
		if (*name) {
			text_puts(f->out, "<g>");
			put_tooltip(f, sorted[i], weight);
			text_printf(f->out,
				    "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" "
				    "rx=\"1.5\" fill=\"",
				    x, y, width - gap, ROW - 1);
			put_colour(f, name);
			text_puts(f->out, "\"/>");
			put_label(f, name, x, y, width);
			text_puts(f->out, "</g>\n");
		}
		put_frames(f, sorted[i], x, row + (*name ? 1 : 0));
		x += width;
	}
	free(sorted);
}

/* --- around them -------------------------------------------------------------------------- */

static void put_head(struct flame *f, unsigned int height)
{
	static const char *const what[] = {[WEIGHT_CPU] = "time on CPU",
					   [WEIGHT_TIME] = "time, sleep included",
					   [WEIGHT_CALLS] = "calls"};
	char calls[RENDER_COUNT_LEN];

	text_printf(f->out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		    "viewBox=\"0 0 %u %u\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
		    "monospace\" font-size=\"11.5\" fill=\"#1c1c1c\">\n"
		    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fcfbf8\"/>\n"
		    "<text x=\"%d\" y=\"26\" font-family=\"DejaVu Sans, Helvetica, Arial, "
		    "sans-serif\" font-size=\"17\" font-weight=\"bold\">",
		    f->opt->width, height, f->opt->width, height, MARGIN);
	render_xml(f->opt->title, strlen(f->opt->title), f->out);
	text_printf(
		f->out,
		"</text>\n<text id=\"told\" x=\"%d\" y=\"45\" font-family=\"DejaVu Sans, Helvetica, Arial, "
		"sans-serif\" font-size=\"12\" fill=\"#666\">width: %s",
		MARGIN, what[f->opt->by]);
	if (f->opt->by != WEIGHT_CALLS) {
		text_puts(f->out, ", ");
		put_amount(f, f->sum);
	}
	text_printf(f->out, " \xc2\xb7 %s calls",
		    render_count(render_calls(f->t, CALLTREE_ROOT), calls));
	if (f->t->cpus)
		text_printf(f->out, " \xc2\xb7 %u vCPU%s", f->t->cpus, f->t->cpus == 1 ? "" : "s");
	text_puts(f->out, "</text>\n");
}

/* Only the colours that there are. */
static void put_legend(struct flame *f, unsigned int height)
{
	double x = MARGIN, y = height - 24;

	text_puts(f->out, "<g font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" "
			  "font-size=\"12\" fill=\"#444\">\n");
	for (int n = 1; n <= SUBSYSTEM_NR; n++) {
		const struct subsystem_info *s = &subsystems[n % SUBSYSTEM_NR]; /* other: last */

		if (!f->used[n % SUBSYSTEM_NR])
			continue;
		text_printf(f->out,
			    "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" rx=\"2\" "
			    "fill=\"#%02x%02x%02x\"/><text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
			    x, y, s->rgb[0], s->rgb[1], s->rgb[2], x + 17, y + 10.5, s->name);
		x += 42 + letter_width * (double)strlen(s->name);
	}
	text_puts(f->out, "</g>\n");
}

void render_flame(const struct calltree *t, const struct render_flame *opt, struct text *out)
{
	struct flame f = {.t = t, .opt = opt, .out = out};
	unsigned int height;

	f.sum = weight_sum(t, CALLTREE_ROOT, opt->by);
	if (f.sum)
		f.scale = (double)(opt->width - 2 * MARGIN) / (double)f.sum;
	f.rows = f.sum ? measure(&f, CALLTREE_ROOT) : 0;
	height = HEAD + FOOT + ROW * f.rows;
	put_head(&f, height);
	text_puts(out, "<g id=\"frames\">\n");
	if (f.sum)
		put_frames(&f, CALLTREE_ROOT, MARGIN, 0);
	text_puts(out, "</g>\n");
	if (!f.sum)
		text_printf(out, "<text x=\"%d\" y=\"%d\">nothing was recorded</text>\n", MARGIN,
			    HEAD + 12);
	put_legend(&f, height);
	text_puts(out, "<script><![CDATA[\n");
	text_puts(out, flame_script);
	text_puts(out, "]]></script>\n</svg>\n");
}
