// SPDX-License-Identifier: GPL-2.0-or-later
/* rows.c - see rows.h */
#include "frontend/jobs/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rows_init(struct rows *x, struct latency_report *report)
{
	*x = (struct rows){.report = report};
	return keyed_init(&x->by_key, JOB_ROWS_MAX);
}

void rows_exit(struct rows *x)
{
	keyed_exit(&x->by_key);
}

/* One more. NULL: no memory. */
static struct latency_row *add_row(struct rows *x)
{
	struct latency_report *r = x->report;
	size_t room = x->room ? 2 * x->room : 64;
	struct latency_row *more;

	if (r->nr == x->room) {
		more = realloc(r->row, room * sizeof(*more));
		if (!more)
			return NULL;
		r->row = more;
		x->room = room;
	}
	r->row[r->nr] = (struct latency_row){0};
	return &r->row[r->nr++];
}

static struct latency_row *call_it(struct latency_row *row, const char *from, const char *to)
{
	if (strcmp(row->from, from) != 0)
		snprintf(row->from, sizeof(row->from), "%s", from);
	if (strcmp(row->to, to) != 0)
		snprintf(row->to, sizeof(row->to), "%s", to);
	return row;
}

/* The last one that there may be. */
static struct latency_row *others(struct rows *x)
{
	struct latency_report *r = x->report;
	struct latency_row *row = r->nr < JOB_ROWS_MAX ? add_row(x) : &r->row[r->nr - 1];

	return row ? call_it(row, "others", "") : NULL;
}

struct latency_row *rows_get(struct rows *x, uint64_t key, const char *from, const char *to)
{
	struct latency_report *r = x->report;
	uint32_t *at = keyed_place(&x->by_key, key);
	struct latency_row *row;

	if (*at != KEYED_NONE)
		return call_it(&r->row[*at], from, to);
	if (r->nr >= JOB_ROWS_MAX - 1)
		return others(x);
	row = add_row(x);
	if (!row)
		return NULL;
	*at = (uint32_t)(row - r->row);
	return call_it(row, from, to);
}
