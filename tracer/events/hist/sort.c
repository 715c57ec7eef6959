// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sort.c - the order of a histogram's entries.
 *
 * The kernel sorts by the bytes of the keys first, which no two entries share, and then with a
 * heapsort by what was asked for. That is not stable, so entries that are equal there come out in
 * an order that only the same heapsort gives: one that walks down to a leaf along the larger
 * children and climbs up again from there (lib/sort.c since Linux 5.2). Since 6.11 it takes two
 * elements off the heap at a time, and of two equal children the second.
 */
#include "tracer/events/hist/internal.h"

struct order {
	const struct hist_spec *spec;
	const struct hist_sort *by; /* NULL: the bytes of the keys */
	bool in_pairs;		    /* as since Linux 6.11 */
};

static int compare_numbers(const struct hist_field *field, const void *a, const void *b)
{
	bool whole = field->flags & (HIST_CPU | HIST_TIMESTAMP | HIST_EXPR | HIST_CONST);
	uint32_t size = whole ? sizeof(uint64_t) : field->in.size;
	bool is_signed = field->in.is_signed;
	uint64_t x, y;

	if (!event_number_size(size))
		return 0;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	x = event_number_cut(x, size, is_signed);
	y = event_number_cut(y, size, is_signed);
	if (is_signed)
		return ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
	return (x > y) - (x < y);
}

static int compare_keys(const struct hist_field *field, const struct hist_entry *a,
			const struct hist_entry *b)
{
	struct event_field event_field = {field->source, &field->in};
	const uint8_t *x = a->key + field->offset, *y = b->key + field->offset;

	if (field->flags & HIST_STACKTRACE)
		return 0;
	if (field->source == EVENT_FIELD_RECORD && event_field_is_string(&event_field))
		return strncmp((const char *)x, (const char *)y, field->size);
	return compare_numbers(field, x, y);
}

static int compare(const struct order *o, const struct hist_entry *a, const struct hist_entry *b)
{
	unsigned int i;
	int ret;

	if (!o->by)
		return memcmp(a->key, b->key, o->spec->key_size);
	i = o->by->field;
	if (hist_is_key(o->spec, i))
		ret = compare_keys(&o->spec->fields[i], a, b);
	else
		ret = (a->sum[i] > b->sum[i]) - (a->sum[i] < b->sum[i]);
	return o->by->descending ? -ret : ret;
}

static void swap(struct hist_entry **v, size_t a, size_t b)
{
	struct hist_entry *was = v[a];

	v[a] = v[b];
	v[b] = was;
}

static size_t parent(size_t i)
{
	return (i - 1) / 2;
}

/* Bring v[root] to its place in the heap of n entries below it. */
static void sift_down(struct hist_entry **v, size_t root, size_t n, const struct order *o)
{
	size_t leaf = root, place;

	while (2 * leaf + 2 < n) {
		size_t left = 2 * leaf + 1;

		leaf = compare(o, v[left], v[left + 1]) >= o->in_pairs ? left : left + 1;
	}
	if (2 * leaf + 2 == n)
		leaf = 2 * leaf + 1; /* it has no sibling */
	while (leaf != root && compare(o, v[root], v[leaf]) >= 0)
		leaf = parent(leaf);
	for (place = leaf; leaf != root;) {
		leaf = parent(leaf);
		swap(v, leaf, place);
	}
}

/* Take the largest off the heap, again and again. */
static void take_each(struct hist_entry **v, size_t n, const struct order *o)
{
	while (n-- > 1) {
		swap(v, 0, n);
		sift_down(v, 0, n, o);
	}
}

/* The largest, and the larger of its children, which comes next. */
static void take_pairs(struct hist_entry **v, size_t n, const struct order *o)
{
	while (n > 3) {
		size_t child;

		swap(v, 0, --n);
		child = compare(o, v[1], v[2]) <= 0 ? 2 : 1;
		swap(v, child, --n);
		sift_down(v, child, n, o);
		sift_down(v, 0, n, o);
	}
	swap(v, 0, --n);
	if (n == 2 && compare(o, v[0], v[1]) > 0)
		swap(v, 0, 1);
}

static void heapsort_entries(struct hist_entry **v, size_t n, const struct order *o)
{
	if (n < 2)
		return;
	for (size_t root = n / 2; root-- > 0;)
		sift_down(v, root, n, o);
	if (o->in_pairs)
		take_pairs(v, n, o);
	else
		take_each(v, n, o);
}

/* Entries that are equal in the first order, by the second. */
static void sort_runs(struct hist_entry **v, size_t n, const struct order *first,
		      const struct order *second)
{
	size_t start = 0;

	for (size_t i = 1; i <= n; i++) {
		if (i < n && !compare(first, v[i - 1], v[i]))
			continue;
		heapsort_entries(v + start, i - start, second);
		start = i;
	}
}

void hist_view_sort(struct hist_view *view, const struct hist_spec *spec, unsigned int version)
{
	bool in_pairs = version >= EVENT_KERNEL(6, 11);
	const struct order bytes = {spec, NULL, in_pairs};
	const struct order first = {spec, &spec->sort[0], in_pairs};
	const struct order second = {spec, &spec->sort[1], in_pairs};

	heapsort_entries(view->entry, view->nr, &bytes);
	heapsort_entries(view->entry, view->nr, &first);
	if (spec->nr_sort > 1)
		sort_runs(view->entry, view->nr, &first, &second);
}
