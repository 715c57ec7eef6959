// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - the smaller tables that symbols of the image delimit. */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>

#define TRACEPOINT_NAME_MAX 255
#define JUMP_ENTRY_SIZE	    16

size_t table_entries(const struct elf_image *e, const struct symbols *s, const char *start,
		     const char *stop, size_t entry, uint64_t *va, const uint8_t **p)
{
	uint64_t end = symbols_addr(s, stop);

	*va = symbols_addr(s, start);
	if (!*va || end <= *va)
		return 0;
	*p = elf_image_at(e, *va, end - *va);
	return *p ? (end - *va) / entry : 0;
}

/* Room for n entries of a table; none is no error. */
static void *table_new(size_t n, size_t size)
{
	return calloc(n ? n : 1, size);
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
	t->nr_returns = n;
	return 0;
}

/*
 * struct jump_entry: s32 code, s32 target, s64 key, each relative to itself, with two flags in the
 * key (include/linux/jump_label.h). In the image bit 1 is a build-time mark of objtool's; that it
 * says "init code" is the work of jump_label_init().
 */
static int read_jumps(struct tables *t, const struct elf_image *e, const struct symbols *s)
{
	uint64_t init_begin = symbols_addr(s, "__init_begin");
	uint64_t init_end = symbols_addr(s, "__init_end");
	const uint8_t *p = NULL;
	uint64_t va;
	size_t n = table_entries(e, s, "__start___jump_table", "__stop___jump_table",
				 JUMP_ENTRY_SIZE, &va, &p);

	t->jumps = table_new(n, sizeof(*t->jumps));
	if (!t->jumps)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++, va += JUMP_ENTRY_SIZE, p += JUMP_ENTRY_SIZE) {
		uint64_t code = place_relative(va, p), key = get_u64(p + 8);

		t->jumps[i] = (struct guestsym_jump){
			.code = code,
			.target = place_relative(va + 4, p + 4),
			.key = va + 8 + (key & ~UINT64_C(3)),
			.branch = key & 1,
			.init = code >= init_begin && code < init_end,
		};
	}
	t->nr_jumps = n;
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

		if (name)
			t->tracepoints[t->nr_tracepoints++] =
				(struct guestsym_tracepoint){.addr = addr, .name = name};
	}
	return 0;
}

static int read_events(struct tables *t, const struct elf_image *e, const struct symbols *s)
{
	const uint8_t *p = NULL;
	uint64_t va;
	size_t n = table_entries(e, s, "__start_ftrace_events", "__stop_ftrace_events", 8, &va, &p);

	t->events = table_new(n, sizeof(*t->events));
	if (!t->events)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (get_u64(p + 8 * i))
			t->events[t->nr_events++] = get_u64(p + 8 * i);
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
	if (read_returns(t, e, s) || read_jumps(t, e, s) || read_tracepoints(t, e, s) ||
	    read_events(t, e, s)) {
		tables_exit(t);
		return -ENOMEM;
	}
	find_orc(t, e, s);
	return 0;
}

void tables_exit(struct tables *t)
{
	free(t->returns);
	free(t->jumps);
	free(t->tracepoints);
	free(t->events);
	*t = (struct tables){0};
}
