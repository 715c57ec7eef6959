// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * boot-svg.c - a boot as a picture: the phases, the initcalls of each task on a line of its own,
 * and the slowest of them one below the other. It needs neither scripts nor other files.
 */
#include "frontend/jobs/boot.h"

#include "frontend/report/duration.h"
#include "frontend/report/render.h"

#include <stdlib.h>
#include <string.h>

enum {
	WIDTH = 1280,
	MARGIN = 16,
	HEAD = 64,
	BAND = 24, /* phases */
	LANE = 20, /* a task */
	LANES_MAX = 16,
	ROW = 17, /* one of the slowest */
	AXIS = 22,
	GAP = 14,
	LETTER = 7, /* of the monospaced font */
	NAME_MAX_LETTERS = 60,
};

static const char *const sans = "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\"";
/* A level's colour; what is none is grey. */
static const char *const colours[] = {"#7a8fb8", "#5fa8a0", "#8fb36b", "#c9b04f", "#d98a4a",
				      "#cf6a5d", "#b0709c", "#8577b8", "#6d9cc4", "#9a8f80"};

struct picture {
	const struct boot *b;
	struct text *out;
	double scale; /* pixels for a nanosecond */
	int32_t lane[LANES_MAX];
	size_t nr_lanes;
	unsigned int height;
};

static double x_of(const struct picture *p, uint64_t ns)
{
	return MARGIN + p->scale * (double)ns;
}

static const char *colour_of(int level)
{
	return level < 0 ? "#d8d4c9"
			 : colours[(size_t)level % (sizeof(colours) / sizeof(*colours))];
}

/* So wide that it is seen. */
static double width_of(const struct picture *p, uint64_t from, uint64_t to)
{
	double width = p->scale * (double)(to - from);

	return width < 0.6 ? 0.6 : width;
}

/* --- time ---------------------------------------------------------------------------------------
 */

/* The time between two marks: 1, 2 or 5 of some power of ten, some dozen of them. */
static uint64_t step_of(uint64_t until)
{
	uint64_t step = 1;

	for (;;) {
		if (until / step <= 13)
			return step;
		if (until / (2 * step) <= 13)
			return 2 * step;
		if (until / (5 * step) <= 13)
			return 5 * step;
		step *= 10;
	}
}

static void put_axis(const struct picture *p, unsigned int top)
{
	uint64_t until = p->b->until, step = step_of(until);
	char ns[DURATION_LEN];

	text_puts(p->out, "<g font-size=\"10.5\" fill=\"#777\">\n");
	for (uint64_t t = 0; t <= until; t += step) {
		double x = x_of(p, t);

		text_printf(p->out, "<path d=\"M%.1f %u V%u\" stroke=\"#e8e4da\"/>", x, top + 4,
			    p->height - MARGIN);
		if (x < WIDTH - MARGIN - 9 * LETTER)
			text_printf(p->out, "<text x=\"%.1f\" y=\"%u\">%s</text>\n", x + 3,
				    top + 13, duration_text(t, ns));
		if (t > UINT64_MAX - step)
			break;
	}
	text_puts(p->out, "</g>\n");
}

/* --- phases -------------------------------------------------------------------------------------
 */

static void put_phase(const struct picture *p, const struct boot_phase *ph, unsigned int top)
{
	double x = x_of(p, ph->from), width = width_of(p, ph->from, ph->to);
	char ns[DURATION_LEN];

	text_printf(p->out,
		    "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>", x,
		    top, width, BAND, colour_of(ph->level));
	render_xml(ph->name, strlen(ph->name), p->out);
	text_printf(p->out, ": %s", duration_text(ph->to - ph->from, ns));
	if (ph->level >= 0)
		text_printf(p->out, ", %u initcalls", ph->calls);
	text_puts(p->out, "</title></rect>\n");
	if (width < (double)(strlen(ph->name) + 1) * LETTER)
		return;
	text_printf(p->out, "<text x=\"%.1f\" y=\"%u\" fill=\"%s\">", x + 5, top + 16,
		    ph->level < 0 ? "#555" : "#fff");
	render_xml(ph->name, strlen(ph->name), p->out);
	text_puts(p->out, "</text>\n");
}

/* --- tasks --------------------------------------------------------------------------------------
 */

static size_t lane_of(struct picture *p, int32_t pid)
{
	size_t i = 0;

	while (i < p->nr_lanes && p->lane[i] != pid)
		i++;
	if (i == p->nr_lanes && i < LANES_MAX)
		p->lane[p->nr_lanes++] = pid;
	return i;
}

static void put_title(const struct picture *p, const struct boot_call *c)
{
	char took[DURATION_LEN], from[DURATION_LEN];

	text_puts(p->out, "<title>");
	render_xml(c->name, strlen(c->name), p->out);
	text_printf(p->out, ": %s, at %s, ", duration_text(c->to - c->from, took),
		    duration_text(c->from, from));
	render_xml(p->b->level[c->level].name, strlen(p->b->level[c->level].name), p->out);
	if (c->ended)
		text_printf(p->out, ", returned %d", (int)c->ret);
	text_printf(p->out, ", task %d on CPU %u</title>", c->pid, c->cpu);
}

static void put_bar(const struct picture *p, const struct boot_call *c, double y, int height)
{
	text_printf(p->out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\">",
		    x_of(p, c->from), y, width_of(p, c->from, c->to), height, colour_of(c->level));
	put_title(p, c);
	text_puts(p->out, "</rect>\n");
}

static void put_lanes(struct picture *p, unsigned int top)
{
	for (size_t i = 0; i < p->nr_lanes; i++)
		text_printf(
			p->out,
			"<rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"#f3f0e8\"/>"
			"<text x=\"%d\" y=\"%u\" font-size=\"10.5\" fill=\"#777\">task %d</text>\n",
			MARGIN, top + (unsigned int)i * LANE, WIDTH - 2 * MARGIN, LANE - 3,
			MARGIN + 4, top + (unsigned int)i * LANE + 12, p->lane[i]);
	for (size_t i = 0; i < p->b->nr_calls; i++) {
		size_t lane = lane_of(p, p->b->call[i].pid);

		if (lane < p->nr_lanes)
			put_bar(p, &p->b->call[i], top + (double)lane * LANE, LANE - 3);
	}
}

/* --- the slowest --------------------------------------------------------------------------------
 */

/* Its name is where there is room for it: behind the bar, or in front of it. */
static void put_slow(const struct picture *p, const struct boot_call *c, unsigned int y)
{
	size_t len = strlen(c->name) < NAME_MAX_LETTERS ? strlen(c->name) : NAME_MAX_LETTERS;
	double behind = x_of(p, c->from) + width_of(p, c->from, c->to) + 5;
	bool front = behind + (double)(len + 11) * LETTER > WIDTH - MARGIN;
	char ns[DURATION_LEN];

	put_bar(p, c, y + 2, ROW - 5);
	text_printf(p->out, "<text x=\"%.1f\" y=\"%u\"%s>", front ? x_of(p, c->from) - 5 : behind,
		    y + 12, front ? " text-anchor=\"end\"" : "");
	render_xml(c->name, len, p->out);
	text_printf(p->out, " <tspan fill=\"#888\">%s</tspan></text>\n",
		    duration_text(c->to - c->from, ns));
}

/* --- the whole ----------------------------------------------------------------------------------
 */

static void put_head(const struct picture *p, const struct boot_view *view, size_t shown)
{
	char ns[DURATION_LEN];

	text_printf(p->out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		    "viewBox=\"0 0 %d %u\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
		    "monospace\" font-size=\"11\" fill=\"#1c1c1c\">\n"
		    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fcfbf8\"/>\n"
		    "<text x=\"%d\" y=\"28\" %s font-size=\"17\" font-weight=\"bold\">",
		    WIDTH, p->height, WIDTH, p->height, MARGIN, sans);
	render_xml(view->title, strlen(view->title), p->out);
	text_printf(p->out,
		    "</text>\n<text x=\"%d\" y=\"48\" %s font-size=\"12\" fill=\"#666\">%zu "
		    "initcalls \xc2\xb7 the slowest %zu below",
		    MARGIN, sans, p->b->nr_calls, shown);
	if (p->b->user) {
		text_puts(p->out, " \xc2\xb7 the first program ");
		render_xml(p->b->program, strlen(p->b->program), p->out);
		text_printf(p->out, " begins at %s", duration_text(p->b->user, ns));
	}
	text_puts(p->out, "</text>\n");
}

static void put_all(struct picture *p, const struct boot_view *view, const uint32_t *idx, size_t nr)
{
	struct boot_phase phase[BOOT_PHASES_MAX];
	size_t nr_phases = boot_phases(p->b, phase);
	unsigned int lanes = HEAD + AXIS + BAND + GAP, slow;

	for (size_t i = 0; i < p->b->nr_calls; i++)
		lane_of(p, p->b->call[i].pid);
	slow = lanes + (unsigned int)p->nr_lanes * LANE + GAP;
	p->height = slow + (unsigned int)nr * ROW + MARGIN;
	put_head(p, view, nr);
	put_axis(p, HEAD);
	for (size_t i = 0; i < nr_phases; i++)
		put_phase(p, &phase[i], HEAD + AXIS);
	put_lanes(p, lanes);
	for (size_t i = 0; i < nr; i++)
		put_slow(p, &p->b->call[idx[i]], slow + (unsigned int)i * ROW);
	text_puts(p->out, "</svg>\n");
}

void boot_render_svg(const struct boot *b, const struct boot_view *view, struct text *out)
{
	const struct boot_view in_order = {view->rows, BOOT_FROM, view->title};
	struct picture p = {.b = b, .out = out};
	uint32_t *idx = calloc(view->rows + 1, sizeof(*idx));

	out->failed |= !idx;
	if (!idx)
		return;
	p.scale = b->until ? (WIDTH - 2.0 * MARGIN) / (double)b->until : 0;
	put_all(&p, &in_order, idx, boot_slowest(b, &in_order, idx));
	free(idx);
}
