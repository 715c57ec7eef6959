// SPDX-License-Identifier: GPL-2.0-or-later
/* folded.c - a line for each stack, for flamegraph.pl and others: a;b;c N */
#include "frontend/export/call-profile.h"
#include "frontend/report/render.h"

static void *folded_begin(struct export *x)
{
	return call_profile_new(x);
}

static void folded_end(void *self)
{
	struct export *x = call_profile_export(self);
	const struct calltree *t = call_profile_tree(self);
	struct text text = {0};

	render_folded(t, t->has_time ? WEIGHT_TIME : WEIGHT_CALLS, &text);
	x->failed |= text.failed;
	fwrite(text.buf, 1, text.len, x->out);
	text_free(&text);
}

const struct export_format export_folded = {
	.name = "folded",
	.about = "a line for each stack: nanoseconds of function_graph, or calls of function",
	.begin = folded_begin,
	.event = call_profile_event,
	.end = folded_end,
	.free = call_profile_free,
};
