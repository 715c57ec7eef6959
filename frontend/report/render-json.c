// SPDX-License-Identifier: GPL-2.0-or-later
/* render-json.c - reports for programs: times are nanoseconds, names are what they are. */
#include <stdlib.h>

#include "frontend/lib/json.h"
#include "frontend/report/render.h"

/* --- the tree ------------------------------------------------------------------------------- */

struct tree {
	const struct calltree *t;
	const struct render_graph *opt;
	struct json *j;
};

/* cpu: of what it calls as well, or by itself. */
static void put_stats(const struct calltree *t, uint32_t node, uint64_t cpu, struct json *j)
{
	const struct call_stats *st = &t->node[node].st;

	json_put_number(j, "calls", st->calls);
	if (t->has_time) {
		json_put_number(j, "total_ns", st->total);
		json_put_number(j, "self_ns", st->self);
		json_put_number(j, "avg_ns", order_value(st, ORDER_AVG));
	}
	/* Of calls that are not there from their beginning to their end none is the longest. */
	if (t->has_time && st->max)
		json_put_number(j, "max_ns", st->max);
	if (t->has_cpu)
		json_put_number(j, "cpu_ns", cpu);
}

static void put_children(const struct tree *d, const char *key, uint32_t parent,
			 unsigned int depth);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void put_function(const struct tree *d, uint32_t node, unsigned int depth)
{
	json_begin_object(d->j, NULL);
	json_put_text(d->j, "function", calltree_name_of(d->t, node));
	put_stats(d->t, node, calltree_cpu_total(d->t, node), d->j);
	if (d->t->node[node].child != CALLTREE_NONE && (!d->opt->depth || depth < d->opt->depth))
		put_children(d, d->t->inverted ? "callers" : "callees", node, depth);
	json_end_object(d->j);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void put_children(const struct tree *d, const char *key, uint32_t parent, unsigned int depth)
{
	size_t nr;
	uint32_t *sorted = order_children(d->t, parent, d->opt->order, &nr);

	json_begin_array(d->j, key);
	for (size_t i = 0; i < nr; i++)
		if (d->t->node[sorted[i]].st.total >= d->opt->min)
			put_function(d, sorted[i], depth + 1);
	json_end_array(d->j);
	free(sorted);
}

void render_graph_json(const struct calltree *t, const struct render_graph *opt, struct json *j)
{
	const struct tree d = {t, opt, j};
	size_t nr;
	uint32_t *tasks = order_children(t, CALLTREE_ROOT, ORDER_NAME, &nr);

	json_begin_object(j, NULL);
	json_put_number(j, "calls", render_calls(t, CALLTREE_ROOT));
	json_put_number(j, "span_ns", t->until > t->from ? t->until - t->from : 0);
	json_put_number(j, "vcpus", t->cpus);
	json_put_number(j, "lost", t->lost);
	json_begin_array(j, "trees");
	for (size_t i = 0; i < nr; i++) {
		const char *task = calltree_name_of(t, tasks[i]);

		json_begin_object(j, NULL);
		json_put_text(j, "task", *task ? task : NULL);
		put_children(&d, "functions", tasks[i], 0);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	free(tasks);
}

/* --- what a while was spent with ------------------------------------------------------------ */

void render_top_json(const struct calltree *t, const struct render_top *opt, struct json *j)
{
	uint32_t all = t->node[CALLTREE_ROOT].child, *sorted;
	size_t nr = 0, shown;

	json_begin_object(j, NULL);
	json_put_real(j, "seconds", opt->seconds, 3);
	json_put_real(j, "covered_seconds", opt->covered, 3);
	json_begin_array(j, "functions");
	sorted = all == CALLTREE_NONE ? NULL : order_children(t, all, opt->order, &nr);
	shown = opt->rows && opt->rows - RENDER_TOP_HEAD < nr ? opt->rows - RENDER_TOP_HEAD : nr;
	for (size_t i = 0; i < shown; i++) {
		const struct call_stats *st = &t->node[sorted[i]].st;

		json_begin_object(j, NULL);
		json_put_text(j, "function", calltree_name_of(t, sorted[i]));
		json_put_real(j, "hits_per_second",
			      opt->covered > 0 ? (double)(st->calls - st->begun) / opt->covered : 0,
			      1);
		put_stats(t, sorted[i], st->cpu, j);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	free(sorted);
}
