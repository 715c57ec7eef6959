// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - the sorted symbols of an image, and looking them up by name and by address. */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Slots of the hash table: 0 is empty, else the number of a symbol (plus one) in 24 bits and a
 * part of the name's hash in 8, which saves most looks at other names.
 */
#define SLOT_INDEX UINT32_C(0xffffff)

uint32_t symbols_slot_index(uint32_t slot)
{
	return slot & SLOT_INDEX;
}

/*
 * How much of a name is what the source has. Clang's ThinLTO makes a static symbol that another
 * unit refers to global, and puts ".llvm." and a number behind its name (promoteInternals() and
 * getGlobalNameForLocal() of LLVM).
 */
static size_t source_length_of(const char *name, size_t len)
{
	static const char mark[] = ".llvm.";
	const char *at = memchr(name, '.', len); /* most have none */
	size_t digits;

	at = at ? strstr(at, mark) : NULL;
	digits = at ? strspn(at + sizeof(mark) - 1, "0123456789") : 0;
	return digits && !at[sizeof(mark) - 1 + digits] ? (size_t)(at - name) : len;
}

static size_t source_length(const char *name)
{
	return source_length_of(name, strlen(name));
}

static bool has_name(const char *symbol, const char *name, size_t len, bool source)
{
	return !strncmp(symbol, name, len) &&
	       (source ? source_length(symbol) : strlen(symbol)) == len;
}

/*
 * Where the first len bytes of name are in the table, as a symbol's whole name or as what the
 * source has of it, or the empty slot where they belong.
 */
static size_t slot_of(const struct symbols *s, const char *name, size_t len, bool source,
		      uint32_t *tag)
{
	uint64_t hash = guestsym_hash_keyed(&s->key, name, len);
	size_t i = hash & s->mask;

	*tag = hash >> 32 & ~SLOT_INDEX;
	for (; s->slots[i]; i = (i + 1) & s->mask)
		if ((s->slots[i] & ~SLOT_INDEX) == *tag &&
		    has_name(s->v[symbols_slot_index(s->slots[i]) - 1].name, name, len, source))
			break;
	return i;
}

bool name_is_plain(const char *name, size_t len)
{
	for (size_t i = 0; i < len && name[i]; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return true;
}

/* The same of all len bytes, none of which is its end: several at a time. */
static bool bytes_are_plain(const char *name, size_t len)
{
	unsigned int bad = 0;

	for (size_t i = 0; i < len; i++)
		bad |= (uint8_t)((uint8_t)name[i] - '!') > '~' - '!';
	return !bad;
}

/*
 * The kernel's own or few enough: none without an end, and not megabytes of them. How many have
 * another name in the source.
 */
static int check_names(const struct symbols *s, size_t *renamed)
{
	uint64_t sum = 0;

	*renamed = 0;
	for (size_t i = 0; i < s->n; i++) {
		const char *name = s->v[i].name;
		size_t len = strnlen(name, SYMBOL_NAME_MAX + 1);

		sum += len + 1;
		if (len > SYMBOL_NAME_MAX || sum > IMAGE_NAMES_MAX)
			return -E2BIG;
		if (!bytes_are_plain(name, len))
			return -EILSEQ;
		*renamed += source_length_of(name, len) < len;
	}
	return 0;
}

static void slot_take(struct symbols *s, size_t i, size_t len, bool source)
{
	uint32_t tag;
	size_t slot = slot_of(s, s->v[i].name, len, source, &tag);

	if (!s->slots[slot])
		s->slots[slot] = (i + 1) | tag;
}

int symbols_index(struct symbols *s)
{
	size_t size = 64, renamed = 0;
	int err = s->n > IMAGE_SYMBOLS_MAX ? -E2BIG : check_names(s, &renamed);

	if (err)
		return err;
	s->key = guestsym_hash_key_new();
	while (size < 2 * (s->n + renamed))
		size *= 2;
	s->slots_memory = calloc(size, sizeof(*s->slots));
	if (!s->slots_memory)
		return -ENOMEM;
	s->slots = s->slots_memory;
	s->mask = size - 1;
	for (size_t i = 0; i < s->n; i++)
		slot_take(s, i, strlen(s->v[i].name), false);
	for (size_t i = 0; i < s->n && renamed; i++) {
		size_t len = source_length(s->v[i].name);

		if (len && len < strlen(s->v[i].name))
			slot_take(s, i, len, true);
	}
	return 0;
}

/* What the kernel's is_kernel() covers: _stext to _end (include/asm-generic/sections.h). */
void symbols_limit(struct symbols *s, const struct elf_image *e)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < e->nr_segs; i++) {
		const struct elf_segment *seg = &e->segs[i];

		if (seg->va < KERNEL_MAP)
			continue;
		low = seg->va < low ? seg->va : low;
		high = seg->va + (seg->memsz - 1) > high ? seg->va + (seg->memsz - 1) : high;
	}
	s->start = symbols_addr(s, "_stext");
	if (!s->start)
		s->start = symbols_addr(s, "_text");
	if (!s->start)
		s->start = low;
	s->end = symbols_addr(s, "_end");
	if (!s->end)
		s->end = high;
}

/* One mapping: a symbol table has megabytes, and huge pages save a thousand page faults. */
char *symbols_alloc(struct symbols *s, size_t n, size_t name_bytes)
{
	if (blob_alloc(&s->memory, n * sizeof(*s->v) + name_bytes))
		return NULL;
	s->v = s->memory.map;
	s->n = n;
	return (char *)(s->v + n);
}

void symbols_exit(struct symbols *s)
{
	blob_free(&s->memory);
	free(s->slots_memory);
	*s = (struct symbols){0};
}

const struct guestsym_symbol *symbols_lookup(const struct symbols *s, const char *name)
{
	size_t len = strlen(name);
	uint32_t tag, slot = s->slots[slot_of(s, name, len, false, &tag)];

	if (!slot)
		slot = s->slots[slot_of(s, name, len, true, &tag)];
	return slot ? &s->v[symbols_slot_index(slot) - 1] : NULL;
}

uint64_t symbols_addr(const struct symbols *s, const char *name)
{
	const struct guestsym_symbol *sym = symbols_lookup(s, name);

	return sym ? sym->addr : 0;
}

struct guestsym_range symbols_init(const struct symbols *s)
{
	struct guestsym_range init = {symbols_addr(s, "__init_begin"),
				      symbols_addr(s, "__init_end")};

	if (!init.start || !init.end)
		init = (struct guestsym_range){symbols_addr(s, "_sinittext"),
					       symbols_addr(s, "_einittext")};
	return init;
}

/* How many symbols lie below addr, or with `at` not behind it. */
static size_t count_below(const struct symbols *s, uint64_t addr, bool at)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->v[mid].addr < addr || (at && s->v[mid].addr == addr))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* As get_symbol_pos() of kernel/kallsyms.c. */
const struct guestsym_symbol *symbols_find(const struct symbols *s, uint64_t addr, uint64_t *off,
					   uint64_t *size)
{
	size_t next = addr < s->start || addr >= s->end ? 0 : count_below(s, addr, true);
	const struct guestsym_symbol *sym;

	if (!next)
		return NULL;
	/* Any number of them may have one address: the first is not looked for step by step. */
	sym = &s->v[count_below(s, s->v[next - 1].addr, false)];
	if (off)
		*off = addr - sym->addr;
	if (size)
		*size = (next < s->n ? s->v[next].addr : s->end) - sym->addr;
	return sym;
}
