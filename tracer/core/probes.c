// SPDX-License-Identifier: GPL-2.0-or-later
/* probes.c - see probes.h */
#include "tracer/core/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int probe_set_init(struct probe_set *set, const struct guestsym *gs)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites);

	for (size_t i = 0; i < n; i++) {
		const struct guestsym_site *s = &sites[i];
		struct probe *p;

		if (s->flags & GUESTSYM_SITE_INVALID)
			continue;
		p = probe_add(set, s->addr);
		if (!p)
			return -ENOMEM;
		p->name = s->name;
		p->flags = PROBE_FL_FUNCTION | (s->flags & GUESTSYM_SITE_INIT ? PROBE_FL_INIT : 0);
	}
	return 0;
}

uint32_t probe_named(const struct probe_set *set, const char *name)
{
	for (size_t i = 0; i < set->nr; i++)
		if (set->v[i].flags & PROBE_FL_FUNCTION && !strcmp(set->v[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

void probe_set_free(struct probe_set *set)
{
	free(set->v);
	memset(set, 0, sizeof(*set));
}

/* Nothing is there, nor will be; see probes_recycle(). */
static bool is_free(const struct probe *p)
{
	return p->flags == PROBE_FL_GONE && !p->va;
}

void probes_recycle(struct probe_set *set)
{
	set->free_from = set->nr_free = 0;
	for (size_t i = 0; i < set->nr; i++) {
		struct probe *p = &set->v[i];

		if (p->flags & PROBE_FL_MODULE && p->flags & PROBE_FL_GONE && !p->kept &&
		    !(p->flags & (PROBE_FL_SET | PROBE_FL_LENT)))
			*p = (struct probe){.flags = PROBE_FL_GONE};
		set->nr_free += is_free(p);
	}
}

static struct probe *take_free(struct probe_set *set)
{
	while (!is_free(&set->v[set->free_from]))
		set->free_from++;
	set->nr_free--;
	return &set->v[set->free_from];
}

struct probe *probe_add(struct probe_set *set, uint64_t va)
{
	struct probe *v;

	if (set->nr_free) {
		v = take_free(set);
		*v = (struct probe){.va = va};
		return v;
	}
	if (set->nr == PROBES_MAX)
		return NULL;
	if (set->nr == set->room) {
		size_t room = set->room ? 2 * set->room : 64;

		v = realloc(set->v, room * sizeof(*v));
		if (!v)
			return NULL;
		set->v = v;
		set->room = room;
	}
	v = &set->v[set->nr++];
	*v = (struct probe){.va = va};
	return v;
}

struct probe *probe_set_at(struct probe_set *set, uint64_t va)
{
	for (size_t i = 0; i < set->nr; i++)
		if (set->v[i].va == va && !(set->v[i].flags & PROBE_FL_GONE))
			return &set->v[i];
	return probe_add(set, va);
}

uint32_t probe_at_site(const struct trace *t, uint64_t va)
{
	for (size_t i = 0; i < t->probes.nr; i++)
		if (t->probes.v[i].va == va && !(t->probes.v[i].flags & PROBE_FL_GONE))
			return (uint32_t)i;
	return UINT32_MAX;
}

size_t probes_recorded(const struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->probes.nr; i++)
		n += t->probes.v[i].flags & PROBE_FL_RECORD || t->probes.v[i].guards & GUARD_STACKS;
	return n;
}
