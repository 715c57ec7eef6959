// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dat-journal.c - a recording that is not finished, as a file to read: what its trace.dat would
 * have. Pieces of a vCPU lie anywhere in it, and what it says last of something holds.
 */
#include "frontend/dat/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal.h"
#include "tracer/tracer.h"

enum { NAMES_MAX = 1024, OPTIONS_MAX = 16384 };

struct reading {
	struct dat *d;
	struct journal_walk walk;
	struct journal_section section[DAT_OPTION_BUFFER_TEXT + 1];
	struct journal_record *options;
	size_t nr_options, options_room;
	size_t (*rooms)[JOURNAL_VCPUS_MAX]; /* of pieces, for each buffer */
	size_t rooms_room;
};

static bool is_journal(const struct dat *d)
{
	char head[sizeof(JOURNAL_MAGIC) - 1];

	return d->file_size >= sizeof(head) && !dat_read_at(d, head, sizeof(head), 0) &&
	       journal_is_one(head, sizeof(head));
}

/* --- what a record says -----------------------------------------------------------------------
 */

/* Its data, in memory of the file's, with a zero behind it. */
static int load(struct reading *r, const struct journal_record *rec, struct dat_text *to)
{
	struct text text = {0};
	int rc = journal_read(&r->walk, rec, &text);
	char *copy;

	if (rc) {
		text_free(&text);
		return dat_fail(r->d, "it is damaged: a part of it is not what was written");
	}
	copy = dat_alloc(r->d, (uint64_t)text.len + 1);
	if (copy) {
		memcpy(copy, text.buf, text.len);
		copy[text.len] = '\0';
		*to = (struct dat_text){copy, text.len};
	}
	text_free(&text);
	return copy ? 0 : -ENOMEM;
}

static int lies(struct reading *r)
{
	return dat_fail(r->d, "it lies: what it records makes no sense");
}

static int see_buffer(struct reading *r, const struct journal_record *rec)
{
	struct dat *d = r->d;
	struct dat_buffer *b;
	struct dat_text names = {NULL, 0};
	size_t first;
	int rc;

	if (rec->a > d->nr_buffers || rec->a >= JOURNAL_BUFFERS_MAX || rec->size > NAMES_MAX)
		return lies(r);
	rc = load(r, rec, &names);
	if (rc)
		return rc;
	first = strlen(names.text) + 1;
	if (first >= names.len)
		return lies(r);
	if (rec->a == d->nr_buffers) {
		rc = dat_array_grow(d, (void **)&r->rooms, rec->a, &r->rooms_room,
				    sizeof(*r->rooms));
		if (rc)
			return rc;
		memset(&r->rooms[rec->a], 0, sizeof(*r->rooms));
		b = dat_buffer_add(d, names.text, r->walk.shape.vcpus);
		if (!b)
			return -ENOMEM;
		b->page_size = DAT_PAGE_SIZE;
		b->cpus = b->nr_vcpus;
		for (unsigned int v = 0; v < b->nr_vcpus; v++)
			dat_buffer_vcpu(b, v)->cpu = v;
	}
	b = &d->buffers[rec->a];
	b->name = names.text;
	b->clock = names.text + first;
	return 0;
}

static int see_pages(struct reading *r, const struct journal_record *rec)
{
	struct dat *d = r->d;
	struct dat_piece *pieces;
	struct dat_vcpu *v;
	int rc;

	if (rec->a >= d->nr_buffers || rec->b >= d->buffers[rec->a].nr_vcpus ||
	    rec->size % DAT_PAGE_SIZE)
		return lies(r);
	v = dat_buffer_vcpu(&d->buffers[rec->a], rec->b);
	pieces = (struct dat_piece *)(uintptr_t)v->pieces;
	rc = dat_array_grow(d, (void **)&pieces, v->nr_pieces, &r->rooms[rec->a][rec->b],
			    sizeof(*pieces));
	if (rc)
		return rc;
	v->pieces = pieces;
	pieces[v->nr_pieces++] = (struct dat_piece){
		.offset = rec->at,
		.stored = rec->stored,
		.size = rec->size,
		.compressed = r->walk.shape.zstd,
	};
	v->stored += rec->stored;
	v->size += rec->size;
	return 0;
}

/* The latest of a number and of which of several. */
static int see_option(struct reading *r, const struct journal_record *rec)
{
	int rc;

	if (rec->a > DAT_OPTION_BUFFER_TEXT || !rec->a || r->nr_options >= OPTIONS_MAX)
		return lies(r);
	for (size_t i = 0; i < r->nr_options; i++) {
		if (r->options[i].a != rec->a || r->options[i].b != rec->b)
			continue;
		r->options[i] = *rec;
		return 0;
	}
	rc = dat_array_grow(r->d, (void **)&r->options, r->nr_options, &r->options_room,
			    sizeof(*rec));
	if (!rc)
		r->options[r->nr_options++] = *rec;
	return rc;
}

static int see(struct reading *r, const struct journal_record *rec)
{
	switch (rec->kind) {
	case JOURNAL_SECTION:
		if (rec->a > DAT_OPTION_BUFFER_TEXT)
			return lies(r);
		return journal_section_add(&r->section[rec->a], rec) ? 0 : lies(r);
	case JOURNAL_OPTION:
		return see_option(r, rec);
	case JOURNAL_BUFFER:
		return see_buffer(r, rec);
	case JOURNAL_PAGES:
		return see_pages(r, rec);
	}
	return lies(r);
}

static int see_all(struct reading *r)
{
	struct journal_record rec;
	int rc;

	while ((rc = journal_walk_next(&r->walk, &rec)) > 0) {
		rc = see(r, &rec);
		if (rc)
			return rc;
	}
	return rc ? dat_fail(r->d, "%s", strerror(-rc)) : 0;
}

/* --- what it comes to -------------------------------------------------------------------------
 */

/* Texts that are kept are copied out of it. */
static int read_section(struct reading *r, unsigned int id, const char *what)
{
	struct dat_in in = {.d = r->d, .what = what};
	struct text text = {0};
	int rc = journal_section_read(&r->walk, &r->section[id], &text);

	in.mem = (const uint8_t *)text.buf;
	in.end = text.len;
	rc = rc ? dat_fail(r->d, "it is damaged: a part of it is not what was written")
		: dat_meta_read(id, &in);
	text_free(&text);
	return rc;
}

static int read_sections(struct reading *r)
{
	const char *what;
	unsigned int id;
	int rc = 0;

	for (size_t i = 0; !rc && dat_meta_section(i, &id, &what); i++)
		if (r->section[id].size)
			rc = read_section(r, id, what);
	return rc;
}

/* One behind the other, as version 6 has them. */
static int read_options(struct reading *r)
{
	struct dat_in in = {.d = r->d, .what = "list of options"};
	struct text list = {0};
	uint8_t head[6] = {0};
	char *copy;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nr_options; i++) {
		if (!r->options[i].size)
			continue;
		bytes_put32(bytes_put16(head, (uint16_t)r->options[i].a), r->options[i].size);
		text_add(&list, head, sizeof(head));
		rc = journal_read(&r->walk, &r->options[i], &list);
	}
	text_add(&list, "\0", 2);
	copy = rc || list.failed ? NULL : dat_alloc(r->d, list.len);
	if (copy)
		memcpy(copy, list.buf, list.len);
	in.mem = (const uint8_t *)copy;
	in.end = list.len;
	text_free(&list);
	if (rc)
		return dat_fail(r->d, "it is damaged: an option is not what was written");
	return copy ? dat_options_read(&in, NULL) : -ENOMEM;
}

static int read_all(struct reading *r)
{
	int rc = see_all(r);

	if (!rc && !r->section[DAT_OPTION_HEADER_INFO].size)
		rc = dat_fail(r->d, "its recorder was killed before it had recorded anything");
	if (!rc)
		rc = read_options(r);
	return rc ? rc : read_sections(r);
}

static int read_journal(struct dat *d, struct dat_in *in)
{
	struct reading r = {.d = d};
	int rc;

	(void)in;
	if (journal_walk_begin(&r.walk, d->fd, true))
		return dat_fail(d, "it is a recording of another version of hvtrace");
	d->info.version = r.walk.shape.version;
	d->info.page_size = DAT_PAGE_SIZE;
	if (r.walk.shape.zstd) {
		d->info.compression = "zstd";
		d->compression = dat_compression_find("zstd");
	}
	rc = read_all(&r);
	free(r.options);
	free(r.rooms);
	return rc;
}

/* --- whether there is one ---------------------------------------------------------------------
 */

/* Up to what read_all() and who writes the trace.dat cannot do without. */
bool dat_has_begun(int fd)
{
	bool header = false, buffer = false;
	char head[DAT_HEAD_LEN];
	ssize_t len = pread(fd, head, sizeof(head), 0);
	struct journal_record rec;
	struct journal_walk walk;

	if (len <= 0 || !journal_is_one(head, (size_t)len))
		return len > 0 && dat_is_one(head, (size_t)len);
	if (journal_walk_begin(&walk, fd, false))
		return false;
	while (!(header && buffer) && journal_walk_next(&walk, &rec) > 0) {
		buffer |= rec.kind == JOURNAL_BUFFER;
		header |=
			rec.kind == JOURNAL_SECTION && rec.a == DAT_OPTION_HEADER_INFO && rec.size;
	}
	return header && buffer;
}

const struct dat_container dat_journal = {
	.desc = "a recording that is not finished",
	.is_it = is_journal,
	.read = read_journal,
};
