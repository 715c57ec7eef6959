// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-pages.c - the pages of one vCPU, piece by piece, with no more than one chunk in memory. */
#include "frontend/dat/local.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of pieces that are not compressed so much is read at once. */
#define WINDOW (UINT64_C(256) << 10)

struct space {
	uint8_t *bytes;
	size_t size;
};

struct dat_pages {
	struct dat *d;
	const struct dat_buffer *b;
	const struct dat_vcpu *v;
	size_t piece;		    /* that is read next, or part of it */
	uint64_t at;		    /* in it: what was read */
	struct space pages, stored; /* the second: a chunk as it is in the file */
	size_t pos, have;	    /* in pages */
	int error;
	char err[256];
};

static int fail(struct dat_pages *p, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct dat_pages *p, int error, const char *format, ...)
{
	int n = snprintf(p->err, sizeof(p->err), "%.128s: CPU %u: ", p->d->info.name, p->v->cpu);
	va_list ap;

	va_start(ap, format);
	vsnprintf(p->err + n, sizeof(p->err) - (size_t)n, format, ap);
	va_end(ap);
	p->error = error;
	p->have = p->pos = 0;
	return error;
}

/* Readers of a hostile file together do not take all memory there is. */
static int space_for(struct dat_pages *p, struct space *s, size_t size)
{
	uint8_t *bytes = NULL;

	if (size <= s->size)
		return 0;
	if (size - s->size <= p->d->chunks_left)
		bytes = realloc(s->bytes, size);
	if (!bytes)
		return fail(p, -ENOMEM, "there is no memory for its chunks");
	p->d->chunks_left -= size - s->size;
	*s = (struct space){bytes, size};
	return 0;
}

static void space_free(struct dat_pages *p, struct space *s)
{
	p->d->chunks_left += s->size;
	free(s->bytes);
}

static int read_file(struct dat_pages *p, void *to, size_t len, uint64_t offset)
{
	int rc = dat_read_at(p->d, to, len, offset);

	return !rc ? 0
		   : fail(p, rc, "its records cannot be read: %s",
			  rc == -ESTALE ? "the file has shrunk" : strerror(-rc));
}

static int fill_plain(struct dat_pages *p, const struct dat_piece *piece)
{
	uint64_t left = piece->size - p->at;
	size_t len = (size_t)(left < WINDOW ? left : WINDOW);
	int rc = space_for(p, &p->pages, len);

	if (!rc)
		rc = read_file(p, p->pages.bytes, len, piece->offset + p->at);
	if (rc)
		return rc;
	p->have = len;
	p->at += len;
	return 0;
}

static int fill_compressed(struct dat_pages *p, const struct dat_piece *piece)
{
	const struct dat_compression *c = p->d->compression;
	int rc = space_for(p, &p->stored, (size_t)piece->stored);

	if (!rc)
		rc = space_for(p, &p->pages, (size_t)piece->size);
	if (!rc)
		rc = read_file(p, p->stored.bytes, (size_t)piece->stored, piece->offset);
	if (rc)
		return rc;
	if (!c->unpack ||
	    c->unpack(p->pages.bytes, (size_t)piece->size, p->stored.bytes, (size_t)piece->stored))
		return fail(p, -EINVAL, "a chunk of its records is no %s data", c->name);
	p->have = (size_t)piece->size;
	p->at = piece->size;
	return 0;
}

/* The next of the pieces that has something. */
static int fill(struct dat_pages *p)
{
	p->pos = p->have = 0;
	while (!p->have && p->piece < p->v->nr_pieces) {
		const struct dat_piece *piece = &p->v->pieces[p->piece];
		int rc = 0;

		if (p->at < piece->size)
			rc = piece->compressed ? fill_compressed(p, piece) : fill_plain(p, piece);
		if (rc)
			return rc;
		if (p->at == piece->size) {
			p->piece++;
			p->at = 0;
		}
	}
	return 0;
}

struct dat_pages *dat_pages_open(struct dat *d, const struct dat_buffer *b,
				 const struct dat_vcpu *v)
{
	struct dat_pages *p = calloc(1, sizeof(*p));

	if (p) {
		p->d = d;
		p->b = b;
		p->v = v;
	}
	return p;
}

void dat_pages_close(struct dat_pages *p)
{
	if (!p)
		return;
	space_free(p, &p->pages);
	space_free(p, &p->stored);
	free(p);
}

int dat_pages_next(struct dat_pages *p, const void **page, size_t *size)
{
	int rc = p->error;

	if (!rc && p->pos == p->have)
		rc = fill(p);
	if (rc || !p->have)
		return rc;
	*page = p->pages.bytes + p->pos;
	*size = p->have - p->pos < p->b->page_size ? p->have - p->pos : p->b->page_size;
	p->pos += *size;
	return 1;
}

const char *dat_pages_error(const struct dat_pages *p)
{
	return p->err;
}
