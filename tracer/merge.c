// SPDX-License-Identifier: GPL-2.0-or-later
/* merge.c - merges the rings of a trace by time. */
#include "tracer/merge.h"

#include <stdlib.h>
#include <string.h>

struct merge {
	unsigned int nr;
	uint8_t data[RING_MAX_DATA]; /* of the event returned last */
	struct ring_cursor *cursor[];
};

struct merge *merge_new(struct ring *const *rings, unsigned int nr, bool consume)
{
	struct merge *m = calloc(1, sizeof(*m) + nr * sizeof(m->cursor[0]));

	if (!m)
		return NULL;
	m->nr = nr;
	for (unsigned int i = 0; i < nr; i++) {
		if (!rings[i])
			continue;
		m->cursor[i] = consume ? ring_consume(rings[i]) : ring_look(rings[i]);
		if (!m->cursor[i]) {
			merge_free(m);
			return NULL;
		}
	}
	return m;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->nr; i++)
		ring_cursor_free(m->cursor[i]);
	free(m);
}

/* The CPU with the earliest event. */
static bool merge_find(struct merge *m, unsigned int *cpu, uint64_t *ts)
{
	bool found = false;

	for (unsigned int i = 0; i < m->nr; i++) {
		struct ring_event ev;

		if (!m->cursor[i] || !ring_peek(m->cursor[i], &ev))
			continue;
		if (found && ev.ts >= *ts)
			continue;
		found = true;
		*cpu = i;
		*ts = ev.ts;
	}
	return found;
}

bool merge_next(struct merge *m, struct ring_event *ev, unsigned int *cpu)
{
	uint64_t ts;

	/* Another consumer may take the event first. */
	do {
		if (!merge_find(m, cpu, &ts))
			return false;
	} while (!ring_next(m->cursor[*cpu], ev));
	ev->data = memcpy(m->data, ev->data, ev->len);
	return true;
}

bool merge_peek(struct merge *m, uint64_t *ts)
{
	unsigned int cpu;

	return merge_find(m, &cpu, ts);
}
