// SPDX-License-Identifier: GPL-2.0-or-later
/* map.c - the map, from the symbols of the kernel and of its modules and from the probes. */
#include "tracer/probe/returns/map.h"
#include "tracer/guest/modules.h"

#include <errno.h>
#include <stdlib.h>

static int map_add(struct text_map *map, const struct piece *piece)
{
	/* Of several names at one place the first is kept. */
	if (map->nr && map->v[map->nr - 1].start == piece->start)
		return 0;
	if (map->nr == map->room) {
		size_t room = map->room ? 2 * map->room : 1024;
		struct piece *v = realloc(map->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		map->v = v;
		map->room = room;
	}
	map->v[map->nr++] = *piece;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

/* Those of the kernel alone are, as its symbols are. */
static bool is_sorted(const struct text_map *map)
{
	for (size_t i = 1; i < map->nr; i++)
		if (map->v[i - 1].start > map->v[i].start)
			return false;
	return true;
}

/* Each ends where the next one begins. */
static void map_finish(struct text_map *map)
{
	if (!is_sorted(map))
		qsort(map->v, map->nr, sizeof(*map->v), by_start);
	for (size_t i = 1; i < map->nr; i++)
		if (map->v[i - 1].end > map->v[i].start)
			map->v[i - 1].end = map->v[i].start;
}

/* Between two of the kernel's symbols. */
static int map_section(struct text_map *map, const struct trace *t, const char *first,
		       const char *last, bool init)
{
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(t->gs, &syms);
	uint64_t start = guestsym_addr(t->gs, first), end = guestsym_addr(t->gs, last);

	for (size_t i = 0; i < n; i++) {
		struct piece p = {
			.start = syms[i].addr + t->guest.slide,
			.end = end + t->guest.slide,
			.name = syms[i].name,
			.probe = UINT32_MAX,
			.init = init,
		};

		if (syms[i].addr >= start && syms[i].addr < end && map_add(map, &p))
			return -ENOMEM;
	}
	return 0;
}

static int map_kernel(struct text_map *map, const struct trace *t)
{
	int ret = map_section(map, t, "_stext", "_etext", false);

	if (!ret && !t->cfg.running && !atomic_load(&t->booted))
		ret = map_section(map, t, "_sinittext", "_einittext", true);
	return ret;
}

static int map_module(void *arg, const struct guestsym_module *mod)
{
	struct text_map *map = arg;

	for (size_t i = 0; i < mod->nr_syms; i++) {
		struct piece p = {
			.start = mod->syms[i].addr,
			.end = mod->text.end,
			.name = mod->syms[i].name,
			.probe = UINT32_MAX,
			.module = true,
		};

		if (p.start >= mod->text.start && p.start < p.end && map_add(map, &p))
			return -ENOMEM;
	}
	return 0;
}

struct piece *text_map_at(const struct text_map *map, uint64_t va)
{
	size_t lo = 0, hi = map->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (map->v[mid].start <= va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && va < map->v[lo - 1].end ? &map->v[lo - 1] : NULL;
}

static void map_probes(struct text_map *map, const struct trace *t)
{

	for (size_t i = 0; i < t->probes.nr; i++) {
		const struct probe *p = &t->probes.v[i];
		struct piece *piece;

		if (!(p->flags & PROBE_FL_FUNCTION) || p->flags & (PROBE_FL_GONE | PROBE_FL_GOING))
			continue;
		piece = text_map_at(map, p->va + t->guest.slide);
		if (piece)
			piece->probe = (uint32_t)i;
	}
}

int text_map_make(struct text_map *map, struct trace *t)
{
	int ret;

	*map = (struct text_map){0};
	ret = map_kernel(map, t);
	if (!ret)
		ret = modules_each(t->modules, map_module, map);
	if (ret)
		return ret;
	map_finish(map);
	map_probes(map, t);
	return 0;
}

void text_map_free(struct text_map *map)
{
	free(map->v);
}
