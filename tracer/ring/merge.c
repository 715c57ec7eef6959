// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * merge.c - merges the rings of a trace by time.
 *
 * Each ring's next event is remembered, and a ring that had none is not asked again at once, so
 * that mostly only the rings' times are looked at. Who does not consume does so up to the end: what
 * it has seen nobody can take away. Consumers find out that another one was faster when they take
 * an event, and ask rings that were empty now and then.
 */
#include "tracer/ring/merge.h"

#include <stdlib.h>
#include <string.h>

enum { ASK_EVERY = 16 }; /* events */

struct source {
	struct ring_cursor *cursor; /* NULL: there is no ring */
	bool known;		    /* head is its next event */
	uint64_t left;		    /* events up to the end; when consuming, 0 if there was none */
	struct ring_event head;	    /* its data is the cursor's */
};

struct merge {
	bool consume;
	uint64_t until;
	unsigned int nr;
	unsigned int asked; /* when consuming, events since rings were last asked that had none */
	uint8_t data[RING_MAX_DATA]; /* of the event returned last */
	struct source source[];
};

struct merge *merge_new(struct ring *const *rings, unsigned int nr, bool consume)
{
	struct merge *m = calloc(1, sizeof(*m) + nr * sizeof(m->source[0]));

	if (!m)
		return NULL;
	m->consume = consume;
	m->nr = nr;
	for (unsigned int i = 0; i < nr; i++) {
		struct source *s = &m->source[i];

		if (!rings[i])
			continue;
		s->cursor = consume ? ring_consume(rings[i]) : ring_look(rings[i]);
		if (!s->cursor) {
			merge_free(m);
			return NULL;
		}
	}
	merge_extend(m, MERGE_ALL);
	return m;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->nr; i++)
		ring_cursor_free(m->source[i].cursor);
	free(m);
}

/* Rings that had no event may have one now. */
static void ask_again(struct merge *m)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		struct source *s = &m->source[i];

		if (s->cursor)
			s->left = m->consume ? UINT64_MAX : ring_cursor_left(s->cursor);
	}
	m->asked = 0;
}

static void forget_heads(struct merge *m)
{
	for (unsigned int i = 0; i < m->nr; i++)
		m->source[i].known = false;
}

void merge_extend(struct merge *m, uint64_t until)
{
	m->until = until;
	forget_heads(m);
	ask_again(m);
}

/* Know the next event of a ring, if there is one before the end. */
static void source_fill(const struct merge *m, struct source *s)
{
	s->known = ring_peek(s->cursor, &s->head);
	if (s->known && (m->consume || s->head.lost < s->left))
		return;
	/* None, or overwritten up to the end: what is there now came later. */
	s->known = false;
	s->left = 0;
}

/* The one with the earliest event. */
static struct source *merge_find(struct merge *m)
{
	struct source *first = NULL;

	for (unsigned int i = 0; i < m->nr; i++) {
		struct source *s = &m->source[i];

		if (!s->known && s->left)
			source_fill(m, s);
		if (s->known && s->head.ts <= m->until && (!first || s->head.ts < first->head.ts))
			first = s;
	}
	return first;
}

static struct source *merge_first(struct merge *m)
{
	struct source *s;

	if (m->consume && m->asked >= ASK_EVERY)
		ask_again(m);
	s = merge_find(m);
	if (s || !m->consume)
		return s;
	ask_again(m);
	return merge_find(m);
}

static bool source_take(struct merge *m, struct source *s, struct ring_event *ev)
{
	m->asked++;
	s->known = false;
	if (!ring_next(s->cursor, ev)) {
		s->left = 0;
		return false;
	}
	if (!m->consume)
		s->left -= s->left < 1 + ev->lost ? s->left : 1 + ev->lost;
	else if (ev->ts != s->head.ts)
		forget_heads(m); /* another consumer is at work */
	ev->data = memcpy(m->data, ev->data, ev->len);
	return true;
}

bool merge_next(struct merge *m, struct ring_event *ev, unsigned int *cpu)
{
	struct source *s;

	/* Another consumer may take the event first. */
	do {
		s = merge_first(m);
		if (!s)
			return false;
	} while (!source_take(m, s, ev));
	*cpu = (unsigned int)(s - m->source);
	return true;
}

bool merge_peek(struct merge *m, struct ring_event *ev, unsigned int *cpu)
{
	const struct source *s = merge_first(m);

	if (!s)
		return false;
	*ev = s->head;
	*cpu = (unsigned int)(s - m->source);
	return true;
}

bool merge_peek_cpu(struct merge *m, struct ring_event *ev, unsigned int cpu)
{
	struct source *s = &m->source[cpu];

	if (!s->known && s->left)
		source_fill(m, s);
	if (s->known)
		*ev = s->head;
	return s->known;
}

bool merge_take(struct merge *m, struct ring_event *ev, unsigned int cpu)
{
	return source_take(m, &m->source[cpu], ev);
}
