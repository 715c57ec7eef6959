// SPDX-License-Identifier: GPL-2.0-or-later
/* modules.c - see modules.h */
#include "tracer/guest/modules.h"

#include <errno.h>
#include <stdlib.h>

/* One reading. */
struct module_list {
	struct module_list *older;
	struct guestsym_module *mods;
	size_t nr;
};

static int read_memory(void *arg, uint64_t va, void *buf, size_t len)
{
	return guest_read(arg, va, buf, len);
}

struct module_list *modules_list_read(struct guest_kernel *g, const struct guestsym *gs,
				      struct module_list *older, int *ret)
{
	const struct guestsym_memory mem = {.read = read_memory, .arg = g};
	struct module_list *list = calloc(1, sizeof(*list));

	*ret = list ? guestsym_modules_read(gs, &mem, g->slide, &list->mods, &list->nr) : -ENOMEM;
	if (!*ret) {
		list->older = older;
		return list;
	}
	free(list);
	/* A kernel without modules, or one that does not say where they are, has none to trace. */
	if (*ret == -ENOENT || *ret == -ENODATA)
		*ret = 0;
	return NULL;
}

size_t modules_all(const struct module_list *list, const struct guestsym_module **mods)
{
	*mods = list ? list->mods : NULL;
	return list ? list->nr : 0;
}

void modules_each_site(const struct module_list *list, void (*fn)(void *arg, uint64_t va),
		       void *arg)
{
	for (size_t i = 0; list && i < list->nr; i++)
		for (size_t k = 0; k < list->mods[i].nr_sites; k++)
			fn(arg, list->mods[i].sites[k].addr);
}

int modules_each(const struct module_list *list,
		 int (*fn)(void *arg, const struct guestsym_module *mod), void *arg)
{
	int ret = 0;

	for (size_t i = 0; list && i < list->nr && !ret; i++)
		if (list->mods[i].state != GUESTSYM_MODULE_GOING)
			ret = fn(arg, &list->mods[i]);
	return ret;
}

const struct guestsym_module *modules_at(const struct module_list *list, uint64_t addr)
{
	for (size_t i = 0; list && i < list->nr; i++)
		if (list->mods[i].addr == addr)
			return &list->mods[i];
	return NULL;
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

const struct guestsym_symbol *modules_find(const struct module_list *list, uint64_t addr,
					   uint64_t *off, uint64_t *size)
{
	for (; list; list = list->older)
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

const char *modules_name_at(const struct module_list *list, uint64_t addr)
{
	for (; list; list = list->older)
		for (size_t i = 0; i < list->nr; i++)
			if (addr >= list->mods[i].text.start && addr < list->mods[i].text.end)
				return list->mods[i].name;
	return NULL;
}

void modules_free(struct module_list *list)
{
	while (list) {
		struct module_list *older = list->older;

		guestsym_modules_free(list->mods, list->nr);
		free(list);
		list = older;
	}
}

bool modules_is_site(const struct module_list *list, uint64_t va)
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
