// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.c - the modules of the guest's kernel: their functions become probes when they are
 * loaded, and stop being probes before their text is freed.
 */
#include "tracer/internal.h"
#include "tracer/events/events.h"
#include "tracer/guest/modules.h"
#include "tracer/instance/files.h"
#include "tracer/probe/probe.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int module_add(void *arg, const struct guestsym_module *mod)
{
	struct trace *t = arg;

	for (size_t i = 0; i < mod->nr_sites; i++) {
		const struct guestsym_site *s = &mod->sites[i];
		uint64_t va = s->addr - t->guest.slide;
		struct probe *p;

		if (s->flags & GUESTSYM_SITE_INVALID || !site_in_one_piece(&t->guest, s->addr))
			continue;
		p = probe_set_at(&t->probes, va);
		if (!p)
			return -ENOMEM;
		p->name = s->name;
		if (p->flags & PROBE_FL_FUNCTION)
			continue; /* it was here at the last reading */
		p->flags = PROBE_FL_FUNCTION | PROBE_FL_MODULE;
	}
	return 0;
}

int modules_update(struct trace *t)
{
	struct module_list *list;
	int ret;

	list = modules_list_read(&t->guest, t->gs, t->modules, &ret);
	if (!list)
		return ret;
	t->modules = list;
	events_changed(t->trace_events);
	ret = modules_each(list, module_add, t);
	if (trace_unwind(t))
		trace_unwind_modules(t);
	return ret;
}

int modules_catch_up(struct trace *t)
{
	int ret = modules_update(t);

	for (size_t i = 0; i < t->probes.nr && !ret; i++) {
		struct probe *p = &t->probes.v[i];

		/* Return sites are found anew. */
		if (p->flags & PROBE_FL_MODULE &&
		    (p->flags & PROBE_FL_EXIT ||
		     !modules_is_site(t->modules, p->va + t->guest.slide)))
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
