// SPDX-License-Identifier: GPL-2.0-or-later
/* probe.c - the table of probes: which sites are patched, and patching them in batches. */
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/returns/returns.h"

#include <errno.h>
#include <stdio.h>
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

void probe_set_free(struct probe_set *set)
{
	free(set->v);
	memset(set, 0, sizeof(*set));
}

struct probe *probe_add(struct probe_set *set, uint64_t va)
{
	struct probe *v;

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

/* What holds neither of a site's two forms is in somebody's use; calls take the NOP's place only.
 */
static bool site_known(struct trace *t, struct text_view *view, const struct probe *p)
{
	uint64_t va = p->va + t->guest.slide;
	uint8_t now[PAYLOAD_FORM_MAX], form[PAYLOAD_FORM_MAX];

	if (p->flags & PROBE_FL_FLAG) {
		size_t size = flag_sites_form(t, p->va, form);

		return size && !text_view_get(view, va, now, size) && !memcmp(now, form, size);
	}
	if (p->flags & PROBE_FL_EXIT) {
		size_t size = returns_form(t, p->va, form);

		return size && !text_view_get(view, va, now, size) && !memcmp(now, form, size);
	}
	if (text_view_get(view, va, now, SITE_SIZE))
		return false;
	if (!memcmp(now, site_nop, SITE_SIZE))
		return true;
	return t->engine == &trap_probe_ops && t->fentry &&
	       site_call_target(now, va) == t->fentry + t->guest.slide;
}

static bool probe_matches(const struct probe *p, uint16_t with, uint16_t without)
{
	return (p->flags & with) == with && !(p->flags & without);
}

/* There is something to be done at a hit. */
static bool probe_wanted(const struct trace *t, const struct probe *p)
{
	return (p->flags & PROBE_FL_RECORD && !t->held) || p->guards;
}

/* And remember which there ever were. */
static void probes_count(struct probe_set *set)
{
	uint64_t selected = 0, skipped = 0, traced = 0;

	for (size_t i = 0; i < set->nr; i++) {
		uint16_t flags = set->v[i].flags;

		if (!(flags & PROBE_FL_RECORD) || flags & (PROBE_FL_EXIT | PROBE_FL_FLAG))
			continue;
		selected++;
		if (flags & PROBE_FL_GONE)
			continue;
		if (flags & PROBE_FL_SET) {
			set->v[i].flags |= PROBE_FL_TOUCHED;
			traced++;
		} else {
			skipped++;
		}
	}
	set->selected = selected;
	set->skipped = skipped;
	set->traced = traced;
}

size_t probes_recorded(const struct trace *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->probes.nr; i++)
		n += (t->probes.v[i].flags & PROBE_FL_RECORD) != 0;
	return n;
}

int probes_insert(struct trace *t, uint16_t with, uint16_t without)
{
	uint32_t *which = calloc(t->probes.nr + 1, sizeof(*which));
	struct text_view view;
	size_t n = 0;
	int ret;

	if (!which)
		return -ENOMEM;
	text_view_init(&view, &t->guest);
	for (size_t i = 0; i < t->probes.nr; i++) {
		const struct probe *p = &t->probes.v[i];

		if (!probe_matches(p, with,
				   without | PROBE_FL_SET | PROBE_FL_GONE | PROBE_FL_LENT |
					   PROBE_FL_GUESTS) ||
		    !probe_wanted(t, p))
			continue;
		if (p->flags & PROBE_FL_ONCE || site_known(t, &view, p))
			which[n++] = (uint32_t)i;
	}
	ret = t->engine->insert(t, which, n);
	for (size_t i = 0; !ret && i < n; i++)
		t->probes.v[which[i]].flags |= PROBE_FL_SET;
	if (!ret)
		probes_count(&t->probes);
	free(which);
	return ret;
}

int probes_remove(struct trace *t, uint16_t with, uint16_t without)
{
	uint32_t *which = calloc(t->probes.nr + 1, sizeof(*which));
	size_t n = 0;
	int ret;

	if (!which)
		return -ENOMEM;
	for (size_t i = 0; i < t->probes.nr; i++)
		if (probe_matches(&t->probes.v[i], with | PROBE_FL_SET, without))
			which[n++] = (uint32_t)i;
	ret = t->engine->remove(t, which, n);
	for (size_t i = 0; !ret && i < n; i++)
		t->probes.v[which[i]].flags &= (uint16_t)~PROBE_FL_SET;
	free(which);
	return ret;
}
