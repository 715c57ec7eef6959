// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.c - the modules of the guest's kernel: their functions become probes when they are
 * loaded, and stop being probes before their text is freed.
 */
#include "tracer/events/events.h"
#include "tracer/instance/instance.h"
#include "tracer/unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One reading of the list. Older ones are kept: records may tell of functions that have gone. */
struct module_list {
	struct module_list *older;
	struct guestsym_module *mods;
	size_t nr;
};

static int modules_read_memory(void *arg, uint64_t va, void *buf, size_t len)
{
	return guest_read(arg, va, buf, len);
}

static struct module_list *modules_read(struct trace *t, int *ret)
{
	const struct guestsym_memory mem = {.read = modules_read_memory, .arg = &t->guest};
	struct module_list *list = calloc(1, sizeof(*list));

	*ret = list ? guestsym_modules_read(t->gs, &mem, t->guest.slide, &list->mods, &list->nr)
		    : -ENOMEM;
	if (!*ret)
		return list;
	free(list);
	/* A kernel without modules, or one that does not say where they are, has none to trace. */
	if (*ret == -ENOENT || *ret == -ENODATA)
		*ret = 0;
	return NULL;
}

static int module_add(struct trace *t, const struct guestsym_module *mod)
{
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

	list = modules_read(t, &ret);
	if (!list)
		return ret;
	list->older = t->modules;
	t->modules = list;
	events_changed(t->trace_events);
	for (size_t i = 0; i < list->nr && !ret; i++)
		if (list->mods[i].state != GUESTSYM_MODULE_GOING)
			ret = module_add(t, &list->mods[i]);
	if (atomic_load(&t->unwind_ready) && t->unwind)
		modules_unwind(t);
	return ret;
}

/* Without memory, traces end where a module's code is. */
void modules_unwind(struct trace *t)
{
	if (!t->modules)
		return;
	instance_writers_stop(t);
	unwind_modules(t->unwind, t->gs, &t->guest, t->modules->mods, t->modules->nr);
	instance_writers_go(t);
}

void modules_each_site(const struct trace *t, void (*fn)(void *arg, uint64_t va), void *arg)
{
	for (size_t i = 0; t->modules && i < t->modules->nr; i++)
		for (size_t k = 0; k < t->modules->mods[i].nr_sites; k++)
			fn(arg, t->modules->mods[i].sites[k].addr);
}

int modules_each(const struct trace *t, int (*fn)(void *arg, const struct guestsym_module *mod),
		 void *arg)
{
	int ret = 0;

	for (size_t i = 0; t->modules && i < t->modules->nr && !ret; i++)
		if (t->modules->mods[i].state != GUESTSYM_MODULE_GOING)
			ret = fn(arg, &t->modules->mods[i]);
	return ret;
}

/* Another module may lie where one has gone, with the same bytes at other places. */
static bool is_a_site(const struct module_list *list, uint64_t va)
{
	for (size_t i = 0; list && i < list->nr; i++) {
		const struct guestsym_module *mod = &list->mods[i];

		if (va < mod->text.start || va >= mod->text.end)
			continue;
		for (size_t k = 0; k < mod->nr_sites; k++)
			if (mod->sites[k].addr == va)
				return true;
	}
	return false;
}

int modules_catch_up(struct trace *t)
{
	int ret = modules_update(t);

	for (size_t i = 0; i < t->probes.nr && !ret; i++) {
		struct probe *p = &t->probes.v[i];

		/* Return sites are found anew. */
		if (p->flags & PROBE_FL_MODULE &&
		    (p->flags & PROBE_FL_EXIT || !is_a_site(t->modules, p->va + t->guest.slide)))
			p->flags |= PROBE_FL_GONE;
	}
	return ret;
}

static const struct guestsym_module *module_at(const struct module_list *list, uint64_t addr)
{
	for (size_t i = 0; list && i < list->nr; i++)
		if (list->mods[i].addr == addr)
			return &list->mods[i];
	return NULL;
}

int modules_going(struct trace *t, uint64_t addr)
{
	const struct guestsym_module *mod = module_at(t->modules, addr);
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

static const struct guestsym_symbol *symbol_in(const struct guestsym_module *mod, uint64_t addr,
					       uint64_t *size)
{
	size_t lo = 0, hi = mod->nr_syms;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (mod->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	*size = (lo < mod->nr_syms ? mod->syms[lo].addr : mod->text.end) - mod->syms[lo - 1].addr;
	return &mod->syms[lo - 1];
}

const struct guestsym_symbol *modules_find(const struct trace *t, uint64_t addr, uint64_t *off,
					   uint64_t *size)
{
	for (const struct module_list *list = t->modules; list; list = list->older)
		for (size_t i = 0; i < list->nr; i++) {
			const struct guestsym_module *mod = &list->mods[i];
			const struct guestsym_symbol *sym;

			if (addr < mod->text.start || addr >= mod->text.end)
				continue;
			sym = symbol_in(mod, addr, size);
			if (sym) {
				*off = addr - sym->addr;
				return sym;
			}
		}
	return NULL;
}

const char *modules_name_at(const struct trace *t, uint64_t addr)
{
	for (const struct module_list *list = t->modules; list; list = list->older)
		for (size_t i = 0; i < list->nr; i++)
			if (addr >= list->mods[i].text.start && addr < list->mods[i].text.end)
				return list->mods[i].name;
	return NULL;
}

void modules_free(struct trace *t)
{
	while (t->modules) {
		struct module_list *list = t->modules;

		t->modules = list->older;
		guestsym_modules_free(list->mods, list->nr);
		free(list);
	}
}
