// SPDX-License-Identifier: GPL-2.0-or-later
/* funcs.c - see funcs.h */
#include "tracer/filter/funcs.h"
#include "tracer/lib/addr-index.h"

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
	struct addr_index index;
};

static struct funcs_full *full_of(struct funcs *fs)
{
	return (struct funcs_full *)fs;
}

static void full_free(struct funcs_full *full)
{
	free(full->v);
	free(full->names);
	addr_index_exit(&full->index);
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

static uint64_t func_addr(const void *arg, uint32_t i)
{
	const struct funcs_full *full = arg;

	return full->v[i].addr;
}

static bool make_index(struct funcs_full *full)
{
	if (addr_index_init(&full->index, full->fs.nr, func_addr, full))
		return false;
	for (uint32_t i = 0; i < full->fs.nr; i++) {
		uint32_t *place = addr_index_place(&full->index, full->v[i].addr);

		/* Of several the first. */
		if (place && *place == ADDR_INDEX_NONE)
			*place = i;
	}
	return true;
}

struct funcs *funcs_new(const struct func *v, size_t nr)
{
	struct funcs_full *full = nr < UINT32_MAX / 4 ? calloc(1, sizeof(*full)) : NULL;

	if (!full)
		return NULL;
	atomic_init(&full->refs, 1);
	if (!copy_funcs(full, v, nr) || !make_index(full)) {
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
	const uint32_t *place = addr_index_place(&full->index, addr);

	_Static_assert(FUNC_NONE == ADDR_INDEX_NONE, "what has no entry is no function");
	return place ? *place : FUNC_NONE;
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
