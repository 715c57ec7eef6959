// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-report.c - files that reports are made of, whatever is in them, and all reports of them. */
#include <stdlib.h>

#include "frontend/report/graph-text.h"
#include "frontend/report/latency.h"
#include "frontend/report/render.h"
#include "frontend/report/saved.h"
#include "frontend/report/select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct calltree *t)
{
	struct text out = {0};

	render_graph(t, &(struct render_graph){.order = ORDER_CPU, .depth = 8}, &out);
	render_folded(t, WEIGHT_TIME, &out);
	render_flame(t, &(struct render_flame){WEIGHT_CALLS, "title", 400}, &out);
	render_top(t, &(struct render_top){.seconds = 1, .covered = 1}, &out);
	saved_print(t, &out);
	text_free(&out);
}

/* Of a function that there is. */
static const char *some_name(const struct calltree *t)
{
	return t->name[t->nr_names - 1];
}

static void report(const struct calltree *t)
{
	struct calltree *made[] = {
		select_tasks(t, &(struct select_tasks){.no_idle = true}),
		select_root(t, some_name(t)),
		select_callers(t, some_name(t)),
		select_functions(t),
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		if (made[i])
			render(made[i]);
		calltree_free(made[i]);
	}
}

/* Of what hvtrace/latency of a trace reads. */
static void latencies(const char *text, size_t len)
{
	const struct latency_view view = {.rows = 20, .blocks = true, .stacks = true};
	struct latency_report r;
	struct text out = {0};
	unsigned int line;

	if (!latency_report_read(&r, text, len, &line)) {
		latency_report_sort(&r, LATENCY_P99);
		render_latency(&r, &view, &out);
		render_latency_svg(&r, 20, "title", &out);
	}
	latency_report_free(&r);
	text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct graph_text_result result;
	struct calltree *t = calltree_new();
	unsigned int line;
	/* The first byte tells which form it is. */
	bool saved = size && *data & 1;

	if (size && *data & 2)
		latencies((const char *)data + 1, size - 1);
	if (!t || !size || *data & 2) {
		calltree_free(t);
		return 0;
	}
	if (saved)
		saved_read(t, (const char *)data + 1, size - 1, &line);
	else
		graph_text_read(t, (const char *)data + 1, size - 1, &result);
	report(t);
	calltree_free(t);
	return 0;
}
