// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * digest-load.c - takes a kernel from a digest. Who made it may have been taken over by a hostile
 * image, or have been another user: each number in it is looked at before it is used.
 */
#include "guestsym/digest.h"

#include <errno.h>
#include <stdlib.h>

#define SEGMENTS_MAX 128
/* Of sites, returns or tracepoints: far more than any kernel has. */
#define ENTRIES_MAX (UINT32_C(1) << 21)

struct reader {
	const struct digest_header *h;
	const uint8_t *data;
	uint64_t at[NR_DIGEST_PARTS];
	struct kernel *k;
	uint64_t image_len; /* bytes */
	uint64_t names;	    /* bytes that names of sites and tracepoints may still have */
};

static const void *part(const struct reader *r, enum digest_part p)
{
	return r->data + r->at[p];
}

static size_t count(const struct reader *r, enum digest_part p)
{
	return (size_t)r->h->count[p];
}

static bool header_is_sound(struct reader *r, const struct blob *d)
{
	const struct digest_header *h = r->h;

	if (d->len < sizeof(*h) || memcmp(h->sources, digest_sources, sizeof(h->sources)) != 0 ||
	    h->size != d->len || h->flags & ~(uint32_t)DIGEST_FL_ALL)
		return false;
	return digest_layout(h, r->at) == d->len && h->start <= h->end &&
	       identity_is_sound(&h->identity) &&
	       hash64(d->data + DIGEST_HASHED_FROM, d->len - DIGEST_HASHED_FROM) == h->hash;
}

static bool counts_are_sound(const struct reader *r)
{
	const char *names = part(r, DIGEST_NAMES);
	size_t len = count(r, DIGEST_NAMES);

	return count(r, DIGEST_SEGMENTS) <= SEGMENTS_MAX &&
	       count(r, DIGEST_SYMBOLS) <= IMAGE_SYMBOLS_MAX &&
	       count(r, DIGEST_SITES) <= ENTRIES_MAX && count(r, DIGEST_RETURNS) <= ENTRIES_MAX &&
	       count(r, DIGEST_TRACEPOINTS) <= ENTRIES_MAX && len <= UINT32_MAX &&
	       (!len || !names[len - 1]);
}

/*
 * NULL: it is none, has what no name has, or there are too many. They count as often as they are
 * named: a long one may be the name of all.
 */
static const char *name_at(struct reader *r, uint64_t pos)
{
	const char *name = (const char *)part(r, DIGEST_NAMES) + pos;
	size_t len;

	if (pos >= count(r, DIGEST_NAMES))
		return NULL;
	len = strnlen(name, SYMBOL_NAME_MAX + 1);
	if (len > SYMBOL_NAME_MAX || len >= r->names || !name_is_plain(name, len))
		return NULL;
	r->names -= len + 1;
	return name;
}

static int load_segments(const struct reader *r)
{
	const struct digest_segment *from = part(r, DIGEST_SEGMENTS);
	struct elf_image *e = &r->k->elf;
	size_t n = count(r, DIGEST_SEGMENTS);

	e->segs = calloc(n ? n : 1, sizeof(*e->segs));
	if (!e->segs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct digest_segment *f = &from[i];

		if (f->off > r->image_len || f->filesz > r->image_len - f->off ||
		    f->filesz > f->memsz || f->va + f->memsz < f->va || f->pa + f->memsz < f->pa ||
		    f->exec > 1)
			return -EINVAL;
		e->segs[e->nr_segs++] =
			(struct elf_segment){f->va, f->pa, f->off, f->filesz, f->memsz, f->exec};
	}
	return 0;
}

static int load_symbols(const struct reader *r)
{
	const struct digest_symbol *from = part(r, DIGEST_SYMBOLS);
	struct symbols *s = &r->k->symbols;
	size_t n = count(r, DIGEST_SYMBOLS);
	int err;

	if (!symbols_alloc(s, n, 0))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct digest_symbol *f = &from[i];

		/* Whether it is plain and not too long, symbols_index() looks at. */
		if (f->name >= count(r, DIGEST_NAMES) || f->type <= ' ' || f->type > '~' ||
		    (i && f->addr < from[i - 1].addr))
			return -EINVAL;
		s->v[i] = (struct guestsym_symbol){
			f->addr, (const char *)part(r, DIGEST_NAMES) + f->name, (char)f->type};
	}
	s->start = r->h->start;
	s->end = r->h->end;
	err = symbols_index(s);
	return !err || err == -ENOMEM ? err : -EINVAL;
}

static int load_sites(struct reader *r)
{
	const struct digest_site *from = part(r, DIGEST_SITES);
	const uint32_t flags = GUESTSYM_SITE_INIT | GUESTSYM_SITE_INVALID | GUESTSYM_SITE_NOP;
	struct fentry *f = &r->k->fentry;
	size_t n = count(r, DIGEST_SITES);

	if (fentry_alloc(f, n ? n : 1))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = name_at(r, from[i].name);

		if (!name || from[i].flags & ~flags || from[i].func > from[i].addr ||
		    (i && from[i].addr <= from[i - 1].addr))
			return -EINVAL;
		f->v[f->n++] =
			(struct guestsym_site){from[i].addr, from[i].func, name, from[i].flags};
	}
	return 0;
}

static int load_tables(struct reader *r)
{
	const struct digest_tracepoint *from = part(r, DIGEST_TRACEPOINTS);
	size_t returns = count(r, DIGEST_RETURNS), n = count(r, DIGEST_TRACEPOINTS);
	struct tables *t = &r->k->tables;

	*t = (struct tables){
		.returns = calloc(returns + 1, sizeof(*t->returns)),
		.tracepoints = calloc(n + 1, sizeof(*t->tracepoints)),
		.orc_ip = r->h->orc_ip,
		.orc_unwind = r->h->orc_unwind,
		.orc_header = r->h->orc_header,
	};
	if (!t->returns || !t->tracepoints)
		return -ENOMEM;
	memcpy(t->returns, part(r, DIGEST_RETURNS), returns * sizeof(*t->returns));
	t->nr_returns = returns;
	for (size_t i = 0; i < n; i++) {
		const char *name = name_at(r, from[i].name);

		if (!name)
			return -EINVAL;
		t->tracepoints[t->nr_tracepoints++] =
			(struct guestsym_tracepoint){from[i].addr, name};
	}
	return 0;
}

/* Where they are is read from the image. */
static bool range_is_sound(const struct reader *r, const struct guestsym_range *range)
{
	return range->start == range->end ||
	       (range->start < range->end &&
		elf_image_at(&r->k->elf, range->start, range->end - range->start));
}

static int load_parts(struct reader *r)
{
	int err = load_segments(r);

	if (!err)
		err = load_symbols(r);
	if (!err)
		err = load_sites(r);
	if (!err)
		err = load_tables(r);
	if (!err && !(range_is_sound(r, &r->h->orc_ip) && range_is_sound(r, &r->h->orc_unwind) &&
		      range_is_sound(r, &r->h->orc_header)))
		err = -EINVAL;
	return err ? err
		   : types_load(count(r, DIGEST_TYPES) ? part(r, DIGEST_TYPES) : NULL,
				count(r, DIGEST_TYPES), &r->k->types);
}

int digest_load(struct kernel *k, const struct blob *d, const struct blob *bytes)
{
	struct reader r = {.h = (const struct digest_header *)d->data,
			   .data = d->data,
			   .k = k,
			   .image_len = bytes->len,
			   .names = IMAGE_NAMES_MAX};

	*k = (struct kernel){.elf = {.data = bytes->data, .len = bytes->len}};
	if (!header_is_sound(&r, d) || !counts_are_sound(&r))
		return -EINVAL;
	k->identity = r.h->identity;
	k->variables = r.h->variables;
	k->event_probes = r.h->event_probes;
	k->unpacked = r.h->flags & DIGEST_FL_UNPACKED;
	k->booted = r.h->flags & DIGEST_FL_BOOTED;
	k->names_invalid = r.h->flags & DIGEST_FL_NAMES_INVALID;
	return load_parts(&r);
}
