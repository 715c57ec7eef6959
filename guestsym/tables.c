// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - the smaller tables that symbols of the image delimit. */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>

#define TRACEPOINT_NAME_MAX 255
/* Bytes of one table; the largest are BTF and ORC, of some 6 MB. */
#define TABLE_MAX (UINT64_C(64) << 20)

size_t table_entries(const struct elf_image *e, const struct symbols *s, const char *start,
		     const char *stop, size_t entry, uint64_t *va, const uint8_t **p)
{
	uint64_t end = symbols_addr(s, stop);

	*va = symbols_addr(s, start);
	if (!*va || end <= *va || end - *va > TABLE_MAX)
		return 0;
	*p = elf_image_at(e, *va, end - *va);
	return *p ? (end - *va) / entry : 0;
}

/* Room for n entries of a table; none is no error. */
static void *table_new(size_t n, size_t size)
{
	return calloc(n ? n : 1, size);
}

static int by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

/* objtool's .return_sites: place-relative (arch/x86/kernel/alternative.c: apply_returns()). */
static int read_returns(struct tables *t, const struct elf_image *e, const struct symbols *s)
{
	const uint8_t *p = NULL;
	uint64_t va;
	size_t n = table_entries(e, s, "__return_sites", "__return_sites_end", 4, &va, &p);

	t->returns = table_new(n, sizeof(*t->returns));
	if (!t->returns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		t->returns[i] = place_relative(va + 4 * i, p + 4 * i);
	qsort(t->returns, n, sizeof(*t->returns), by_value);
	t->nr_returns = n;
	return 0;
}

/* __tracepoints_ptrs: place-relative; a struct tracepoint starts with the pointer to its name. */
static int read_tracepoints(struct tables *t, const struct elf_image *e, const struct symbols *s)
{
	const uint8_t *p = NULL;
	uint64_t va;
	size_t n = table_entries(e, s, "__start___tracepoints_ptrs", "__stop___tracepoints_ptrs", 4,
				 &va, &p);

	t->tracepoints = table_new(n, sizeof(*t->tracepoints));
	if (!t->tracepoints)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = place_relative(va + 4 * i, p + 4 * i);
		const uint8_t *tp = elf_image_at(e, addr, 8);
		const char *name =
			tp ? elf_image_string(e, get_u64(tp), TRACEPOINT_NAME_MAX) : NULL;

		if (name && name_is_plain(name, TRACEPOINT_NAME_MAX))
			t->tracepoints[t->nr_tracepoints++] =
				(struct guestsym_tracepoint){.addr = addr, .name = name};
	}
	return 0;
}

static struct guestsym_range section_range(const struct elf_image *e, const char *name)
{
	const struct elf_section *sec = elf_image_section(e, name);

	if (!sec || !elf_image_at(e, sec->addr, sec->size))
		return (struct guestsym_range){0};
	return (struct guestsym_range){sec->addr, sec->addr + sec->size};
}

static struct guestsym_range symbol_range(const struct elf_image *e, const struct symbols *s,
					  const char *start, const char *stop)
{
	const uint8_t *p;
	uint64_t va;
	size_t n = table_entries(e, s, start, stop, 1, &va, &p);

	return n ? (struct guestsym_range){va, va + n} : (struct guestsym_range){0};
}

static void find_orc(struct tables *t, const struct elf_image *e, const struct symbols *s)
{
	t->orc_ip = symbol_range(e, s, "__start_orc_unwind_ip", "__stop_orc_unwind_ip");
	t->orc_unwind = symbol_range(e, s, "__start_orc_unwind", "__stop_orc_unwind");
	t->orc_header = section_range(e, ".orc_header");
	if (!t->orc_ip.start)
		t->orc_ip = section_range(e, ".orc_unwind_ip");
	if (!t->orc_unwind.start)
		t->orc_unwind = section_range(e, ".orc_unwind");
}

int tables_read(struct tables *t, const struct elf_image *e, const struct symbols *s)
{
	*t = (struct tables){0};
	if (read_returns(t, e, s) || read_tracepoints(t, e, s)) {
		tables_exit(t);
		return -ENOMEM;
	}
	find_orc(t, e, s);
	return 0;
}

void tables_exit(struct tables *t)
{
	free(t->returns);
	free(t->tracepoints);
	*t = (struct tables){0};
}
