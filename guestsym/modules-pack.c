// SPDX-License-Identifier: GPL-2.0-or-later
/* modules-pack.c - copies of modules without pointers, to be made symbols of in another process. */
#include "guestsym/modules.h"

#include <errno.h>
#include <stdlib.h>

struct packed_head {
	struct fentry_rule rule;
	uint64_t n;
};

/* The arrays follow, each from a multiple of 8 on, in the order of that enum. */
struct packed_module {
	struct module_facts facts;
	uint32_t strings_len;
};

enum { SYMTAB, TYPES, STRINGS, SITES, TEXT, NR_ARRAYS };

#define ELF_SYMBOL 24 /* bytes; sizeof(Elf64_Sym) */

/* How many bytes each of them has. */
static void array_sizes(const struct module_copy *c, uint64_t size[NR_ARRAYS])
{
	const struct module_facts *f = &c->facts;

	size[SYMTAB] = (uint64_t)f->num_symtab * ELF_SYMBOL;
	size[TYPES] = f->num_symtab;
	size[STRINGS] = (uint64_t)c->strings_len + 1;
	size[SITES] = (uint64_t)f->num_sites * 8;
	size[TEXT] = f->num_sites ? f->text_size : 0;
}

static uint64_t aligned(uint64_t len)
{
	return (len + 7) & ~UINT64_C(7);
}

static bool is_packed(const struct module_copy *c)
{
	return c->whole && !c->known;
}

static uint64_t packed_size(const struct guestsym_module_copies *copies)
{
	uint64_t size = aligned(sizeof(struct packed_head));

	for (size_t i = 0; i < copies->n; i++) {
		uint64_t part[NR_ARRAYS];

		if (!is_packed(&copies->v[i]))
			continue;
		array_sizes(&copies->v[i], part);
		size += aligned(sizeof(struct packed_module));
		for (int a = 0; a < NR_ARRAYS; a++)
			size += aligned(part[a]);
	}
	return size;
}

static uint8_t *put(uint8_t *to, const void *from, uint64_t len)
{
	if (len)
		memcpy(to, from, len);
	return to + aligned(len);
}

static uint8_t *pack_module(uint8_t *to, const struct module_copy *c)
{
	const struct packed_module head = {.facts = c->facts, .strings_len = c->strings_len};
	const void *from[NR_ARRAYS] = {c->symtab, c->types, c->strings, c->sites, c->text};
	uint64_t size[NR_ARRAYS];

	to = put(to, &head, sizeof(head));
	array_sizes(c, size);
	for (int a = 0; a < NR_ARRAYS; a++)
		to = put(to, from[a], size[a]);
	return to;
}

size_t modules_to_read(const struct guestsym_module_copies *copies)
{
	size_t n = 0;

	for (size_t i = 0; i < copies->n; i++)
		n += is_packed(&copies->v[i]);
	return n;
}

int modules_pack(const struct guestsym_module_copies *copies, struct blob *packed)
{
	struct packed_head head = {.rule = copies->rule, .n = modules_to_read(copies)};
	int err = blob_alloc(packed, packed_size(copies));
	uint8_t *to;

	if (err)
		return err;
	to = put(packed->map, &head, sizeof(head));
	for (size_t i = 0; i < copies->n; i++)
		if (is_packed(&copies->v[i]))
			to = pack_module(to, &copies->v[i]);
	return 0;
}

/* NULL: there is not that much. */
static uint8_t *get(uint8_t **from, const uint8_t *end, uint64_t len)
{
	uint8_t *at = *from;

	if (aligned(len) > (uint64_t)(end - at))
		return NULL;
	*from += aligned(len);
	return at;
}

static int unpack_module(struct module_copy *c, uint8_t **from, const uint8_t *end)
{
	const uint8_t *head = get(from, end, sizeof(struct packed_module));
	uint64_t size[NR_ARRAYS];
	uint8_t *at[NR_ARRAYS];
	struct packed_module m;

	if (!head)
		return -EINVAL;
	memcpy(&m, head, sizeof(m));
	*c = (struct module_copy){.facts = m.facts, .strings_len = m.strings_len, .whole = true};
	array_sizes(c, size);
	for (int a = 0; a < NR_ARRAYS; a++) {
		at[a] = get(from, end, size[a]);
		if (!at[a])
			return -EINVAL;
	}
	c->symtab = at[SYMTAB];
	c->types = at[TYPES];
	c->strings = (char *)at[STRINGS];
	c->sites = at[SITES];
	c->text = at[TEXT];
	return c->strings[c->strings_len] ? -EINVAL : 0;
}

int modules_unpack(const struct blob *packed, struct guestsym_module_copies *copies)
{
	uint8_t *from = packed->map;
	const uint8_t *end = packed->data + packed->len;
	const uint8_t *at = get(&from, end, sizeof(struct packed_head));
	struct packed_head head;
	int err = 0;

	*copies = (struct guestsym_module_copies){0};
	if (!at)
		return -EINVAL;
	memcpy(&head, at, sizeof(head));
	if (head.n > packed->len / sizeof(struct packed_module))
		return -EINVAL;
	copies->rule = head.rule;
	copies->v = calloc(head.n + 1, sizeof(*copies->v));
	if (!copies->v)
		return -ENOMEM;
	for (copies->n = 0; copies->n < head.n && !err; copies->n++)
		err = unpack_module(&copies->v[copies->n], &from, end);
	return err;
}
