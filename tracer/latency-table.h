/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency-table.h - how long windows took, by where they began and where they ended: counts in
 * buckets of powers of two.
 *
 * Knows nothing of a trace: what a row's two keys mean is for whoever prints it. Any thread, at the
 * same time as others.
 */
#ifndef HVTRACE_TRACER_LATENCY_TABLE_H
#define HVTRACE_TRACER_LATENCY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/text.h"

/* Rows, whatever a guest does; windows that find none are only counted. */
#define LATENCY_ROWS 4096
/* The first is 0 ns, number n is of 2^(n-1) ns to less than 2^n, the last of what is longer, too.
 */
#define LATENCY_BUCKETS 48

struct latency_table;

struct latency_table *latency_table_new(void); /* NULL: no memory */
void latency_table_free(struct latency_table *t);
void latency_table_reset(struct latency_table *t);

void latency_table_add(struct latency_table *t, uint64_t from, uint64_t to, uint64_t ns);
/* Records are missing: there may have been windows that nobody has seen. */
void latency_table_gap(struct latency_table *t);

/*
 * The lines of hvtrace/latency (docs/latency.md) but for the first. name() prints what a key is
 * called, or nothing; rows of the same names are one line.
 */
void latency_table_print(struct latency_table *t,
			 void (*name)(void *arg, uint64_t key, struct text *out), void *arg,
			 struct text *out);

#endif
