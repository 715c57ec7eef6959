// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * digest.c - what takes longest to find out about an image, in a form that can be mapped.
 *
 * A digest belongs to one image and lies beside it in the cache: header, symbols, the hash table
 * of their names, fentry sites, names. Its checksum tells damage; that somebody made it up can do
 * no more than give wrong answers, because every position in it is checked before it is used.
 */
#include "guestsym/internal.h"

#include <errno.h>

#define DIGEST_MAGIC UINT32_C(0x64767468)
/* To be counted up whenever this format, or what the parsers make of an image, changes. */
#define DIGEST_FORMAT 3

struct digest_header {
	uint32_t magic, format;
	uint64_t hash;	  /* of all that follows it */
	uint64_t size;	  /* of the digest */
	char version[16]; /* of hvtrace */
	uint32_t nr_symbols, nr_slots, nr_sites, names_len;
	struct digest_counts counts;
	struct hash_key key; /* of the hash table */
};

#define HASHED_FROM offsetof(struct digest_header, size)

struct digest_symbol {
	uint64_t addr;
	uint32_t name; /* position among the names */
	uint32_t type;
};

struct digest_site {
	uint64_t addr, func;
	uint32_t name, flags;
};

/* Where the parts are: they follow the header in this order. */
struct digest_map {
	struct digest_symbol *symbols;
	struct digest_site *sites;
	uint32_t *slots;
	char *names;
};

static uint64_t digest_size(const struct digest_header *h)
{
	return sizeof(*h) + h->nr_symbols * (uint64_t)sizeof(struct digest_symbol) +
	       h->nr_sites * (uint64_t)sizeof(struct digest_site) +
	       h->nr_slots * (uint64_t)sizeof(uint32_t) + h->names_len;
}

static struct digest_map digest_map(const struct digest_header *h, void *digest)
{
	struct digest_map m;

	m.symbols = (struct digest_symbol *)((uint8_t *)digest + sizeof(*h));
	m.sites = (struct digest_site *)(m.symbols + h->nr_symbols);
	m.slots = (uint32_t *)(m.sites + h->nr_sites);
	m.names = (char *)(m.slots + h->nr_slots);
	return m;
}

/* --- writing ----------------------------------------------------------------------------- */

static uint64_t names_size(const struct symbols *s, const struct fentry *f)
{
	uint64_t size = 0;

	for (size_t i = 0; i < s->n; i++)
		size += strlen(s->v[i].name) + 1;
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].flags & GUESTSYM_SITE_INVALID)
			size += strlen(f->v[i].name) + 1;
	return size;
}

static uint32_t put_name(const struct digest_map *m, uint32_t *pos, const char *name)
{
	size_t len = strlen(name) + 1;
	uint32_t at = *pos;

	memcpy(m->names + at, name, len);
	*pos += len;
	return at;
}

/* A function's name is that of its symbol, which is there already. */
static uint32_t site_name(const struct digest_map *m, const struct symbols *s,
			  const struct guestsym_site *site, uint32_t *pos)
{
	const struct guestsym_symbol *sym = symbols_find(s, site->addr, NULL, NULL);

	if (!(site->flags & GUESTSYM_SITE_INVALID) && sym)
		return m->symbols[sym - s->v].name;
	return put_name(m, pos, site->name);
}

static void fill(const struct digest_map *m, const struct symbols *s, const struct fentry *f)
{
	uint32_t pos = 0;

	for (size_t i = 0; i < s->n; i++)
		m->symbols[i] = (struct digest_symbol){
			.addr = s->v[i].addr,
			.name = put_name(m, &pos, s->v[i].name),
			.type = (uint8_t)s->v[i].type,
		};
	for (size_t i = 0; i < f->n; i++)
		m->sites[i] = (struct digest_site){
			.addr = f->v[i].addr,
			.func = f->v[i].func,
			.name = site_name(m, s, &f->v[i], &pos),
			.flags = f->v[i].flags,
		};
	memcpy(m->slots, s->slots, (s->mask + 1) * sizeof(*s->slots));
}

int digest_make(struct blob *d, const struct symbols *s, const struct fentry *f,
		const struct digest_counts *counts)
{
	uint64_t names = names_size(s, f);
	struct digest_header h = {
		.magic = DIGEST_MAGIC,
		.format = DIGEST_FORMAT,
		.version = HVTRACE_VERSION,
		.nr_symbols = s->n,
		.nr_slots = s->mask + 1,
		.nr_sites = f->n,
		.names_len = names,
		.counts = *counts,
		.key = s->key,
	};
	struct digest_map m;
	int err;

	if (names > UINT32_MAX || f->n > UINT32_MAX)
		return -EFBIG;
	h.size = digest_size(&h);
	err = blob_alloc(d, h.size);
	if (err)
		return err;
	m = digest_map(&h, d->map);
	fill(&m, s, f);
	memcpy(d->map, &h, sizeof(h));
	h.hash = hash64(d->data + HASHED_FROM, d->len - HASHED_FROM);
	memcpy(d->map, &h, sizeof(h));
	return 0;
}

/* --- reading ----------------------------------------------------------------------------- */

/* A hash table of the right size with room in it: a search always ends. */
static bool slots_fit(const struct digest_header *h, const uint32_t *slots)
{
	uint32_t used = 0;

	if (!h->nr_slots || h->nr_slots & (h->nr_slots - 1))
		return false;
	for (uint32_t i = 0; i < h->nr_slots; i++) {
		uint32_t index = symbols_slot_index(slots[i]);

		if (index > h->nr_symbols || (slots[i] && !index))
			return false;
		used += index != 0;
	}
	return used < h->nr_slots;
}

static bool header_fits(const struct digest_header *h, const struct blob *d)
{
	static const char version[sizeof(h->version)] = HVTRACE_VERSION;

	return d->len >= sizeof(*h) && h->magic == DIGEST_MAGIC && h->format == DIGEST_FORMAT &&
	       !memcmp(h->version, version, sizeof(version)) && h->size == d->len &&
	       digest_size(h) == d->len && h->nr_symbols && h->nr_sites && h->names_len;
}

static int load_symbols(struct symbols *s, const struct digest_header *h,
			const struct digest_map *m)
{
	if (!symbols_alloc(s, h->nr_symbols, 0))
		return -ENOMEM;
	for (uint32_t i = 0; i < h->nr_symbols; i++) {
		if (m->symbols[i].name >= h->names_len)
			return -EINVAL;
		s->v[i] =
			(struct guestsym_symbol){m->symbols[i].addr, m->names + m->symbols[i].name,
						 (char)m->symbols[i].type};
	}
	s->slots = m->slots;
	s->mask = h->nr_slots - 1;
	s->key = h->key;
	return 0;
}

static int load_sites(struct fentry *f, const struct digest_header *h, const struct digest_map *m)
{
	int err = fentry_alloc(f, h->nr_sites);

	if (err)
		return err;
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		if (m->sites[i].name >= h->names_len)
			return -EINVAL;
		f->v[i] = (struct guestsym_site){m->sites[i].addr, m->sites[i].func,
						 m->names + m->sites[i].name, m->sites[i].flags};
	}
	f->n = h->nr_sites;
	return 0;
}

int digest_read(const struct blob *d, struct symbols *s, struct fentry *f,
		struct digest_counts *counts)
{
	const struct digest_header *h = (const struct digest_header *)d->data;
	struct digest_map m;
	int err;

	if (!header_fits(h, d))
		return -EINVAL;
	m = digest_map(h, d->map);
	if (m.names[h->names_len - 1] || !slots_fit(h, m.slots) ||
	    hash64(d->data + HASHED_FROM, d->len - HASHED_FROM) != h->hash)
		return -EINVAL;
	err = load_symbols(s, h, &m);
	if (!err)
		err = load_sites(f, h, &m);
	*counts = h->counts;
	return err;
}
