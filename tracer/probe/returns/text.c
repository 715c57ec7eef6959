// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - the code of a function, as it is without the probes of its returns. */
#include "tracer/probe/returns/internal.h"

#include <stdlib.h>
#include <string.h>

/* A function that is longer is none. */
#define FUNCTION_MAX (1u << 20)

void returns_text_free(struct returns_text *x)
{
	text_map_free(&x->map);
	free(x->code);
	free(x);
}

struct returns_text *returns_text_new(struct trace *t)
{
	struct returns_text *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->t = t;
	text_view_init(&x->view, &t->guest);
	x->code = malloc(FUNCTION_MAX);
	if (text_map_make(&x->map, t) || !x->code) {
		returns_text_free(x);
		return NULL;
	}
	return x;
}

static size_t first_place(const struct returns *r, uint64_t va)
{
	size_t lo = 0, hi = r->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->at[mid].form.va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void returns_restore(const struct trace *t, uint64_t start, uint8_t *code, size_t len)
{
	const struct returns *r = t->returns;
	uint64_t va = start - t->guest.slide;

	if (!r)
		return;
	for (size_t i = first_place(r, va); i < r->nr && r->at[i].form.va - va < len; i++) {
		const struct form *form = &r->at[i].form;
		size_t off = (size_t)(form->va - va);

		if (t->probes.v[r->at[i].probe].flags & PROBE_FL_SET && form->size <= len - off)
			memcpy(code + off, form->bytes, form->size);
	}
}

size_t returns_text_read(struct returns_text *x, const struct piece *p)
{
	size_t len = (size_t)(p->end - p->start);

	if (p->end - p->start > FUNCTION_MAX)
		return 0;
	if (len <= sizeof(x->view.bytes) / 2 ? text_view_get(&x->view, p->start, x->code, len)
					     : guest_read(&x->t->guest, p->start, x->code, len))
		return 0;
	returns_restore(x->t, p->start, x->code, len);
	return len;
}
