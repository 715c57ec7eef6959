// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - the sorted symbols of an image, and looking them up by name and by address. */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>

static size_t slot_of(const struct symbols *s, const char *name)
{
	size_t i = hash64(name, strlen(name)) & s->mask;

	while (s->hash[i] && strcmp(s->v[s->hash[i] - 1].name, name) != 0)
		i = (i + 1) & s->mask;
	return i;
}

static int index_names(struct symbols *s)
{
	size_t size = 64;

	while (size < 2 * s->n)
		size *= 2;
	s->hash = calloc(size, sizeof(*s->hash));
	if (!s->hash)
		return -ENOMEM;
	s->mask = size - 1;
	for (size_t i = 0; i < s->n; i++) {
		size_t slot = slot_of(s, s->v[i].name);

		if (!s->hash[slot])
			s->hash[slot] = i + 1;
	}
	return 0;
}

/* What the kernel's is_kernel() covers: _stext to _end (include/asm-generic/sections.h). */
static void find_limits(struct symbols *s, const struct elf_image *e)
{
	s->start = symbols_addr(s, "_stext");
	if (!s->start)
		s->start = symbols_addr(s, "_text");
	s->end = symbols_addr(s, "_end");
	for (size_t i = 0; i < e->nr_segs; i++) {
		const struct elf_segment *seg = &e->segs[i];

		if (seg->va < KERNEL_MAP)
			continue;
		if (!s->start)
			s->start = seg->va;
		if (!s->end || (s->end < s->start && seg->va + seg->memsz > s->end))
			s->end = seg->va + (seg->memsz - 1);
	}
}

int symbols_index(struct symbols *s, const struct elf_image *e)
{
	int err = index_names(s);

	if (!err)
		find_limits(s, e);
	return err;
}

void symbols_exit(struct symbols *s)
{
	free(s->v);
	free(s->names);
	free(s->hash);
	*s = (struct symbols){0};
}

const struct guestsym_symbol *symbols_lookup(const struct symbols *s, const char *name)
{
	uint32_t i = s->hash[slot_of(s, name)];

	return i ? &s->v[i - 1] : NULL;
}

uint64_t symbols_addr(const struct symbols *s, const char *name)
{
	const struct guestsym_symbol *sym = symbols_lookup(s, name);

	return sym ? sym->addr : 0;
}

/* As get_symbol_pos() of kernel/kallsyms.c. */
const struct guestsym_symbol *symbols_find(const struct symbols *s, uint64_t addr, uint64_t *off,
					   uint64_t *size)
{
	size_t low = 0, high = s->n, next;

	if (addr < s->start || addr >= s->end || !s->n || s->v[0].addr > addr)
		return NULL;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (s->v[mid].addr <= addr)
			low = mid;
		else
			high = mid;
	}
	next = high;
	while (low && s->v[low - 1].addr == s->v[low].addr)
		low--;
	if (off)
		*off = addr - s->v[low].addr;
	if (size)
		*size = (next < s->n ? s->v[next].addr : s->end) - s->v[low].addr;
	return &s->v[low];
}
