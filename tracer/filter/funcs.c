// SPDX-License-Identifier: GPL-2.0-or-later
/* funcs.c - see funcs.h */
#include "tracer/filter/funcs.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What is behind a list. */
struct funcs_full {
	struct funcs fs; /* first */
	atomic_uint refs;
	struct func *v;
	char *names;
	/* By address: index, or FUNC_NONE, at its hash or behind it. At least half is FUNC_NONE. */
	uint32_t *slot;
	uint32_t mask;
};

static struct funcs_full *full_of(struct funcs *fs)
{
	return (struct funcs_full *)fs;
}

static uint32_t hash(uint64_t addr)
{
	return (uint32_t)(addr * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static void full_free(struct funcs_full *full)
{
	free(full->v);
	free(full->names);
	free(full->slot);
	free(full);
}

static size_t name_bytes(const char *name)
{
	return name ? strlen(name) + 1 : 0;
}

static const char *name_copy(char **to, const char *name)
{
	char *copy = *to;

	if (!name)
		return NULL;
	memcpy(copy, name, name_bytes(name));
	*to += name_bytes(name);
	return copy;
}

/* Functions of a module follow each other: its name is kept once for all. */
static bool same_module(const struct func *v, size_t i)
{
	return i && v[i].module && v[i - 1].module && !strcmp(v[i].module, v[i - 1].module);
}

static bool copy_funcs(struct funcs_full *full, const struct func *v, size_t nr)
{
	size_t bytes = 1;
	char *at;

	for (size_t i = 0; i < nr; i++)
		bytes += name_bytes(v[i].name) + name_bytes(v[i].module);
	full->v = malloc((nr + 1) * sizeof(*v));
	full->names = at = malloc(bytes);
	if (!full->v || !at)
		return false;
	for (size_t i = 0; i < nr; i++) {
		full->v[i] = v[i];
		full->v[i].name = name_copy(&at, v[i].name);
		full->v[i].module =
			same_module(v, i) ? full->v[i - 1].module : name_copy(&at, v[i].module);
	}
	full->fs = (struct funcs){.v = full->v, .nr = (uint32_t)nr};
	return true;
}

static bool make_slots(struct funcs_full *full)
{
	size_t size = 16;

	while (size < 2 * (size_t)full->fs.nr)
		size *= 2;
	full->slot = malloc(size * sizeof(full->slot[0]));
	if (!full->slot)
		return false;
	memset(full->slot, 0xff, size * sizeof(full->slot[0]));
	full->mask = (uint32_t)(size - 1);
	for (uint32_t i = 0; i < full->fs.nr; i++) {
		uint32_t at = hash(full->v[i].addr) & full->mask;

		while (full->slot[at] != FUNC_NONE)
			at = (at + 1) & full->mask;
		full->slot[at] = i;
	}
	return true;
}

struct funcs *funcs_new(const struct func *v, size_t nr)
{
	struct funcs_full *full = nr < UINT32_MAX / 4 ? calloc(1, sizeof(*full)) : NULL;

	if (!full)
		return NULL;
	atomic_init(&full->refs, 1);
	if (!copy_funcs(full, v, nr) || !make_slots(full)) {
		full_free(full);
		return NULL;
	}
	return &full->fs;
}

struct funcs *funcs_get(struct funcs *fs)
{
	atomic_fetch_add_explicit(&full_of(fs)->refs, 1, memory_order_relaxed);
	return fs;
}

void funcs_put(struct funcs *fs)
{
	if (fs && atomic_fetch_sub_explicit(&full_of(fs)->refs, 1, memory_order_acq_rel) == 1)
		full_free(full_of(fs));
}

uint32_t funcs_at(const struct funcs *fs, uint64_t addr)
{
	const struct funcs_full *full = (const struct funcs_full *)fs;
	uint32_t at = hash(addr) & full->mask;

	while (full->slot[at] != FUNC_NONE && full->v[full->slot[at]].addr != addr)
		at = (at + 1) & full->mask;
	return full->slot[at];
}

uint32_t funcs_same(const struct funcs *fs, uint32_t func, const struct funcs *in)
{
	const struct func *f = &fs->v[func];
	uint32_t i = funcs_at(in, f->addr);

	if (i == FUNC_NONE || strcmp(in->v[i].name, f->name) || !in->v[i].module != !f->module ||
	    (f->module && strcmp(in->v[i].module, f->module)))
		return FUNC_NONE;
	return i;
}

bool funcs_have_module(const struct funcs *fs, const char *module)
{
	for (uint32_t i = 0; i < fs->nr; i++)
		if (fs->v[i].module && !strcmp(fs->v[i].module, module))
			return true;
	return false;
}

void func_print(const struct func *f, struct text *out)
{
	text_puts(out, f->name);
	if (!f->module)
		return;
	text_puts(out, " [");
	text_puts(out, f->module);
	text_puts(out, "]");
}

void funcs_print(const struct funcs *fs, bool addrs, struct text *out)
{
	for (uint32_t i = 0; i < fs->nr; i++) {
		if (addrs)
			text_printf(out, "%" PRIx64 " ", fs->v[i].addr);
		func_print(&fs->v[i], out);
		text_putc(out, '\n');
	}
}
