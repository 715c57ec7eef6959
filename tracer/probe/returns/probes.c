// SPDX-License-Identifier: GPL-2.0-or-later
/* probes.c - the probes of return sites: which there are, and which of them record. */
#include "tracer/probe/returns/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct place *place_of(const struct returns *r, uint64_t va)
{
	return r->nr ? bsearch(&va, r->at, r->nr, sizeof(*r->at), returns_by_va) : NULL;
}

uint8_t returns_form(const struct trace *t, uint64_t va, uint8_t bytes[SITE_SIZE])
{
	const struct place *at = place_of(t->returns, va);

	if (!at)
		return 0;
	memcpy(bytes, at->form.bytes, SITE_SIZE);
	return at->form.size;
}

uint8_t returns_size(const struct trace *t, uint64_t va)
{
	const struct place *at = place_of(t->returns, va);

	return at ? at->form.size : 0;
}

bool returns_probe_set(const struct trace *t, uint64_t va)
{
	const struct place *at = place_of(t->returns, va);

	return at && t->probes.v[at->probe].flags & PROBE_FL_SET;
}

static void probe_settle(struct probe *p, uint16_t flags)
{
	const uint16_t keep = PROBE_FL_SET | PROBE_FL_CALL;
	uint16_t now = (p->flags & keep) | flags;

	if (p->flags & PROBE_FL_SET && now != p->flags)
		now |= PROBE_FL_CHANGE;
	p->flags = now;
}

/* New probes go into the table of probes, and into the places by address. */
static int places_add(struct trace *t, const struct wanted_list *l)
{
	struct returns *r = t->returns;
	struct place *at = malloc((r->nr + l->nr + 1) * sizeof(*at));
	size_t n = 0, old = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++) {
		uint64_t va = l->v[i].form.va;
		struct probe *p;

		while (old < r->nr && r->at[old].form.va < va)
			at[n++] = r->at[old++];
		if ((old < r->nr && r->at[old].form.va == va) || (n && at[n - 1].form.va == va))
			continue;
		p = probe_add(&t->probes, va);
		if (!p) {
			free(at);
			return -ENOMEM;
		}
		at[n++] = (struct place){l->v[i].form, (uint32_t)(p - t->probes.v)};
	}
	while (old < r->nr)
		at[n++] = r->at[old++];
	free(r->at);
	r->at = at;
	r->nr = n;
	return 0;
}

void returns_forget_gone(struct trace *t)
{
	struct returns *r = t->returns;
	size_t n = 0;

	for (size_t i = 0; r && i < r->nr; i++) {
		struct probe *p = &t->probes.v[r->at[i].probe];

		/* Where a module has left unseen, its returns are wanted no more. */
		if (p->flags & PROBE_FL_MODULE && !(p->flags & (PROBE_FL_SET | PROBE_FL_RECORD)))
			p->flags |= PROBE_FL_GONE;
		if (!(p->flags & PROBE_FL_GONE) || p->flags & PROBE_FL_SET)
			r->at[n++] = r->at[i];
	}
	if (r)
		r->nr = n;
}

int returns_settle(struct trace *t, const struct wanted_list *l)
{
	struct returns *r = t->returns;
	size_t k = 0;
	int ret = l->nr ? places_add(t, l) : 0;

	if (ret)
		return ret;
	for (size_t i = 0; i < r->nr; i++) {
		struct place *at = &r->at[i];
		struct probe *p = &t->probes.v[at->probe];

		while (k < l->nr && l->v[k].form.va < at->form.va)
			k++;
		if (k == l->nr || l->v[k].form.va != at->form.va) {
			probe_settle(p, p->flags & (uint16_t)~PROBE_FL_RECORD);
			continue;
		}
		/* Another module may lie there now. */
		if (!(p->flags & PROBE_FL_SET))
			at->form = l->v[k].form;
		probe_settle(p, l->v[k].flags);
	}
	return 0;
}
