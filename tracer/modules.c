// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.c - the modules of the guest's kernel: their functions become probes when they are
 * loaded, and stop being probes before their text is freed.
 */
#include "tracer/internal.h"
#include "tracer/core/lock.h"
#include "tracer/events/events.h"
#include "tracer/guest/modules.h"
#include "tracer/instance/files.h"
#include "tracer/lib/addr-index.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- which probe is where -------------------------------------------------------------------- */

static uint64_t probe_va(const void *arg, uint32_t i)
{
	const struct probe_set *set = arg;

	return set->v[i].va;
}

/* The probes that have not gone, by address, with room for n more. 0 or -ENOMEM. */
static int places_make(struct addr_index *at, const struct probe_set *set, size_t n)
{
	int ret = addr_index_init(at, set->nr + n, probe_va, set);

	for (size_t i = 0; i < set->nr && !ret; i++) {
		uint32_t *place = addr_index_place(at, set->v[i].va);

		/* Of several the first, as everywhere. */
		if (!(set->v[i].flags & PROBE_FL_GONE) && place && *place == ADDR_INDEX_NONE)
			*place = (uint32_t)i;
	}
	return ret;
}

/* --- modules and their probes ---------------------------------------------------------------- */

/* A probe of no module that is there is none of a function that can be named. */
static const char no_name[] = "";

struct update {
	struct trace *t;
	struct addr_index at;
	bool full; /* there are more functions than there can be probes */
};

static int site_add(struct update *u, const struct guestsym_module *mod,
		    const struct guestsym_site *s)
{
	struct probe_set *set = &u->t->probes;
	uint64_t va = s->addr - u->t->guest.slide;
	uint32_t *place = addr_index_place(&u->at, va);
	struct probe *p;

	if (place && *place != ADDR_INDEX_NONE) {
		p = &set->v[*place];
		if (p->flags & PROBE_FL_MODULE && p->flags & PROBE_FL_FUNCTION)
			p->name = s->name; /* it was here at the last reading */
		return 0;
	}
	if (mod->state == GUESTSYM_MODULE_GOING || s->flags & GUESTSYM_SITE_INVALID ||
	    !site_in_one_piece(&u->t->guest, s->addr))
		return 0;
	if (!place || (!set->nr_free && set->nr >= PROBES_MAX / 2)) {
		u->full = true;
		return 0;
	}
	p = probe_add(set, va);
	if (!p)
		return -ENOMEM;
	p->name = s->name;
	p->flags = PROBE_FL_FUNCTION | PROBE_FL_MODULE;
	*place = (uint32_t)(p - set->v);
	return 0;
}

static int sites_add(struct update *u)
{
	const struct guestsym_module *mods;
	size_t nr = modules_all(u->t->modules, &mods);
	int ret = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < mods[i].nr_sites && !ret; k++)
			ret = site_add(u, &mods[i], &mods[i].sites[k]);
	return ret;
}

static bool is_of_module(const struct probe *p)
{
	return p->flags & PROBE_FL_MODULE && p->flags & PROBE_FL_FUNCTION;
}

/* Names were those of the last reading, which is no more. */
static void names_forget(struct probe_set *set)
{
	for (size_t i = 0; i < set->nr; i++)
		if (is_of_module(&set->v[i]))
			set->v[i].name = no_name;
}

/* Modules may have left unseen. What is in the guest for them is taken out as not selected. */
static void those_left(struct probe_set *set)
{
	for (size_t i = 0; i < set->nr; i++) {
		struct probe *p = &set->v[i];

		if (is_of_module(p) && p->name == no_name && !(p->flags & PROBE_FL_SET))
			p->flags |= PROBE_FL_GONE;
	}
}

static int probes_of_modules(struct trace *t)
{
	struct update u = {.t = t};
	const struct guestsym_module *mods;
	size_t nr = modules_all(t->modules, &mods), sites = 0;
	int ret;

	for (size_t i = 0; i < nr; i++)
		sites += mods[i].nr_sites;
	returns_forget_gone(t);
	flag_sites_forget_gone(t);
	probes_recycle(&t->probes);
	ret = places_make(&u.at, &t->probes, sites);
	names_forget(&t->probes);
	if (!ret)
		ret = sites_add(&u);
	addr_index_exit(&u.at);
	those_left(&t->probes);
	if (u.full)
		trace_note(t, "the guest's modules have more functions than can be traced: some "
			      "are left out");
	return ret;
}

static void tell_forgotten(struct trace *t, uint64_t before)
{
	if (!before && modules_forgotten(t->modules))
		trace_note(t, "many modules have been unloaded: functions of those that went first "
			      "are shown as addresses");
}

void modules_prepare(struct trace *t)
{
	struct guestsym_module_copies *copies;
	struct guestsym_module *mods;
	size_t nr;
	int ret;

	machine_pause_for(t->m, "copying its modules' tables");
	change_lock(t);
	ret = modules_list_copy(t->modules, &t->guest, t->gs, &copies);
	change_unlock(t);
	machine_resume(t->m);
	if (ret || guestsym_modules_parse(copies, &mods, &nr))
		return;
	change_lock(t);
	modules_list_ahead(t->modules, mods, nr);
	change_unlock(t);
}

int modules_update(struct trace *t)
{
	uint64_t forgotten = modules_forgotten(t->modules);
	int ret = modules_list_read(t->modules, &t->guest, t->gs);

	/* A kernel without modules, or one that does not say where they are, has none to trace. */
	if (ret == -ENOENT || ret == -ENODATA)
		return 0;
	if (ret)
		return ret;
	tell_forgotten(t, forgotten);
	events_changed(t->trace_events);
	ret = probes_of_modules(t);
	if (trace_unwind(t))
		trace_unwind_modules(t);
	return ret;
}

int modules_catch_up(struct trace *t)
{
	int ret = modules_update(t);

	for (size_t i = 0; i < t->probes.nr && !ret; i++) {
		struct probe *p = &t->probes.v[i];

		/* Another module may lie where one has gone: all but functions are found anew. */
		if (p->flags & PROBE_FL_MODULE && (!is_of_module(p) || p->name == no_name))
			p->flags |= PROBE_FL_GONE;
	}
	return ret;
}

int modules_going(struct trace *t, uint64_t addr)
{
	const struct guestsym_module *mod = modules_at(t->modules, addr);
	int ret;

	events_changed(t->trace_events);
	if (!mod)
		return 0;
	for (size_t i = 0; i < t->probes.nr; i++) {
		struct probe *p = &t->probes.v[i];
		uint64_t va = p->va + t->guest.slide;

		if (p->flags & PROBE_FL_MODULE && va >= mod->text.start && va < mod->text.end)
			p->flags |= PROBE_FL_GOING;
	}
	ret = probes_remove(t, PROBE_FL_GOING, PROBE_FL_GONE);
	for (size_t i = 0; i < t->probes.nr; i++)
		if (t->probes.v[i].flags & PROBE_FL_GOING)
			t->probes.v[i].flags |= PROBE_FL_GONE;
	return ret ? ret : selection_update(t);
}
