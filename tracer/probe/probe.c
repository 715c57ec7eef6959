// SPDX-License-Identifier: GPL-2.0-or-later
/* probe.c - the table of probes: which sites are patched, and patching them in batches. */
#include "tracer/probe/probe.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/returns/returns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	return !t->engine->calls && t->fentry &&
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
