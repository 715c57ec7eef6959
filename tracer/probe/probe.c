// SPDX-License-Identifier: GPL-2.0-or-later
/* probe.c - the table of probes: which sites are patched, and patching them in batches. */
#include "tracer/probe/probe.h"
#include "tracer/guest/tasks.h"
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
	uint8_t now[FLAG_SITE_MAX], form[FLAG_SITE_MAX];

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
	bool function = p->flags & PROBE_FL_RECORD || p->guards & GUARD_STACKS;

	return (function && !t->held) || p->guards & ~GUARD_STACKS;
}

void probes_hold(struct trace *t)
{
	bool before = t->held;

	t->held = t->waits && probes_recorded(t) > QEMU_TRAPS_MAX;
	if (t->held && !before)
		trace_note(t,
			   "functions are recorded once the kernel can give memory for "
			   "trampolines; from the start on if there are no more than %d of them "
			   "(-f)",
			   QEMU_TRAPS_MAX);
}

void probes_count(struct trace *t)
{
	struct probe_set *set = &t->probes;
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

/* Flags that keep a probe that is wanted from being set. */
#define NOT_INSERTED (PROBE_FL_SET | PROBE_FL_GONE | PROBE_FL_LENT | PROBE_FL_GUESTS)

bool probe_is_due(const struct trace *t, const struct probe *p)
{
	return probe_matches(p, 0, NOT_INSERTED) && probe_wanted(t, p);
}

/*
 * Those that move go together, or are left out: *entered is what has come of asking for it, 1 as
 * long as nobody has.
 */
static bool may_move(struct trace *t, const struct probe *p, int *entered)
{
	if (!(p->flags & PROBE_FL_FLAG) || !flag_sites_moves(t, p->va))
		return true;
	if (*entered == 1) {
		*entered = t->engine->enter(t);
		if (*entered)
			trace_note(t,
				   "windows begin and end unseen where there is no room for a call "
				   "in the kernel's text, until its probes are set once more: %s",
				   tasks_strerror(*entered));
	}
	return !*entered;
}

int probes_insert_some(struct trace *t, const uint32_t *which, size_t n)
{
	uint32_t *due = calloc(n + 1, sizeof(*due));
	struct text_view view;
	int ret, entered = 1;
	size_t nr = 0;

	if (!due)
		return -ENOMEM;
	text_view_init(&view, &t->guest);
	for (size_t i = 0; i < n; i++) {
		const struct probe *p = &t->probes.v[which[i]];

		if (probe_is_due(t, p) && (p->flags & PROBE_FL_ONCE || site_known(t, &view, p)) &&
		    may_move(t, p, &entered))
			due[nr++] = which[i];
	}
	ret = t->engine->insert(t, due, nr);
	for (size_t i = 0; !ret && i < nr; i++)
		t->probes.v[due[i]].flags |= PROBE_FL_SET;
	free(due);
	return ret;
}

int probes_remove_some(struct trace *t, const uint32_t *which, size_t n)
{
	uint32_t *set = calloc(n + 1, sizeof(*set));
	size_t nr = 0;
	int ret;

	if (!set)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (t->probes.v[which[i]].flags & PROBE_FL_SET)
			set[nr++] = which[i];
	ret = t->engine->remove(t, set, nr);
	for (size_t i = 0; !ret && i < nr; i++)
		t->probes.v[set[i]].flags &= (uint16_t)~PROBE_FL_SET;
	free(set);
	return ret;
}

int probes_insert(struct trace *t, uint16_t with, uint16_t without)
{
	uint32_t *which = calloc(t->probes.nr + 1, sizeof(*which));
	size_t n = 0;
	int ret;

	if (!which)
		return -ENOMEM;
	for (size_t i = 0; i < t->probes.nr; i++)
		if (probe_matches(&t->probes.v[i], with, without) &&
		    probe_is_due(t, &t->probes.v[i]))
			which[n++] = (uint32_t)i;
	ret = probes_insert_some(t, which, n);
	if (!ret)
		probes_count(t);
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
	for (size_t i = t->probes.nr; i--;)
		if (probe_matches(&t->probes.v[i], with | PROBE_FL_SET, without))
			which[n++] = (uint32_t)i;
	ret = probes_remove_some(t, which, n);
	free(which);
	return ret;
}
