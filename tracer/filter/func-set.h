/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * func-set.h - some of the functions of a list, chosen by globs: a bit for each.
 *
 * The kernel's struct ftrace_hash, match_records() and ftrace_graph_set_hash().
 */
#ifndef HVTRACE_TRACER_FILTER_FUNC_SET_H
#define HVTRACE_TRACER_FILTER_FUNC_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/filter/funcs.h"

struct func_set {
	struct funcs *funcs; /* held */
	uint32_t count;
	uint32_t gone; /* were chosen, and are of modules that have been unloaded */
	bool waits;    /* functions of a module that is not loaded yet are chosen */
	uint64_t bits[];
};

struct func_set *func_set_new(struct funcs *fs); /* nothing chosen. NULL: no memory */
/* Those of from that are in the list fs too. NULL: no memory. */
struct func_set *func_set_copy(const struct func_set *from, struct funcs *fs);
void func_set_free(struct func_set *set); /* NULL is allowed */

static inline bool func_set_has(const struct func_set *set, uint32_t func)
{
	return set->bits[func / 64] >> (func % 64) & 1;
}

/*
 * NULL, or nothing in it: as filter it selects all functions, as notrace none. Who chose functions
 * that are not there (yet, any more) did not ask for all.
 */
static inline bool func_set_empty(const struct func_set *set)
{
	return !set || (!set->count && !set->gone && !set->waits);
}

void func_set_add(struct func_set *set, uint32_t func);
void func_set_remove(struct func_set *set, uint32_t func);
/* The first that is chosen and not before from, or FUNC_NONE. */
uint32_t func_set_next(const struct func_set *set, uint32_t from);

/*
 * Add the functions that the glob matches, or remove them if it begins with !; a number is the
 * place of one in the list, from 1. Only those of modules that the glob module matches: NULL: any
 * function; empty: any module; with !: those that are in no such module. Both texts are changed.
 * Whether any matched.
 */
bool func_set_match(struct func_set *set, char *func, char *module);
/*
 * The same for set_graph_function and set_graph_notrace: no numbers, and to have matched with ! a
 * function must have been in the set.
 */
bool func_set_match_graph(struct func_set *set, char *func);

#endif
