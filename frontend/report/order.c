// SPDX-License-Identifier: GPL-2.0-or-later
/* order.c - see order.h */
#include "frontend/report/order.h"

#include <stdlib.h>
#include <string.h>

static const char *const order_names[] = {
	[ORDER_TOTAL] = "total", [ORDER_SELF] = "self", [ORDER_CALLS] = "calls",
	[ORDER_AVG] = "avg",	 [ORDER_MAX] = "max",	[ORDER_CPU] = "cpu",
	[ORDER_NAME] = "name",
};

const char *order_name(unsigned int i)
{
	return i < sizeof(order_names) / sizeof(order_names[0]) ? order_names[i] : NULL;
}

bool order_parse(const char *name, enum order *order)
{
	for (unsigned int i = 0; order_name(i); i++)
		if (!strcmp(order_name(i), name)) {
			*order = (enum order)i;
			return true;
		}
	return false;
}

uint64_t order_value(const struct call_stats *st, enum order order)
{
	switch (order) {
	case ORDER_TOTAL:
		return st->total;
	case ORDER_SELF:
		return st->self;
	case ORDER_CALLS:
		return st->calls;
	case ORDER_AVG:
		return st->calls ? st->total / st->calls : 0;
	case ORDER_MAX:
		return st->max;
	case ORDER_CPU:
		return st->cpu;
	case ORDER_NAME:
		break;
	}
	return 0;
}

/* On a CPU: with all that it calls. */
static uint64_t node_value(const struct calltree *t, uint32_t node, enum order order)
{
	return order == ORDER_CPU ? calltree_cpu_total(t, node)
				  : order_value(&t->node[node].st, order);
}

struct place {
	uint64_t value;
	const char *name;
	uint32_t node;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return strcmp(x->name, y->name);
}

uint32_t *order_children(const struct calltree *t, uint32_t node, enum order order, size_t *nr)
{
	struct place *place;
	uint32_t *sorted;
	size_t n = 0;

	*nr = 0;
	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next)
		n++;
	place = n ? malloc(n * sizeof(*place)) : NULL;
	sorted = n ? malloc(n * sizeof(*sorted)) : NULL;
	if (!place || !sorted) {
		free(place);
		free(sorted);
		return NULL;
	}
	n = 0;
	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next)
		place[n++] = (struct place){node_value(t, c, order), calltree_name_of(t, c), c};
	qsort(place, n, sizeof(*place), compare);
	for (size_t i = 0; i < n; i++)
		sorted[i] = place[i].node;
	free(place);
	*nr = n;
	return sorted;
}
