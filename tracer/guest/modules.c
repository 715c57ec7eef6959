// SPDX-License-Identifier: GPL-2.0-or-later
/* modules.c - see modules.h; this file: the latest reading. */
#include "tracer/guest/modules.h"
#include "tracer/guest/modules-gone.h"
#include "tracer/guest/modules-places.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct module_list {
	pthread_rwlock_t lock; /* who looks for names may hold no other */
	struct guestsym_module *mods;
	size_t nr;
	struct module_place *places;   /* of mods */
	struct guestsym_module *ahead; /* the next reading shares what has not changed by then */
	size_t nr_ahead;
	uint64_t readings;
	struct gone_modules gone;
};

struct module_list *modules_list_new(void)
{
	struct module_list *list = calloc(1, sizeof(*list));

	if (list)
		pthread_rwlock_init(&list->lock, NULL);
	return list;
}

void modules_list_free(struct module_list *list)
{
	if (!list)
		return;
	guestsym_modules_free(list->mods, list->nr);
	free(list->places);
	guestsym_modules_free(list->ahead, list->nr_ahead);
	gone_modules_free(&list->gone);
	pthread_rwlock_destroy(&list->lock);
	free(list);
}

/* What is not there any more has gone; where something is, nothing else has been. */
static void keep_names(struct module_list *list, const struct guestsym_module *now, size_t nr)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!modules_cover(now, nr, &list->mods[i].text))
			gone_modules_add(&list->gone, &list->mods[i]);
	gone_modules_trim(&list->gone, now, nr);
}

int modules_list_copy(struct module_list *list, struct guest_kernel *g, const struct guestsym *gs,
		      struct guestsym_module_copies **copies)
{
	const struct guestsym_memory mem = guest_memory(g);

	return guestsym_modules_copy(gs, &mem, g->slide, list->ahead ? list->ahead : list->mods,
				     list->ahead ? list->nr_ahead : list->nr, copies);
}

void modules_list_ahead(struct module_list *list, struct guestsym_module *mods, size_t nr)
{
	guestsym_modules_free(list->ahead, list->nr_ahead);
	list->ahead = mods;
	list->nr_ahead = nr;
}

int modules_list_read(struct module_list *list, struct guest_kernel *g, const struct guestsym *gs)
{
	struct guestsym_module_copies *copies;
	struct guestsym_module *mods;
	struct module_place *places;
	size_t nr;
	int ret = modules_list_copy(list, g, gs, &copies);

	if (!ret)
		ret = guestsym_modules_parse(copies, &mods, &nr);
	modules_list_ahead(list, NULL, 0);
	if (ret)
		return ret;
	places = module_places_new(mods, nr);
	if (!places) {
		guestsym_modules_free(mods, nr);
		return -ENOMEM;
	}
	pthread_rwlock_wrlock(&list->lock);
	keep_names(list, mods, nr);
	guestsym_modules_free(list->mods, list->nr);
	free(list->places);
	list->places = places;
	list->mods = mods;
	list->nr = nr;
	list->readings++;
	pthread_rwlock_unlock(&list->lock);
	return 0;
}

uint64_t modules_readings(const struct module_list *list)
{
	return list->readings;
}

size_t modules_all(const struct module_list *list, const struct guestsym_module **mods)
{
	*mods = list->mods;
	return list->nr;
}

void modules_each_site(const struct module_list *list, void (*fn)(void *arg, uint64_t va),
		       void *arg)
{
	for (size_t i = 0; i < list->nr; i++)
		for (size_t k = 0; k < list->mods[i].nr_sites; k++)
			fn(arg, list->mods[i].sites[k].addr);
}

int modules_each(const struct module_list *list,
		 int (*fn)(void *arg, const struct guestsym_module *mod), void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < list->nr && !ret; i++)
		if (list->mods[i].state != GUESTSYM_MODULE_GOING)
			ret = fn(arg, &list->mods[i]);
	return ret;
}

const struct guestsym_module *modules_at(const struct module_list *list, uint64_t addr)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->mods[i].addr == addr)
			return &list->mods[i];
	return NULL;
}

/* --- names ----------------------------------------------------------------------------------- */

static const struct guestsym_module *module_in(const struct module_list *list, uint64_t addr)
{
	struct module_search s = {.addr = addr};
	const struct module_place *p = module_places_find(list->places, list->nr, &s);

	return p ? &list->mods[p->mod] : NULL;
}

/* The symbol that addr is in, and the module of it. */
static const struct guestsym_symbol *find(const struct module_list *list, uint64_t addr,
					  uint64_t *size, const struct guestsym_module **mod)
{
	*mod = module_in(list, addr);
	return *mod ? symbol_in((*mod)->syms, (*mod)->nr_syms, (*mod)->text.end, addr, size) : NULL;
}

const struct guestsym_symbol *modules_find(const struct module_list *list, uint64_t addr,
					   uint64_t *off, uint64_t *size)
{
	const struct guestsym_module *mod;
	const struct guestsym_symbol *sym = find(list, addr, size, &mod);

	if (sym)
		*off = addr - sym->addr;
	return sym;
}

const char *modules_name_at(const struct module_list *list, uint64_t addr)
{
	const struct guestsym_module *mod = module_in(list, addr);

	return mod ? mod->name : NULL;
}

bool modules_symbol(struct module_list *list, uint64_t addr, struct module_symbol *to)
{
	const struct guestsym_module *mod = NULL;
	const struct guestsym_symbol *sym;
	const char *module = NULL;

	pthread_rwlock_rdlock(&list->lock);
	sym = find(list, addr, &to->size, &mod);
	if (sym)
		module = mod->name;
	else
		sym = gone_modules_find(&list->gone, addr, &to->size, &module);
	if (sym) {
		to->off = addr - sym->addr;
		snprintf(to->name, sizeof(to->name), "%s", sym->name);
		snprintf(to->module, sizeof(to->module), "%s", module);
	}
	pthread_rwlock_unlock(&list->lock);
	return sym;
}

uint64_t modules_forgotten(const struct module_list *list)
{
	return list->gone.forgotten;
}
