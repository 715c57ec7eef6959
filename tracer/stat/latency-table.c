// SPDX-License-Identifier: GPL-2.0-or-later
/* latency-table.c - see latency-table.h */
#include "tracer/stat/latency-table.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PLACES (2 * LATENCY_ROWS) /* of the index: a power of two */

struct row {
	uint64_t from, to;
	uint64_t count, total, max;
	uint64_t bucket[LATENCY_BUCKETS];
	/* Of the longest. */
	uint64_t stack[LATENCY_STACK_MAX];
	unsigned int nr_stack;
};

struct rows {
	uint64_t left_out, gaps;
	unsigned int nr;
	struct row row[LATENCY_ROWS];
};

struct latency_table {
	pthread_mutex_t lock;
	uint16_t place[PLACES]; /* number of a row and 1; 0: none */
	struct rows rows;
};

struct latency_table *latency_table_new(void)
{
	struct latency_table *t = calloc(1, sizeof(*t));

	if (t)
		pthread_mutex_init(&t->lock, NULL);
	return t;
}

void latency_table_free(struct latency_table *t)
{
	if (t)
		pthread_mutex_destroy(&t->lock);
	free(t);
}

void latency_table_reset(struct latency_table *t)
{
	pthread_mutex_lock(&t->lock);
	memset(t->place, 0, sizeof(t->place));
	memset(t->rows.row, 0, t->rows.nr * sizeof(t->rows.row[0]));
	t->rows.nr = 0;
	t->rows.left_out = 0;
	t->rows.gaps = 0;
	pthread_mutex_unlock(&t->lock);
}

/* --- windows --------------------------------------------------------------------------------- */

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int n = ns ? 64 - (unsigned int)__builtin_clzll(ns) : 0;

	return n < LATENCY_BUCKETS ? n : LATENCY_BUCKETS - 1;
}

static uint64_t bucket_begin(unsigned int n)
{
	return n ? UINT64_C(1) << (n - 1) : 0;
}

/* Where a row stands in the index, or would: there are free places always. */
static unsigned int place_of(const struct latency_table *t, uint64_t from, uint64_t to)
{
	uint64_t hash = (from * UINT64_C(0x9e3779b97f4a7c15) ^ to) * UINT64_C(0xff51afd7ed558ccd);
	unsigned int at = (unsigned int)(hash >> 32) & (PLACES - 1);

	for (; t->place[at]; at = (at + 1) & (PLACES - 1)) {
		const struct row *row = &t->rows.row[t->place[at] - 1];

		if (row->from == from && row->to == to)
			break;
	}
	return at;
}

/* NULL: there are too many rows. */
static struct row *row_of(struct latency_table *t, uint64_t from, uint64_t to)
{
	unsigned int at = place_of(t, from, to);
	struct row *row;

	if (t->place[at])
		return &t->rows.row[t->place[at] - 1];
	if (t->rows.nr == LATENCY_ROWS)
		return NULL;
	row = &t->rows.row[t->rows.nr++];
	t->place[at] = (uint16_t)t->rows.nr;
	row->from = from;
	row->to = to;
	return row;
}

static bool is_longest(const struct row *row, uint64_t ns)
{
	return !row->count || ns > row->max;
}

static void keep_stack(struct row *row, const uint64_t *stack, unsigned int nr)
{
	row->nr_stack = nr < LATENCY_STACK_MAX ? nr : LATENCY_STACK_MAX;
	if (row->nr_stack)
		memcpy(row->stack, stack, row->nr_stack * sizeof(*stack));
}

bool latency_table_is_longest(struct latency_table *t, uint64_t from, uint64_t to, uint64_t ns)
{
	unsigned int place;
	bool longest;

	pthread_mutex_lock(&t->lock);
	place = t->place[place_of(t, from, to)];
	longest = place ? is_longest(&t->rows.row[place - 1], ns) : t->rows.nr < LATENCY_ROWS;
	pthread_mutex_unlock(&t->lock);
	return longest;
}

void latency_table_add(struct latency_table *t, uint64_t from, uint64_t to, uint64_t ns,
		       const uint64_t *stack, unsigned int nr)
{
	struct row *row;

	pthread_mutex_lock(&t->lock);
	row = row_of(t, from, to);
	if (row) {
		if (is_longest(row, ns))
			keep_stack(row, stack, nr);
		row->count++;
		row->total += ns;
		row->max = ns > row->max ? ns : row->max;
		row->bucket[bucket_of(ns)]++;
	} else {
		t->rows.left_out++;
	}
	pthread_mutex_unlock(&t->lock);
}

void latency_table_gap(struct latency_table *t)
{
	pthread_mutex_lock(&t->lock);
	t->rows.gaps++;
	pthread_mutex_unlock(&t->lock);
}

/* --- text ------------------------------------------------------------------------------------ */

/* A row with what it is called: "from\tto", in the text that all names are in. */
struct named {
	struct row *row;
	const char *name;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void add(struct row *to, const struct row *row)
{
	if (is_longest(to, row->max))
		keep_stack(to, row->stack, row->nr_stack);
	to->count += row->count;
	to->total += row->total;
	to->max = row->max > to->max ? row->max : to->max;
	for (unsigned int n = 0; n < LATENCY_BUCKETS; n++)
		to->bucket[n] += row->bucket[n];
}

/* A guest's name is one field, for whoever takes the line apart. */
static void put_field(void (*name)(void *arg, uint64_t key, struct text *out), void *arg,
		      uint64_t key, struct text *out)
{
	size_t start = out->len;

	name(arg, key, out);
	if (out->len == start)
		text_putc(out, '?');
	for (size_t i = start; i < out->len; i++)
		if (out->buf[i] < ' ' || out->buf[i] > '~')
			out->buf[i] = '?';
}

static void print_stack(const struct row *r, const struct latency_names *names, struct text *out)
{
	if (!r->nr_stack)
		return;
	text_puts(out, "# stack");
	for (unsigned int i = 0; i < r->nr_stack; i++) {
		text_putc(out, '\t');
		put_field(names->place, names->arg, r->stack[i], out);
	}
	text_putc(out, '\n');
}

static void print_row(const struct named *n, const struct latency_names *names, struct text *out)
{
	const struct row *r = n->row;

	text_printf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, n->name, r->count, r->total,
		    r->max);
	for (unsigned int b = 0; b < LATENCY_BUCKETS; b++)
		if (r->bucket[b])
			text_printf(out, "\t%" PRIu64 ":%" PRIu64, bucket_begin(b), r->bucket[b]);
	text_putc(out, '\n');
	print_stack(r, names, out);
}

static void print_named(struct named *v, unsigned int nr, const struct latency_names *names,
			struct text *out)
{
	unsigned int first = 0;

	qsort(v, nr, sizeof(*v), by_name);
	for (unsigned int i = 1; i <= nr; i++) {
		if (i < nr && !strcmp(v[i].name, v[first].name)) {
			add(v[first].row, v[i].row);
			continue;
		}
		print_row(&v[first], names, out);
		first = i;
	}
}

/* rows is a copy, and changes. False: no memory. */
static bool print_rows(struct rows *rows, const struct latency_names *by, struct text *out)
{
	struct named *v = calloc(rows->nr + 1, sizeof(*v));
	size_t *at = calloc(rows->nr + 1, sizeof(*at));
	struct text names = {0};
	bool ok;

	for (unsigned int i = 0; v && at && i < rows->nr; i++) {
		at[i] = names.len;
		put_field(by->name, by->arg, rows->row[i].from, &names);
		text_putc(&names, '\t');
		put_field(by->name, by->arg, rows->row[i].to, &names);
		text_putc(&names, '\0');
	}
	ok = v && at && !names.failed;
	for (unsigned int i = 0; ok && i < rows->nr; i++)
		v[i] = (struct named){&rows->row[i], names.buf + at[i]};
	if (ok)
		print_named(v, rows->nr, by, out);
	free(v);
	free(at);
	text_free(&names);
	return ok;
}

void latency_table_print(struct latency_table *t, const struct latency_names *names,
			 struct text *out)
{
	struct rows *copy = malloc(sizeof(*copy));

	if (!copy) {
		out->failed = true;
		return;
	}
	pthread_mutex_lock(&t->lock);
	memcpy(copy, &t->rows, sizeof(*copy));
	pthread_mutex_unlock(&t->lock);
	text_printf(out, "# left out\t%" PRIu64 "\n# gaps\t%" PRIu64 "\n", copy->left_out,
		    copy->gaps);
	text_puts(out, "# from\tto\tcount\ttotal\tmax\tns:count...\n");
	if (!print_rows(copy, names, out))
		out->failed = true;
	free(copy);
}
