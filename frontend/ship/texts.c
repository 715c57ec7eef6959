// SPDX-License-Identifier: GPL-2.0-or-later
/* texts.c - see texts.h: a place for each number, which others may have as well. */
#include "frontend/ship/texts.h"

#include <stdlib.h>

enum { PLACES_BITS = 12, PLACES = 1 << PLACES_BITS };

struct texts {
	void (*name)(void *arg, uint64_t number, struct block_text *t);
	void *arg;
	struct place {
		uint64_t number;
		struct block_text text; /* of length 0: there is none */
	} places[PLACES];
};

struct texts *texts_new(void (*name)(void *arg, uint64_t number, struct block_text *t), void *arg)
{
	struct texts *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->name = name;
	t->arg = arg;
	return t;
}

void texts_free(struct texts *t)
{
	free(t);
}

const struct block_text *texts_get(struct texts *t, uint64_t number)
{
	/* Addresses of functions are multiples of 16, and pids are near each other. */
	struct place *p = &t->places[number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_BITS)];

	if (p->number != number || !p->text.len) {
		p->number = number;
		t->name(t->arg, number, &p->text);
	}
	return &p->text;
}
