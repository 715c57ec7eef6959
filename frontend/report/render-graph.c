// SPDX-License-Identifier: GPL-2.0-or-later
/* render-graph.c - the call tree as a table. */
#include "frontend/report/render.h"

#include <stdlib.h>

#include "frontend/report/duration.h"

struct drawing {
	const struct calltree *t;
	const struct render_graph *opt;
	struct text *out;
	struct text guides; /* what stands before what a function calls */
};

static void put_time(struct text *out, uint64_t ns)
{
	char buf[DURATION_LEN];

	text_printf(out, "%11s", duration_text(ns, buf));
}

static void put_numbers(const struct drawing *d, uint32_t node)
{
	const struct call_stats *st = &d->t->node[node].st;
	char calls[RENDER_COUNT_LEN];

	if (d->t->has_time) {
		put_time(d->out, st->total);
		put_time(d->out, st->self);
	}
	if (d->t->has_cpu)
		put_time(d->out, calltree_cpu_total(d->t, node));
	if (d->t->has_time) {
		put_time(d->out, order_value(st, ORDER_AVG));
		if (st->max)
			put_time(d->out, st->max);
		else
			text_printf(d->out, "%11s", "-");
	}
	text_printf(d->out, "%12s  ", render_count(st->calls, calls));
}

static void put_heading(const struct drawing *d)
{
	if (d->t->has_time)
		text_puts(d->out, "      TOTAL       SELF");
	if (d->t->has_cpu)
		text_puts(d->out, "        CPU");
	if (d->t->has_time)
		text_puts(d->out, "        AVG        MAX");
	text_puts(d->out, "       CALLS  FUNCTION\n");
}

/* How many of them are shown: what took too short a time may stand anywhere. */
static size_t keep(const struct drawing *d, uint32_t *node, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (d->t->node[node[i]].st.total >= d->opt->min)
			node[kept++] = node[i];
	return kept;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void draw(struct drawing *d, uint32_t parent, unsigned int depth)
{
	size_t nr, len = d->guides.len;
	uint32_t *sorted;

	if (d->opt->depth && depth == d->opt->depth)
		return;
	sorted = order_children(d->t, parent, d->opt->order, &nr);
	nr = keep(d, sorted, nr);
	for (size_t i = 0; i < nr; i++) {
		bool last = i + 1 == nr;

		put_numbers(d, sorted[i]);
		text_add(d->out, d->guides.buf, d->guides.len);
		if (depth)
			text_puts(d->out, last ? "`-" : "|-");
		render_name(calltree_name_of(d->t, sorted[i]), d->out);
		text_putc(d->out, '\n');
		if (depth)
			text_puts(&d->guides, last ? "  " : "| ");
		draw(d, sorted[i], depth + 1);
		d->guides.len = len;
	}
	free(sorted);
}

/* "# cat-111: 81.23 ms in 123 calls" */
static void put_task(const struct drawing *d, uint32_t task)
{
	char buf[DURATION_LEN], calls[RENDER_COUNT_LEN];

	text_puts(d->out, "\n# ");
	render_name(calltree_name_of(d->t, task), d->out);
	text_printf(d->out, ": %s calls", render_count(render_calls(d->t, task), calls));
	if (d->t->has_time)
		text_printf(d->out, ", %s",
			    duration_text(calltree_children_total(d->t, task), buf));
	text_putc(d->out, '\n');
}

void render_graph(const struct calltree *t, const struct render_graph *opt, struct text *out)
{
	struct drawing d = {.t = t, .opt = opt, .out = out};
	size_t nr;
	uint32_t *tasks = order_children(t, CALLTREE_ROOT, ORDER_NAME, &nr);

	put_heading(&d);
	for (size_t i = 0; i < nr; i++) {
		if (*calltree_name_of(t, tasks[i]))
			put_task(&d, tasks[i]);
		draw(&d, tasks[i], 0);
	}
	free(tasks);
	out->failed |= d.guides.failed;
	text_free(&d.guides);
}
