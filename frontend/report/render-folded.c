// SPDX-License-Identifier: GPL-2.0-or-later
/* render-folded.c - one line for each stack: a;b;c N */
#include "frontend/report/render.h"

#include <inttypes.h>
#include <stdlib.h>

/* What separates stands in no name. */
static void add_name(const char *name, struct text *out)
{
	size_t from = out->len;

	render_name(name, out);
	for (size_t i = from; i < out->len; i++)
		if (out->buf[i] == ';')
			out->buf[i] = ':';
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void fold(const struct calltree *t, uint32_t node, enum weight by, struct text *stack,
		 struct text *out)
{
	size_t len = stack->len, nr;
	uint32_t *sorted = order_children(t, node, ORDER_NAME, &nr);

	for (size_t i = 0; i < nr; i++) {
		uint64_t n = weight_self(&t->node[sorted[i]].st, by);
		const char *name = calltree_name_of(t, sorted[i]);

		/* All tasks together have no name. */
		if (*name) {
			if (stack->len)
				text_putc(stack, ';');
			add_name(name, stack);
		}
		if (n) {
			text_add(out, stack->buf, stack->len);
			text_printf(out, " %" PRIu64 "\n", n);
		}
		fold(t, sorted[i], by, stack, out);
		stack->len = len;
	}
	free(sorted);
}

void render_folded(const struct calltree *t, enum weight by, struct text *out)
{
	struct text stack = {0};

	fold(t, CALLTREE_ROOT, by, &stack, out);
	out->failed |= stack.failed;
	text_free(&stack);
}
