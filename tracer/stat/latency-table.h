/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency-table.h - how long windows took, by where they began and where they ended: counts in
 * buckets of powers of two.
 *
 * Knows nothing of a trace: what a row's two keys mean is for whoever prints it. Any thread, at the
 * same time as others.
 */
#ifndef HVTRACE_TRACER_STAT_LATENCY_TABLE_H
#define HVTRACE_TRACER_STAT_LATENCY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/lib/text.h"

/* Rows, whatever a guest does; windows that find none are only counted. */
#define LATENCY_ROWS 4096
/* The first is 0 ns, number n is of 2^(n-1) ns to less than 2^n, the last of what is longer, too.
 */
#define LATENCY_BUCKETS 48

#define LATENCY_STACK_MAX 32 /* addresses of a stack; what is called further out is left off */

struct latency_table;

struct latency_table *latency_table_new(void); /* NULL: no memory */
void latency_table_free(struct latency_table *t);
void latency_table_reset(struct latency_table *t);

/* With its stack, innermost first; nr 0: it has none. That of a row's longest window is kept. */
void latency_table_add(struct latency_table *t, uint64_t from, uint64_t to, uint64_t ns,
		       const uint64_t *stack, unsigned int nr);
/* Whether such a window would be the longest of its row. */
bool latency_table_is_longest(struct latency_table *t, uint64_t from, uint64_t to, uint64_t ns);
/* Records are missing: there may have been windows that nobody has seen. */
void latency_table_gap(struct latency_table *t);

/*
 * The lines of hvtrace/latency (docs/latency.md) but for the first. name() prints what a key is
 * called, place() what an address in a stack is, or nothing; rows of the same names are one line.
 */
struct latency_names {
	void (*name)(void *arg, uint64_t key, struct text *out);
	void (*place)(void *arg, uint64_t addr, struct text *out);
	void *arg;
};

void latency_table_print(struct latency_table *t, const struct latency_names *names,
			 struct text *out);

#endif
