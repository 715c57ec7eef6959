// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages.c - the memory of a guest for those who follow pointers in it: every page is read once and
 * kept, and so are things that were made of what is at an address.
 */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE	  UINT64_C(0x1000)
#define PAGES_MAX (1 << 14)

/* --- by address -------------------------------------------------------------------------- */

static struct va_slot *slot_of(const struct va_map *m, uint64_t va)
{
	size_t i = guestsym_hash_keyed(&m->key, &va, sizeof(va)) & (m->room - 1);

	while (m->slots[i].p && m->slots[i].va != va)
		i = (i + 1) & (m->room - 1);
	return &m->slots[i];
}

static int grow(struct va_map *m)
{
	struct va_map larger = {
		.room = m->room ? 2 * m->room : 256,
		.n = m->n,
		.key = m->room ? m->key : guestsym_hash_key_new(),
	};

	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->room; i++)
		if (m->slots[i].p)
			*slot_of(&larger, m->slots[i].va) = m->slots[i];
	free(m->slots);
	*m = larger;
	return 0;
}

void *va_map_find(const struct va_map *m, uint64_t va)
{
	return m->room ? slot_of(m, va)->p : NULL;
}

int va_map_add(struct va_map *m, uint64_t va, void *p)
{
	if (2 * m->n >= m->room && grow(m))
		return -ENOMEM;
	*slot_of(m, va) = (struct va_slot){va, p};
	m->n++;
	return 0;
}

void va_map_exit(struct va_map *m)
{
	free(m->slots);
	*m = (struct va_map){0};
}

/* --- pages ------------------------------------------------------------------------------- */

/* Which is what is kept in place of a page that is not mapped. */
static uint8_t not_mapped;

static int read_page(struct pages *p, uint64_t va, uint8_t **page)
{
	uint8_t *data;
	int err;

	if (p->map.n >= PAGES_MAX)
		return -E2BIG;
	data = malloc(PAGE);
	if (!data)
		return -ENOMEM;
	err = p->mem->read(p->mem->arg, va, data, PAGE);
	*page = err ? &not_mapped : data;
	if (!err || err == -EFAULT)
		err = va_map_add(&p->map, va, *page);
	if (err || *page != data)
		free(data);
	return err;
}

static int find_page(struct pages *p, uint64_t va, const uint8_t **page)
{
	uint8_t *found = va_map_find(&p->map, va);
	int err = found ? 0 : read_page(p, va, &found);

	if (err)
		return err;
	*page = found;
	return found == &not_mapped ? -EFAULT : 0;
}

int pages_read(struct pages *p, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		size_t off = va % PAGE, part = PAGE - off < len ? PAGE - off : len;
		const uint8_t *page;
		int err = find_page(p, va - off, &page);

		if (err)
			return err;
		memcpy(to, page + off, part);
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

int pages_string_length(struct pages *p, uint64_t va, size_t max, size_t *len)
{
	for (*len = 0; *len <= max;) {
		uint64_t at = va + *len, off = at % PAGE;
		const uint8_t *page, *end;
		int err = find_page(p, at - off, &page);

		if (err)
			return err;
		end = memchr(page + off, 0, PAGE - off);
		*len += end ? (size_t)(end - (page + off)) : PAGE - off;
		if (end)
			return *len <= max ? 0 : -EINVAL;
	}
	return -EINVAL;
}

void pages_exit(struct pages *p)
{
	for (size_t i = 0; i < p->map.room; i++)
		if (p->map.slots[i].p != &not_mapped)
			free(p->map.slots[i].p);
	va_map_exit(&p->map);
}
