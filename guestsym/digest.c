// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * digest.c - writes down what was found in an image, in a form that can be mapped: for the cache,
 * where it lies beside the image, and for hvtrace when it was found by another process.
 */
#include "guestsym/digest.h"

#include <errno.h>

struct writer {
	const struct kernel *k;
	uint8_t *to;
	uint64_t at[NR_DIGEST_PARTS];
	uint32_t names; /* bytes of them that are there */
};

static uint64_t names_size(const struct kernel *k)
{
	uint64_t size = 0;

	for (size_t i = 0; i < k->symbols.n; i++)
		size += strlen(k->symbols.v[i].name) + 1;
	for (size_t i = 0; i < k->fentry.n; i++)
		if (k->fentry.v[i].flags & GUESTSYM_SITE_INVALID)
			size += strlen(k->fentry.v[i].name) + 1;
	for (size_t i = 0; i < k->tables.nr_tracepoints; i++)
		size += strlen(k->tables.tracepoints[i].name) + 1;
	return size;
}

static void *part(const struct writer *w, enum digest_part p)
{
	return w->to + w->at[p];
}

static uint32_t put_name(struct writer *w, const char *name)
{
	size_t len = strlen(name) + 1;
	uint32_t at = w->names;

	memcpy((char *)part(w, DIGEST_NAMES) + at, name, len);
	w->names += (uint32_t)len;
	return at;
}

static void put_segments(const struct writer *w)
{
	struct digest_segment *to = part(w, DIGEST_SEGMENTS);

	for (size_t i = 0; i < w->k->elf.nr_segs; i++) {
		const struct elf_segment *seg = &w->k->elf.segs[i];

		to[i] = (struct digest_segment){seg->va,     seg->pa,	 seg->off,
						seg->filesz, seg->memsz, seg->exec};
	}
}

static void put_symbols(struct writer *w)
{
	struct digest_symbol *to = part(w, DIGEST_SYMBOLS);
	const struct symbols *s = &w->k->symbols;

	for (size_t i = 0; i < s->n; i++)
		to[i] = (struct digest_symbol){s->v[i].addr, put_name(w, s->v[i].name),
					       (uint8_t)s->v[i].type};
}

/* A function's name is that of its symbol, which is there already. */
static uint32_t site_name(struct writer *w, const struct guestsym_site *site)
{
	const struct digest_symbol *symbols = part(w, DIGEST_SYMBOLS);
	const struct symbols *s = &w->k->symbols;
	const struct guestsym_symbol *sym = symbols_find(s, site->addr, NULL, NULL);

	if (!(site->flags & GUESTSYM_SITE_INVALID) && sym)
		return symbols[sym - s->v].name;
	return put_name(w, site->name);
}

static void put_sites(struct writer *w)
{
	struct digest_site *to = part(w, DIGEST_SITES);
	const struct fentry *f = &w->k->fentry;

	for (size_t i = 0; i < f->n; i++)
		to[i] = (struct digest_site){f->v[i].addr, f->v[i].func, site_name(w, &f->v[i]),
					     f->v[i].flags};
}

static void put_tables(struct writer *w)
{
	struct digest_tracepoint *to = part(w, DIGEST_TRACEPOINTS);
	const struct tables *t = &w->k->tables;

	if (t->nr_returns) /* modules have none */
		memcpy(part(w, DIGEST_RETURNS), t->returns, t->nr_returns * sizeof(*t->returns));
	for (size_t i = 0; i < t->nr_tracepoints; i++)
		to[i] = (struct digest_tracepoint){t->tracepoints[i].addr,
						   put_name(w, t->tracepoints[i].name)};
}

static struct digest_header make_header(const struct kernel *k)
{
	return (struct digest_header){
		.flags = (k->unpacked ? DIGEST_FL_UNPACKED : 0) |
			 (k->booted ? DIGEST_FL_BOOTED : 0) |
			 (k->names_invalid ? DIGEST_FL_NAMES_INVALID : 0),
		.event_probes = k->event_probes,
		.start = k->symbols.start,
		.end = k->symbols.end,
		.orc_ip = k->tables.orc_ip,
		.orc_unwind = k->tables.orc_unwind,
		.orc_header = k->tables.orc_header,
		.count = {[DIGEST_SEGMENTS] = k->elf.nr_segs,
			  [DIGEST_SYMBOLS] = k->symbols.n,
			  [DIGEST_SITES] = k->fentry.n,
			  [DIGEST_RETURNS] = k->tables.nr_returns,
			  [DIGEST_TRACEPOINTS] = k->tables.nr_tracepoints,
			  [DIGEST_TYPES] = k->flat_types.len,
			  [DIGEST_NAMES] = names_size(k)},
		.identity = k->identity,
		.variables = k->variables,
	};
}

int digest_make(struct blob *d, const struct kernel *k)
{
	struct digest_header h = make_header(k);
	struct writer w = {.k = k};
	int err;

	memcpy(h.sources, digest_sources, sizeof(h.sources));
	h.size = digest_layout(&h, w.at);
	if (!h.size || h.count[DIGEST_NAMES] > UINT32_MAX)
		return -EFBIG;
	err = blob_alloc(d, h.size);
	if (err)
		return err;
	w.to = d->map;
	put_segments(&w);
	put_symbols(&w);
	put_sites(&w);
	put_tables(&w);
	if (k->flat_types.len)
		memcpy(part(&w, DIGEST_TYPES), k->flat_types.data, k->flat_types.len);
	memcpy(d->map, &h, sizeof(h));
	h.hash = hash64(d->data + DIGEST_HASHED_FROM, d->len - DIGEST_HASHED_FROM);
	memcpy(d->map, &h, sizeof(h));
	return 0;
}
