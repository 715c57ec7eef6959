// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-write.c - see dat-write.h; the two versions of the format are in dat-v6.c and dat-v7.c. */
#include "frontend/dat/dat-write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/final.h"
#include "tracer/tracer.h"

/* --- what there is ---------------------------------------------------------------------------- */

static int grow(void *rows, size_t nr, size_t size)
{
	void **p = rows;
	void *more;

	/* A power of two, or none: there is no room. */
	if (nr & (nr - 1))
		return 0;
	more = realloc(*p, (nr ? nr * 2 : 1) * size);
	if (!more)
		return -ENOMEM;
	*p = more;
	return 0;
}

static int note_option(struct final *f, const struct journal_record *r)
{
	if (r->a >= DAT_OPTION_BUFFER_TEXT + 1 || f->nr_options >= FINAL_OPTIONS_MAX ||
	    r->size > FINAL_OPTION_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < f->nr_options; i++) {
		if (f->option[i].a == r->a && f->option[i].b == r->b) {
			f->option[i] = *r;
			return 0;
		}
	}
	if (grow(&f->option, f->nr_options, sizeof(*r)))
		return -ENOMEM;
	f->option[f->nr_options++] = *r;
	return 0;
}

/* Two strings, both terminated. */
static bool names_make_sense(const struct text *names)
{
	const char *end = memchr(names->buf, '\0', names->len);
	size_t first = end ? (size_t)(end - names->buf) + 1 : 0;

	return end && names->len > first &&
	       memchr(end + 1, '\0', names->len - first) == names->buf + names->len - 1;
}

static int note_buffer(struct final *f, const struct journal_record *r)
{
	struct final_buffer *b;
	int rc;

	if (r->a > f->nr_buffers || r->a >= JOURNAL_BUFFERS_MAX || r->size > FINAL_NAMES_MAX)
		return -EBADMSG;
	if (r->a == f->nr_buffers) {
		if (grow(&f->buffer, f->nr_buffers, sizeof(*b)))
			return -ENOMEM;
		b = &f->buffer[f->nr_buffers++];
		*b = (struct final_buffer){.names = {0}};
		b->cpu = calloc(f->in.shape.vcpus, sizeof(*b->cpu));
		if (!b->cpu)
			return -ENOMEM;
	}
	b = &f->buffer[r->a];
	b->names.len = 0;
	rc = journal_read(&f->in, r, &b->names);
	return rc ? rc : names_make_sense(&b->names) ? 0 : -EBADMSG;
}

static int note_pages(struct final *f, const struct journal_record *r)
{
	struct final_cpu *c;

	if (r->a >= f->nr_buffers || r->b >= f->in.shape.vcpus || !r->size ||
	    r->size % DAT_PAGE_SIZE)
		return -EBADMSG;
	c = &f->buffer[r->a].cpu[r->b];
	if (c->chunks == UINT32_MAX)
		return -E2BIG;
	c->chunks++;
	c->stored += r->stored;
	c->bytes += r->size;
	return 0;
}

static int note_section(struct final *f, const struct journal_record *r)
{
	if (r->a < DAT_OPTION_HEADER_INFO || r->a > DAT_OPTION_CMDLINES)
		return -EBADMSG;
	return journal_section_add(&f->section[r->a], r) ? 0 : -EBADMSG;
}

static int note(struct final *f, const struct journal_record *r)
{
	switch (r->kind) {
	case JOURNAL_SECTION:
		return note_section(f, r);
	case JOURNAL_OPTION:
		return note_option(f, r);
	case JOURNAL_BUFFER:
		return note_buffer(f, r);
	case JOURNAL_PAGES:
		return note_pages(f, r);
	}
	return -EBADMSG;
}

/* Who is told how far it is: of two halves, if all is read twice, this is one. */
struct teller {
	void (*done)(void *arg, unsigned int percent); /* NULL: nobody */
	void *arg;
	unsigned int from, percent;
};

static void tell(const struct teller *t, const struct journal_walk *w)
{
	if (t->done && w->end)
		t->done(t->arg, t->from + (unsigned int)(w->pos * t->percent / w->end));
}

static int look_through(struct final *f, int journal, bool verify, const struct teller *t)
{
	struct journal_record r;
	int rc = journal_walk_begin(&f->in, journal, verify);

	if (rc)
		return rc;
	while ((rc = journal_walk_next(&f->in, &r)) > 0) {
		tell(t, &f->in);
		rc = note(f, &r);
		if (rc)
			return rc;
	}
	f->torn = f->in.torn;
	if (!rc && (!f->section[DAT_OPTION_HEADER_INFO].size || !f->nr_buffers))
		rc = -ENODATA;
	return rc;
}

/* --- what both versions write ----------------------------------------------------------------- */

int final_put(struct final *f, const void *data, size_t len)
{
	int rc = bytes_write(f->out, f->at, data, len);

	if (!rc)
		f->at += len;
	return rc;
}

int final_read_section(struct final *f, enum dat_option_id id, struct text *text)
{
	return f->section[id].size ? journal_section_read(&f->in, &f->section[id], text) : 0;
}

static void put_option_head(struct text *text, unsigned int id, size_t len)
{
	uint8_t head[6];

	bytes_put32(bytes_put16(head, (uint16_t)id), (uint32_t)len);
	text_add(text, head, sizeof(head));
}

void final_put_option(struct text *text, unsigned int id, const void *data, size_t len)
{
	put_option_head(text, id, len);
	text_add(text, data, len);
}

int final_put_options(struct final *f, struct text *text)
{
	for (size_t i = 0; i < f->nr_options; i++) {
		int rc;

		if (!f->option[i].size)
			continue;
		put_option_head(text, f->option[i].a, f->option[i].size);
		rc = journal_read(&f->in, &f->option[i], text);
		if (rc)
			return rc;
	}
	return text->failed ? -ENOMEM : 0;
}

void final_place(struct final *f, struct final_cpu *c)
{
	const uint64_t last = DAT_PAGE_SIZE - 1;

	f->at = (f->at + last) & ~last;
	c->start = c->at = f->at;
	f->at += final_cpu_size(f, c);
}

uint64_t final_cpu_size(const struct final *f, const struct final_cpu *c)
{
	if (!c->chunks || !f->in.shape.zstd)
		return c->stored;
	return 4 + c->stored + UINT64_C(8) * c->chunks;
}

/* --- the pages -------------------------------------------------------------------------------- */

static int copy_data(struct final *f, const struct journal_record *r, uint64_t *to)
{
	for (uint64_t done = 0; done < r->stored;) {
		uint64_t left = r->stored - done;
		size_t len = left < FINAL_PART ? left : FINAL_PART;
		int rc = bytes_read(f->in.fd, r->at + done, f->part, len);

		if (!rc)
			rc = bytes_write(f->out, *to, f->part, len);
		if (rc)
			return rc;
		done += len;
		*to += len;
	}
	return 0;
}

/* Packed, each batch is a chunk of the trace.dat, behind how long it is; before the first their
 * number. */
static size_t make_head(const struct final *f, const struct final_cpu *c,
			const struct journal_record *r, uint8_t head[12])
{
	uint8_t *at = head;

	if (!f->in.shape.zstd)
		return 0;
	if (c->at == c->start)
		at = bytes_put32(at, c->chunks);
	at = bytes_put32(at, r->stored);
	at = bytes_put32(at, r->size);
	return (size_t)(at - head);
}

/* No more than was counted, whoever writes to the journal meanwhile. */
static int copy_pages(struct final *f, const struct journal_record *r)
{
	struct final_cpu *c;
	uint8_t head[12];
	size_t len;
	int rc;

	if (r->a >= f->nr_buffers || r->b >= f->in.shape.vcpus)
		return -EBADMSG;
	c = &f->buffer[r->a].cpu[r->b];
	len = make_head(f, c, r, head);
	if (c->at + len + r->stored > c->start + final_cpu_size(f, c))
		return -EBADMSG;
	rc = bytes_write(f->out, c->at, head, len);
	c->at += len;
	return rc ? rc : copy_data(f, r, &c->at);
}

static int copy_all(struct final *f, const struct teller *t)
{
	struct journal_walk w;
	struct journal_record r;
	int rc = journal_walk_begin(&w, f->in.fd, false);

	if (rc)
		return rc;
	w.end = f->in.pos;
	while ((rc = journal_walk_next(&w, &r)) > 0) {
		tell(t, &w);
		if (r.kind != JOURNAL_PAGES)
			continue;
		rc = copy_pages(f, &r);
		if (rc)
			return rc;
	}
	return rc;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void final_exit(struct final *f)
{
	for (size_t i = 0; i < f->nr_buffers; i++) {
		text_free(&f->buffer[i].names);
		free(f->buffer[i].cpu);
	}
	free(f->buffer);
	free(f->option);
	free(f->part);
}

static int make(struct final *f, const struct teller *t)
{
	int rc = f->in.shape.version == 7 ? final_write_v7(f) : final_write_v6(f);

	if (!rc)
		rc = copy_all(f, t);
	if (!rc && ftruncate(f->out, (off_t)f->at))
		rc = -errno;
	return rc;
}

int dat_write(int journal, bool verify, int out, void (*done)(void *arg, unsigned int percent),
	      void *arg, struct dat_written *written)
{
	struct final f = {.out = out};
	/* Without sums only the heads of records are read at first. */
	struct teller t = {done, arg, 0, verify ? 50 : 0};
	int rc;

	f.part = malloc(FINAL_PART);
	rc = f.part ? look_through(&f, journal, verify, &t) : -ENOMEM;
	t = (struct teller){done, arg, t.percent, 100 - t.percent};
	if (!rc)
		rc = make(&f, &t);
	*written = (struct dat_written){.size = f.at, .torn = f.torn};
	for (size_t i = 0; i < f.nr_buffers; i++)
		for (unsigned int v = 0; v < f.in.shape.vcpus; v++)
			written->bytes += f.buffer[i].cpu ? f.buffer[i].cpu[v].bytes : 0;
	final_exit(&f);
	return rc;
}
