// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kallsyms.c - the kernel's own symbol table, found by its content and decoded.
 *
 * scripts/kallsyms.c of the kernel writes, each aligned to 8 bytes (to 4 since 7.0):
 *
 *   until 6.3   offsets, relative_base, num_syms, names, markers, [seqs_of_names,]
 *               token_table, token_index
 *   since 6.4   num_syms, names, markers, token_table, token_index, offsets, [relative_base,]
 *               seqs_of_names
 *
 * The token index is what no other data looks like: 256 rising 16-bit positions of the strings
 * that stand right before it. From there the other tables are found by their neighbourhood, and
 * all have to agree with each other.
 */
#include "guestsym/internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum {
	TOKENS = 256,
	TOKEN_INDEX_SIZE = TOKENS * 2,
	MARKER_STEP = 256,
};

/* How many names and tokens a search may look at; keeps hostile images from taking minutes. */
#define SEARCH_BUDGET (UINT64_C(64) << 20)

/* How offsets[] says addresses. */
enum address_mode {
	ADDRESS_BASE,	/* relative_base + u32 */
	ADDRESS_PERCPU, /* s32: absolute when positive, else relative_base - 1 - value */
	ADDRESS_PLACE,	/* s32, relative to its own place (7.0) */
};

/* Part of the image that is searched; positions below are offsets into it. */
struct region {
	const uint8_t *p;
	uint64_t len, va;
};

struct kallsyms {
	struct region r;
	uint64_t tokens, token_index;
	uint64_t num_syms; /* position of that word */
	uint64_t names;
	uint64_t offsets;
	uint64_t base;
	uint32_t n;
	unsigned int align;
	bool big; /* lengths above 127 take two bytes (6.1) */
	enum address_mode mode;
	uint64_t budget;
};

static uint64_t align_up(uint64_t pos, uint64_t align)
{
	return (pos + align - 1) & ~(align - 1);
}

/* --- token table ------------------------------------------------------------------------- */

static bool is_token_index(const uint8_t *p)
{
	unsigned int last = 0;

	if (get_u16(p) != 0)
		return false;
	for (int i = 1; i < TOKENS; i++) {
		unsigned int pos = get_u16(p + 2 * i);

		if (pos <= last)
			return false;
		last = pos;
	}
	return true;
}

/* The strings end where the index (but for padding) starts, each where the index says. */
static bool tokens_fit(const struct kallsyms *k, uint64_t tokens)
{
	const uint8_t *index = k->r.p + k->token_index, *p = k->r.p + tokens, *end;
	unsigned int pos, next;

	for (int i = 0; i < TOKENS - 1; i++) {
		pos = get_u16(index + 2 * i);
		next = get_u16(index + 2 * i + 2);
		if (memchr(p + pos, 0, next - pos) != p + next - 1)
			return false;
	}
	pos = get_u16(index + 2 * (TOKENS - 1));
	end = memchr(p + pos, 0, k->token_index - tokens - pos);
	if (!end)
		return false;
	for (end++; end < index; end++)
		if (*end)
			return false;
	return true;
}

/* Look for the table that belongs to k->token_index. */
static bool find_tokens(struct kallsyms *k)
{
	uint64_t last = get_u16(k->r.p + k->token_index + 2 * (TOKENS - 1));

	/* The last string is shorter than a name; a token for a single character has 2 bytes. */
	for (uint64_t room = last + 1; room <= last + SYMBOL_NAME_MAX && room <= k->token_index;
	     room++) {
		uint64_t tokens = k->token_index - room;

		if (tokens % 4)
			continue;
		if (k->budget < TOKENS)
			return false;
		k->budget -= TOKENS;
		if (!tokens_fit(k, tokens))
			continue;
		k->tokens = tokens;
		return true;
	}
	return false;
}

/* --- names ------------------------------------------------------------------------------- */

/* Length of the name at *pos, which moves on to its first code. 0 when it ends behind limit. */
static unsigned int name_length(const struct kallsyms *k, uint64_t *pos, uint64_t limit)
{
	unsigned int len;

	if (limit - *pos < 2)
		return 0;
	len = k->r.p[(*pos)++];
	if (k->big && len & 0x80)
		len = (len & 0x7f) | k->r.p[(*pos)++] << 7;
	return len <= limit - *pos ? len : 0;
}

/*
 * Walk the names; the markers behind them hold the position of every 256th. Sets *end to where
 * the markers end.
 */
static bool names_fit(struct kallsyms *k, uint64_t *end)
{
	uint64_t pos = k->names, markers;
	uint32_t nr_markers = (k->n + MARKER_STEP - 1) / MARKER_STEP;

	for (uint32_t i = 0; i < k->n; i++) {
		unsigned int len = name_length(k, &pos, k->tokens);

		if (!len || !k->budget)
			return false;
		k->budget--;
		pos += len;
	}
	markers = align_up(pos, k->align);
	if (markers > k->tokens || (k->tokens - markers) / 4 < nr_markers)
		return false;
	pos = k->names;
	for (uint32_t i = 0; i < k->n; i++) {
		unsigned int len;

		if (i % MARKER_STEP == 0 &&
		    get_u32(k->r.p + markers + i / MARKER_STEP * 4) != pos - k->names)
			return false;
		len = name_length(k, &pos, k->tokens);
		pos += len;
	}
	*end = markers + 4 * (uint64_t)nr_markers;
	return true;
}

static bool num_syms_fit(struct kallsyms *k)
{
	uint64_t end;

	if (!k->n || k->n > IMAGE_SYMBOLS_MAX || 2 * (uint64_t)k->n > k->tokens - k->names)
		return false;
	k->big = true;
	if (!names_fit(k, &end)) {
		k->big = false;
		if (!names_fit(k, &end))
			return false;
	}
	end = align_up(end, k->align);
	return end == k->tokens || align_up(end + 3 * (uint64_t)k->n, k->align) == k->tokens;
}

/* num_syms is found going back from the token table: names and markers must fill the gap. */
static bool find_names(struct kallsyms *k)
{
	for (uint64_t pos = k->tokens & ~(uint64_t)(k->align - 1); pos >= k->align && k->budget;) {
		pos -= k->align;
		k->budget--;
		k->num_syms = pos;
		k->names = pos + k->align;
		k->n = get_u32(k->r.p + pos);
		if (k->align == 8 && get_u32(k->r.p + pos + 4))
			continue;
		if (num_syms_fit(k))
			return true;
	}
	return false;
}

/* --- addresses --------------------------------------------------------------------------- */

static uint64_t symbol_address(const struct kallsyms *k, uint32_t i)
{
	uint64_t pos = k->offsets + 4 * (uint64_t)i;
	uint32_t raw = get_u32(k->r.p + pos);

	switch (k->mode) {
	case ADDRESS_PLACE:
		return place_relative(k->r.va + pos, k->r.p + pos);
	case ADDRESS_PERCPU:
		return (int32_t)raw >= 0 ? raw : k->base - 1 - (uint64_t)(int64_t)(int32_t)raw;
	default:
		return k->base + raw;
	}
}

/* Symbols are sorted by address and the last one belongs to the kernel. */
static bool addresses_fit(const struct kallsyms *k)
{
	uint64_t last = 0, addr;

	for (uint32_t i = 0; i < k->n; i++) {
		addr = symbol_address(k, i);
		if (addr < last)
			return false;
		last = addr;
	}
	return last >= KERNEL_MAP;
}

/* An absolute symbol is below 2 GiB and a kernel image smaller than that: the sign tells. */
static bool based_fit(struct kallsyms *k, uint64_t offsets, uint64_t base)
{
	if (base % 8 || k->r.len < 8 || base > k->r.len - 8 || offsets > base ||
	    (base - offsets) / 4 < k->n)
		return false;
	k->offsets = offsets;
	k->base = get_u64(k->r.p + base);
	if (k->base < KERNEL_MAP)
		return false;
	k->mode = ADDRESS_BASE;
	for (uint32_t i = 0; i < k->n && k->mode == ADDRESS_BASE; i++)
		if (get_u32(k->r.p + offsets + 4 * (uint64_t)i) >> 31)
			k->mode = ADDRESS_PERCPU;
	return addresses_fit(k);
}

/* Symbols begin with the kernel's text in front of the tables and end with data behind them. */
static bool placed_fit(struct kallsyms *k, uint64_t offsets)
{
	uint64_t start = k->r.va + offsets, end = start + 4 * (uint64_t)k->n;

	k->offsets = offsets;
	k->mode = ADDRESS_PLACE;
	return symbol_address(k, 0) < start && symbol_address(k, k->n - 1) >= end &&
	       addresses_fit(k);
}

static bool find_addresses(struct kallsyms *k)
{
	uint64_t size = 4 * (uint64_t)k->n, base_before = align_up(size, 8) + 8;
	uint64_t after = align_up(k->token_index + TOKEN_INDEX_SIZE, k->align);
	bool fits_after = after <= k->r.len && size <= k->r.len - after;

	if (fits_after && based_fit(k, after, align_up(after + size, 8))) /* 6.4 */
		return true;
	if (k->num_syms >= base_before && /* until 6.3 */
	    based_fit(k, k->num_syms - base_before, k->num_syms - 8))
		return true;
	return fits_after && placed_fit(k, after); /* 7.0 */
}

/* --- decoding ---------------------------------------------------------------------------- */

/* Most tokens are short: they are copied as a block of this size, whatever their length. */
#define TOKEN_BLOCK 16

struct token {
	uint8_t block[TOKEN_BLOCK];
	const uint8_t *s;
	unsigned int len;
};

static void load_tokens(const struct kallsyms *k, struct token *t)
{
	for (int i = 0; i < TOKENS; i++) {
		t[i].s = k->r.p + k->tokens + get_u16(k->r.p + k->token_index + 2 * i);
		t[i].len = strlen((const char *)t[i].s);
		memset(t[i].block, 0, TOKEN_BLOCK);
		memcpy(t[i].block, t[i].s, t[i].len < TOKEN_BLOCK ? t[i].len : TOKEN_BLOCK);
	}
}

/* Bytes that all names take with type and NUL, 0: impossible. */
static uint64_t names_size(const struct kallsyms *k, const struct token *t)
{
	uint64_t pos = k->names, sum = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		unsigned int len = name_length(k, &pos, k->tokens), chars = 0;

		for (; len; len--)
			chars += t[k->r.p[pos++]].len;
		if (chars < 2 || chars > SYMBOL_NAME_MAX + 1)
			return 0;
		sum += chars + 1;
	}
	return sum <= IMAGE_NAMES_MAX ? sum : 0;
}

/* True when all names are in what names_size() said they take; TOKEN_BLOCK bytes are to spare. */
static bool decode(const struct kallsyms *k, const struct token *t, struct guestsym_symbol *v,
		   char *out, uint64_t size)
{
	const char *end = out + size + TOKEN_BLOCK;
	uint64_t pos = k->names;

	for (uint32_t i = 0; i < k->n; i++) {
		unsigned int len = name_length(k, &pos, k->tokens);
		char *name = out;

		for (; len; len--) {
			const struct token *tok = &t[k->r.p[pos++]];

			if ((size_t)(end - out) < tok->len + 1 + TOKEN_BLOCK)
				return false;
			memcpy(out, tok->block, TOKEN_BLOCK);
			if (tok->len > TOKEN_BLOCK)
				memcpy(out, tok->s, tok->len);
			out += tok->len;
		}
		*out++ = 0;
		v[i] = (struct guestsym_symbol){symbol_address(k, i), name + 1, name[0]};
	}
	return true;
}

static int kallsyms_decode(const struct kallsyms *k, struct symbols *s)
{
	struct token tokens[TOKENS];
	uint64_t size;
	char *names;

	load_tokens(k, tokens);
	size = names_size(k, tokens);
	if (!size)
		return -ENOENT;
	names = symbols_alloc(s, k->n, size + TOKEN_BLOCK);
	if (!names)
		return -ENOMEM;
	if (decode(k, tokens, s->v, names, size))
		return 0;
	symbols_exit(s);
	return -ENOENT;
}

/* --- searching --------------------------------------------------------------------------- */

static int search_at(struct kallsyms *k, struct symbols *s)
{
	static const unsigned int aligns[] = {8, 4};

	if (!find_tokens(k))
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(aligns); i++) {
		int err;

		k->align = aligns[i];
		if (k->tokens % k->align || !find_names(k) || !find_addresses(k))
			continue;
		err = kallsyms_decode(k, s);
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

static int search_region(struct kallsyms *k, struct symbols *s)
{
	uint64_t skip = -k->r.va & 7;
	int err;

	/* Positions are aligned as addresses are. */
	if (k->r.len < skip + TOKEN_INDEX_SIZE)
		return -ENOENT;
	k->r.p += skip;
	k->r.va += skip;
	k->r.len -= skip;
	for (uint64_t pos = 0; pos + TOKEN_INDEX_SIZE <= k->r.len && k->budget; pos += 4) {
		if (!is_token_index(k->r.p + pos))
			continue;
		k->token_index = pos;
		err = search_at(k, s);
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

int kallsyms_read(const struct elf_image *e, struct symbols *s)
{
	const struct elf_section *rodata = elf_image_section(e, ".rodata");
	const uint8_t *p = elf_section_data(e, rodata);
	struct kallsyms k = {.budget = SEARCH_BUDGET};
	int err = -ENOENT;

	if (p) {
		k.r = (struct region){p, rodata->size, rodata->addr};
		err = search_region(&k, s);
	}
	for (size_t i = 0; i < e->nr_segs && err == -ENOENT; i++) {
		const struct elf_segment *seg = &e->segs[i];

		k.r = (struct region){e->data + seg->off, seg->filesz, seg->va};
		err = search_region(&k, s);
	}
	return err;
}
