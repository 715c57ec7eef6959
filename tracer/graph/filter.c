// SPDX-License-Identifier: GPL-2.0-or-later
/* filter.c - see filter.h */
#include "tracer/graph/filter.h"

#include <errno.h>
#include <stdlib.h>

enum { NAME_FUNCTION = 1 << 0, NAME_NOTRACE = 1 << 1 };

/* A table of addresses, at most half full. */
struct graph_names {
	unsigned int bits; /* places: 1 << bits */
	struct graph_name {
		uint64_t addr; /* 0: nothing is here */
		uint8_t what;
	} at[];
};

static struct graph_names *names_new(uint32_t nr)
{
	struct graph_names *names;
	unsigned int bits = 4;

	while (UINT64_C(1) << bits < 2 * (uint64_t)nr)
		bits++;
	names = calloc(1, sizeof(*names) + (sizeof(names->at[0]) << bits));
	if (names)
		names->bits = bits;
	return names;
}

/* Where an address is, or would be. */
static size_t name_place(const struct graph_names *names, uint64_t addr)
{
	size_t mask = ((size_t)1 << names->bits) - 1;
	size_t i = addr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - names->bits);

	while (names->at[i].addr && names->at[i].addr != addr)
		i = (i + 1) & mask;
	return i;
}

static void names_add(struct graph_names *names, const struct func_set *set, uint8_t what)
{
	if (func_set_empty(set))
		return;
	for (uint32_t f = func_set_next(set, 0); f != FUNC_NONE; f = func_set_next(set, f + 1)) {
		uint64_t addr = set->funcs->v[f].addr;
		struct graph_name *name = &names->at[name_place(names, addr)];

		name->addr = addr;
		name->what |= what;
	}
}

static uint32_t set_count(const struct func_set *set)
{
	return set ? set->count : 0;
}

void graph_filter_exit(struct graph_filter *f)
{
	free(f->names);
	f->names = NULL;
}

int graph_filter_name(struct graph_filter *f, const struct func_set *function,
		      const struct func_set *notrace)
{
	uint32_t nr = set_count(function) + set_count(notrace);
	struct graph_names *names = nr ? names_new(nr) : NULL;

	if (nr && !names)
		return -ENOMEM;
	if (names) {
		names_add(names, function, NAME_FUNCTION);
		names_add(names, notrace, NAME_NOTRACE);
	}
	free(f->names);
	f->names = names;
	f->only_named = !func_set_empty(function);
	return 0;
}

/* Few functions, if any, are named: most calls are decided without looking. */
static uint8_t name_of(const struct graph_filter *f, uint64_t addr)
{
	return f->names ? f->names->at[name_place(f->names, addr)].what : 0;
}

uint8_t graph_filter_call(const struct graph_filter *f, uint64_t addr, uint32_t depth, bool hardirq,
			  uint8_t outer)
{
	uint8_t name = name_of(f, addr), call = outer & (GRAPH_CALL_NAMED | GRAPH_CALL_IN_IRQ);

	if (outer & GRAPH_CALL_HUSHED)
		return 0;
	if (name & NAME_NOTRACE) /* wherever it is called: it is counted, to know when it is over */
		return call | GRAPH_CALL_HUSHED;
	if (name & NAME_FUNCTION && !(call & GRAPH_CALL_NAMED))
		call |= GRAPH_CALL_NAMED | (hardirq ? GRAPH_CALL_IN_IRQ : 0);
	if (f->only_named && !(call & GRAPH_CALL_NAMED))
		return 0;
	if (f->max_depth && depth >= f->max_depth)
		return 0;
	if (f->no_irqs && hardirq && !(call & GRAPH_CALL_IN_IRQ))
		return 0;
	return call | GRAPH_CALL_SHOWN;
}
