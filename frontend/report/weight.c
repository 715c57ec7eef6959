// SPDX-License-Identifier: GPL-2.0-or-later
/* weight.c - what stacks are measured by. */
#include "frontend/report/render.h"

#include <string.h>

static const char *const weight_names[] = {
	[WEIGHT_CPU] = "cpu",
	[WEIGHT_TIME] = "time",
	[WEIGHT_CALLS] = "calls",
};

const char *weight_name(unsigned int i)
{
	return i < sizeof(weight_names) / sizeof(weight_names[0]) ? weight_names[i] : NULL;
}

bool weight_parse(const char *name, enum weight *by)
{
	for (unsigned int i = 0; weight_name(i); i++)
		if (!strcmp(weight_name(i), name)) {
			*by = (enum weight)i;
			return true;
		}
	return false;
}

uint64_t weight_self(const struct call_stats *st, enum weight by)
{
	if (by == WEIGHT_CPU)
		return st->cpu;
	return by == WEIGHT_TIME ? st->self : st->calls;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
uint64_t weight_sum(const struct calltree *t, uint32_t node, enum weight by)
{
	uint64_t sum = weight_self(&t->node[node].st, by);

	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next)
		sum += weight_sum(t, c, by);
	return sum;
}
