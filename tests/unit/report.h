/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - call trees for tests, and what is printed of them. */
#ifndef HVTRACE_TESTS_REPORT_H
#define HVTRACE_TESTS_REPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/report/calls.h"
#include "frontend/report/graph-text.h"
#include "frontend/report/render.h"
#include "frontend/report/saved.h"
#include "frontend/report/select.h"

static inline struct calltree *tree_of_text(const char *text, struct graph_text_result *result)
{
	struct calltree *t = calltree_new();
	struct graph_text_result ignored;

	assert_non_null(t);
	assert_int_equal(graph_text_read(t, text, strlen(text), result ? result : &ignored), 0);
	assert_false(t->full);
	return t;
}

/* Terminated; to be freed by free(). */
static inline char *folded(const struct calltree *t, enum weight by)
{
	struct text out = {0};

	render_folded(t, by, &out);
	text_putc(&out, '\0');
	assert_false(out.failed);
	return out.buf;
}

static inline void assert_folded(const struct calltree *t, enum weight by, const char *want)
{
	char *got = folded(t, by);

	assert_string_equal(got, want);
	free(got);
}

/* All tasks as one, and t is freed. */
static inline struct calltree *merged(struct calltree *t)
{
	struct calltree *to = select_tasks(t, &(struct select_tasks){0});

	assert_non_null(to);
	calltree_free(t);
	return to;
}

/* Of every tree: what is self is in some total, and nothing is twice in one. */
static inline uint64_t assert_sums(const struct calltree *t, uint32_t node)
{
	const struct call_stats *st = &t->node[node].st;
	uint64_t self = st->self, below = 0;

	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next) {
		self += assert_sums(t, c);
		below += t->node[c].st.total;
	}
	if (node != CALLTREE_ROOT && t->node[node].parent != CALLTREE_ROOT) {
		assert_int_equal(st->total, st->self + below);
		assert_int_equal(st->total, self);
	}
	return self;
}

#endif
