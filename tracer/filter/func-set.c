// SPDX-License-Identifier: GPL-2.0-or-later
/* func-set.c - see func-set.h */
#include "tracer/filter/func-set.h"

#include <stdlib.h>

#include "tracer/lib/glob.h"

struct func_set *func_set_new(struct funcs *fs)
{
	struct func_set *set = calloc(1, sizeof(*set) + (fs->nr / 64 + 1) * sizeof(set->bits[0]));

	if (set)
		set->funcs = funcs_get(fs);
	return set;
}

struct func_set *func_set_copy(const struct func_set *from, struct funcs *fs)
{
	struct func_set *set = func_set_new(fs);

	if (!set || !from)
		return set;
	set->gone = from->gone;
	set->waits = from->waits;
	for (uint32_t i = func_set_next(from, 0); i != FUNC_NONE; i = func_set_next(from, i + 1)) {
		uint32_t to = from->funcs == fs ? i : funcs_same(from->funcs, i, fs);

		if (to == FUNC_NONE)
			set->gone++;
		else
			func_set_add(set, to);
	}
	return set;
}

void func_set_free(struct func_set *set)
{
	if (!set)
		return;
	funcs_put(set->funcs);
	free(set);
}

void func_set_add(struct func_set *set, uint32_t func)
{
	set->count += !func_set_has(set, func);
	set->bits[func / 64] |= UINT64_C(1) << (func % 64);
}

void func_set_remove(struct func_set *set, uint32_t func)
{
	set->count -= func_set_has(set, func);
	set->bits[func / 64] &= ~(UINT64_C(1) << (func % 64));
}

uint32_t func_set_next(const struct func_set *set, uint32_t from)
{
	uint32_t word = from / 64, words = set->funcs->nr / 64 + 1;
	uint64_t bits = word < words ? set->bits[word] & ~UINT64_C(0) << (from % 64) : 0;

	while (!bits && ++word < words)
		bits = set->bits[word];
	return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : FUNC_NONE;
}

static void enter(struct func_set *set, uint32_t func, bool remove)
{
	if (remove)
		func_set_remove(set, func);
	else
		func_set_add(set, func);
}

static bool enter_by_index(struct func_set *set, const struct glob *func)
{
	unsigned long index = strtoul(func->search, NULL, 0);

	if (!index || index > set->funcs->nr)
		return false;
	enter(set, (uint32_t)(index - 1), func->invert);
	return true;
}

static bool module_match(const struct func *f, const struct glob *module)
{
	if (!module->len)
		return !f->module == module->invert;
	return (f->module && glob_match(module, f->module)) != module->invert;
}

/* module is NULL for any function. */
static bool func_match(const struct func *f, const struct glob *func, const struct glob *module)
{
	if (f->invalid || (module && !module_match(f, module)))
		return false;
	return (module && !func->len) || glob_match(func, f->name);
}

bool func_set_match(struct func_set *set, char *func, char *module)
{
	struct glob func_glob, module_glob;
	bool found = false;

	glob_parse(&func_glob, func);
	if (module)
		glob_parse(&module_glob, module);
	if (func_glob.type == GLOB_INDEX)
		return enter_by_index(set, &func_glob);
	for (uint32_t i = 0; i < set->funcs->nr; i++) {
		if (!func_match(&set->funcs->v[i], &func_glob, module ? &module_glob : NULL))
			continue;
		enter(set, i, func_glob.invert);
		found = true;
	}
	return found;
}

bool func_set_match_graph(struct func_set *set, char *func)
{
	struct glob glob;
	bool found = false;

	glob_parse(&glob, func);
	for (uint32_t i = 0; i < set->funcs->nr; i++) {
		if (!func_match(&set->funcs->v[i], &glob, NULL))
			continue;
		found |= !glob.invert || func_set_has(set, i);
		enter(set, i, glob.invert);
	}
	return found;
}
