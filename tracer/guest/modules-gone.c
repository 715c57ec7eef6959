// SPDX-License-Identifier: GPL-2.0-or-later
/* modules-gone.c - see modules-gone.h */
#include "tracer/guest/modules-gone.h"
#include "tracer/guest/modules.h"

#include <stdlib.h>
#include <string.h>

const struct guestsym_symbol *symbol_in(const struct guestsym_symbol *syms, size_t nr, uint64_t end,
					uint64_t addr, uint64_t *size)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	*size = (lo < nr ? syms[lo].addr : end) - syms[lo - 1].addr;
	return &syms[lo - 1];
}

bool modules_cover(const struct guestsym_module *mods, size_t nr, const struct guestsym_range *text)
{
	for (size_t i = 0; i < nr; i++)
		if (mods[i].text.start <= text->start && mods[i].text.end >= text->end)
			return true;
	return false;
}

void gone_modules_free(struct gone_modules *gone)
{
	for (size_t i = 0; i < gone->nr; i++)
		free(gone->v[i]);
	free(gone->v);
	*gone = (struct gone_modules){0};
}

/* --- what is kept of one --------------------------------------------------------------------- */

/* Within the text: no other is looked for. */
static bool is_kept(const struct guestsym_module *mod, size_t i)
{
	return mod->syms[i].addr < mod->text.end;
}

/* SIZE_MAX: more than is kept of all of them. */
static size_t bytes_of(const struct guestsym_module *mod)
{
	size_t bytes = sizeof(struct gone_module) + strlen(mod->name) + 1;

	for (size_t i = 0; i < mod->nr_syms; i++) {
		if (is_kept(mod, i))
			bytes += sizeof(*mod->syms) + strlen(mod->syms[i].name) + 1;
		if (bytes > MODULES_GONE_BYTES)
			return SIZE_MAX;
	}
	return bytes;
}

static char *name_copy(char **to, const char *name)
{
	size_t len = strlen(name) + 1;
	char *copy = memcpy(*to, name, len);

	*to += len;
	return copy;
}

static struct gone_module *gone_new(const struct guestsym_module *mod, size_t bytes)
{
	struct gone_module *g = malloc(bytes);
	size_t nr = 0;
	char *at;

	if (!g)
		return NULL;
	for (size_t i = 0; i < mod->nr_syms; i++)
		nr += is_kept(mod, i);
	*g = (struct gone_module){mod->text, mod->text, bytes, nr, NULL};
	at = (char *)&g->syms[nr];
	g->name = name_copy(&at, mod->name);
	nr = 0;
	for (size_t i = 0; i < mod->nr_syms; i++)
		if (is_kept(mod, i)) {
			g->syms[nr] = mod->syms[i];
			g->syms[nr++].name = name_copy(&at, mod->syms[i].name);
		}
	return g;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* Without those of which nothing is left, and the first n of the others. */
static void forget(struct gone_modules *gone, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < gone->nr; i++) {
		struct gone_module *g = gone->v[i];

		if (g->left.start < g->left.end && !n) {
			gone->v[kept++] = g;
			continue;
		}
		if (g->left.start < g->left.end) {
			gone->forgotten++;
			n--;
		}
		gone->bytes -= g->bytes;
		free(g);
	}
	gone->nr = kept;
}

static bool append(struct gone_modules *gone, struct gone_module *g)
{
	if (gone->nr == gone->room) {
		size_t room = gone->room ? 2 * gone->room : 16;
		void *v = reallocarray(gone->v, room, sizeof(*gone->v));

		if (!v)
			return false;
		gone->v = v;
		gone->room = room;
	}
	gone->v[gone->nr++] = g;
	gone->bytes += g->bytes;
	return true;
}

static void trim(struct gone_modules *gone, const struct guestsym_range *text, size_t end)
{
	for (size_t i = 0; i < end; i++) {
		struct guestsym_range *left = &gone->v[i]->left;

		if (text->start <= left->start && text->end > left->start)
			left->start = text->end;
		if (text->end >= left->end && text->start < left->end)
			left->end = text->start;
	}
}

void gone_modules_add(struct gone_modules *gone, const struct guestsym_module *mod)
{
	size_t bytes = mod->nr_syms ? bytes_of(mod) : 0, n = 0, room;
	struct gone_module *g;

	if (!bytes)
		return; /* it has no names */
	g = bytes == SIZE_MAX ? NULL : gone_new(mod, bytes);
	if (!g || !append(gone, g)) {
		free(g);
		gone->forgotten++;
		return;
	}
	trim(gone, &g->text, gone->nr - 1);
	forget(gone, 0);
	room = gone->bytes;
	while (gone->nr - n > MODULES_GONE_MAX || room > MODULES_GONE_BYTES)
		room -= gone->v[n++]->bytes;
	if (n)
		forget(gone, n);
}

void gone_modules_trim(struct gone_modules *gone, const struct guestsym_module *now, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		trim(gone, &now[i].text, gone->nr);
	forget(gone, 0);
}

const struct guestsym_symbol *gone_modules_find(const struct gone_modules *gone, uint64_t addr,
						uint64_t *size, const char **module)
{
	for (size_t i = gone->nr; i-- > 0;) {
		const struct gone_module *g = gone->v[i];
		const struct guestsym_symbol *sym;

		if (addr < g->left.start || addr >= g->left.end)
			continue;
		sym = symbol_in(g->syms, g->nr_syms, g->text.end, addr, size);
		if (!sym)
			continue;
		*module = g->name;
		return sym;
	}
	return NULL;
}
