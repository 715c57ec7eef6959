// SPDX-License-Identifier: GPL-2.0-or-later
/* latency.c - see latency.h */
#include "frontend/report/latency.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1 << 16 };

/* What is left of a line. */
struct span {
	const char *at, *end;
};

/* --- words ----------------------------------------------------------------------------------- */

/* Up to the next tab, which is taken away too. */
static struct span take_field(struct span *s)
{
	const char *tab = memchr(s->at, '\t', (size_t)(s->end - s->at));
	struct span field = {s->at, tab ? tab : s->end};

	s->at = tab ? tab + 1 : s->end;
	return field;
}

static bool copy_word(struct span s, char *to, size_t size)
{
	size_t len = (size_t)(s.end - s.at);

	if (!len || len >= size)
		return false;
	for (const char *p = s.at; p < s.end; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	memcpy(to, s.at, len);
	to[len] = '\0';
	return true;
}

/* The same of what a guest has named: it may have blanks, and be too long. */
static bool copy_name(struct span s, char *to, size_t size)
{
	size_t len = (size_t)(s.end - s.at);

	for (const char *p = s.at; p < s.end; p++)
		if (*p < ' ' || *p > '~')
			return false;
	if (len >= size)
		len = size - 1;
	memcpy(to, s.at, len);
	to[len] = '\0';
	return len;
}

/* All of s is a number. */
static bool read_number(struct span s, uint64_t *n)
{
	const char *p = s.at;

	for (*n = 0; p < s.end && isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(*p - '0'), n))
			return false;
	return s.at < s.end && p == s.end;
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool read_head(struct latency_report *r, struct span s)
{
	struct span name = take_field(&s);
	size_t len = (size_t)(name.end - name.at);

	if (len == 8 && !memcmp(name.at, "# tracer", len))
		return copy_word(s, r->tracer, sizeof(r->tracer));
	if (len == 10 && !memcmp(name.at, "# left out", len))
		return read_number(s, &r->left_out);
	if (len == 6 && !memcmp(name.at, "# gaps", len))
		return read_number(s, &r->gaps);
	return true;
}

uint64_t latency_bucket_begin(unsigned int bucket)
{
	return bucket ? UINT64_C(1) << (bucket - 1) : 0;
}

/* "4096:17" */
static bool read_bucket(struct latency_row *row, struct span s)
{
	const char *colon = memchr(s.at, ':', (size_t)(s.end - s.at));
	uint64_t begin, n;
	unsigned int b;

	if (!colon || !read_number((struct span){s.at, colon}, &begin) ||
	    !read_number((struct span){colon + 1, s.end}, &n))
		return false;
	for (b = 0; b < LATENCY_REPORT_BUCKETS && latency_bucket_begin(b) != begin; b++)
		;
	if (b == LATENCY_REPORT_BUCKETS || row->bucket[b])
		return false;
	row->bucket[b] = n;
	return true;
}

/* What percentiles go by: as many windows in buckets as there are, none of them longer than max. */
static bool adds_up(const struct latency_row *row)
{
	uint64_t sum = 0;
	unsigned int last = 0;

	for (unsigned int b = 0; b < LATENCY_REPORT_BUCKETS; b++) {
		if (__builtin_add_overflow(sum, row->bucket[b], &sum))
			return false;
		last = row->bucket[b] ? b : last;
	}
	return sum && sum == row->count && row->max >= latency_bucket_begin(last);
}

static bool read_row(struct latency_row *row, struct span s)
{
	*row = (struct latency_row){0};
	if (!copy_name(take_field(&s), row->from, sizeof(row->from)) ||
	    !copy_name(take_field(&s), row->to, sizeof(row->to)) ||
	    !read_number(take_field(&s), &row->count) ||
	    !read_number(take_field(&s), &row->total) || !read_number(take_field(&s), &row->max))
		return false;
	while (s.at < s.end)
		if (!read_bucket(row, take_field(&s)))
			return false;
	return adds_up(row);
}

/* False: no memory. */
static bool more_rows(struct latency_report *r, size_t *size)
{
	struct latency_row *more;

	if (r->nr < *size)
		return true;
	*size = *size ? 2 * *size : 64;
	more = realloc(r->row, *size * sizeof(*more));
	if (more)
		r->row = more;
	return more;
}

/* "# stack", below its row. */
static bool is_stack(struct span s)
{
	static const char head[] = "# stack\t";

	return s.end - s.at >= (ptrdiff_t)sizeof(head) - 1 && !memcmp(s.at, head, sizeof(head) - 1);
}

static int read_stack(struct latency_report *r, struct span s)
{
	struct latency_row *row = r->nr ? &r->row[r->nr - 1] : NULL;

	take_field(&s);
	if (!row || row->stack || s.at == s.end)
		return -EINVAL;
	for (const char *p = s.at; p < s.end; p++)
		if ((*p < ' ' && *p != '\t') || *p > '~')
			return -EINVAL;
	row->stack = strndup(s.at, (size_t)(s.end - s.at));
	return row->stack ? 0 : -ENOMEM;
}

static int read_line(struct latency_report *r, struct span s, size_t *size)
{
	if (is_stack(s))
		return read_stack(r, s);
	if (s.at < s.end && *s.at == '#')
		return read_head(r, s) ? 0 : -EINVAL;
	if (r->nr == ROWS_MAX)
		return -EINVAL;
	if (!more_rows(r, size))
		return -ENOMEM;
	if (!read_row(&r->row[r->nr], s))
		return -EINVAL;
	r->nr++;
	return 0;
}

int latency_report_read(struct latency_report *r, const char *text, size_t len, unsigned int *line)
{
	const char *end = text + len;
	size_t size = 0;
	int rc = 0;

	*r = (struct latency_report){0};
	for (*line = 1; !rc && text < end; ++*line) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		/* What has no end has been cut off. */
		rc = eol ? read_line(r, (struct span){text, eol}, &size) : -EINVAL;
		text = eol ? eol + 1 : end;
	}
	--*line;
	return rc || *r->tracer ? rc : -EINVAL;
}

void latency_report_free(struct latency_report *r)
{
	for (size_t i = 0; i < r->nr; i++)
		free(r->row[i].stack);
	free(r->row);
	*r = (struct latency_report){0};
}

/* --- figures --------------------------------------------------------------------------------- */

static uint64_t saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

const struct latency_words *latency_words(const struct latency_report *r)
{
	static const struct latency_words windows = {"windows", "pairs of a beginning and an end",
						     "FROM -> TO", false};

	return r->words ? r->words : &windows;
}

void latency_add(struct latency_row *row, uint64_t ns)
{
	unsigned int b = ns ? 64 - (unsigned int)__builtin_clzll(ns) : 0;

	row->count++;
	row->total = saturated(row->total, ns);
	row->max = ns > row->max ? ns : row->max;
	row->bucket[b < LATENCY_REPORT_BUCKETS ? b : LATENCY_REPORT_BUCKETS - 1]++;
}

uint64_t latency_mean(const struct latency_row *row)
{
	return row->count ? row->total / row->count : 0;
}

uint64_t latency_percentile(const struct latency_row *row, unsigned int percent)
{
	/* Rounded up: of three windows 99 % are all three. */
	uint64_t of = row->count - row->count / 100 * (100 - percent) -
		      row->count % 100 * (100 - percent) / 100;
	uint64_t end, sum = 0;

	for (unsigned int b = 0; b + 1 < LATENCY_REPORT_BUCKETS; b++) {
		sum += row->bucket[b];
		if (sum < of)
			continue;
		end = b ? latency_bucket_begin(b + 1) - 1 : 0;
		return end < row->max ? end : row->max;
	}
	return row->max;
}

void latency_report_sum(const struct latency_report *r, struct latency_row *sum)
{
	*sum = (struct latency_row){0};
	for (size_t i = 0; i < r->nr; i++) {
		const struct latency_row *row = &r->row[i];

		sum->count = saturated(sum->count, row->count);
		sum->total = saturated(sum->total, row->total);
		sum->errors = saturated(sum->errors, row->errors);
		sum->max = row->max > sum->max ? row->max : sum->max;
		for (unsigned int b = 0; b < LATENCY_REPORT_BUCKETS; b++)
			sum->bucket[b] = saturated(sum->bucket[b], row->bucket[b]);
	}
}

bool latency_report_range(const struct latency_report *r, size_t nr, unsigned int *first,
			  unsigned int *last)
{
	*first = LATENCY_REPORT_BUCKETS;
	*last = 0;
	for (size_t i = 0; i < r->nr && i < nr; i++)
		for (unsigned int b = 0; b < LATENCY_REPORT_BUCKETS; b++) {
			if (!r->row[i].bucket[b])
				continue;
			*first = b < *first ? b : *first;
			*last = b > *last ? b : *last;
		}
	return *first <= *last;
}

/* --- order ----------------------------------------------------------------------------------- */

static const char *const sort_names[] = {
	[LATENCY_MAX] = "max",	   [LATENCY_P99] = "p99",     [LATENCY_MEAN] = "mean",
	[LATENCY_TOTAL] = "total", [LATENCY_COUNT] = "count",
};

const char *latency_sort_name(unsigned int i)
{
	return i < sizeof(sort_names) / sizeof(sort_names[0]) ? sort_names[i] : NULL;
}

bool latency_sort_parse(const char *name, enum latency_sort *by)
{
	for (unsigned int i = 0; latency_sort_name(i); i++)
		if (!strcmp(latency_sort_name(i), name)) {
			*by = (enum latency_sort)i;
			return true;
		}
	return false;
}

static uint64_t sort_value(const struct latency_row *row, enum latency_sort by)
{
	switch (by) {
	case LATENCY_P99:
		return latency_percentile(row, 99);
	case LATENCY_MEAN:
		return latency_mean(row);
	case LATENCY_TOTAL:
		return row->total;
	case LATENCY_COUNT:
		return row->count;
	default:
		return row->max;
	}
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct latency_row *x = a, *y = b;
	enum latency_sort by = *(const enum latency_sort *)arg;
	uint64_t m = sort_value(x, by), n = sort_value(y, by);
	int from;

	if (m != n)
		return m < n ? 1 : -1;
	if (x->max != y->max)
		return x->max < y->max ? 1 : -1;
	from = strcmp(x->from, y->from);
	return from ? from : strcmp(x->to, y->to);
}

void latency_report_sort(struct latency_report *r, enum latency_sort by)
{
	if (r->nr)
		qsort_r(r->row, r->nr, sizeof(r->row[0]), compare, &by);
}
