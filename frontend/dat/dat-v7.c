// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-v7.c - version 7: sections anywhere in the file, which options tell the places of. */
#include "frontend/dat/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SECTION_COMPRESSED = 1, /* flag */
	OPTION_SECTIONS_MAX = 4096,
};

static bool is_v7(const struct dat *d)
{
	return d->info.version == 7;
}

/* --- sections ----------------------------------------------------------------------------------
 */

struct section {
	uint16_t id, flags;
	uint64_t at, size; /* of what is behind its head */
};

static int section_find(struct dat *d, uint64_t offset, unsigned int id, const char *what,
			struct section *s)
{
	struct dat_in in = {.d = d, .at = offset, .end = d->file_size, .what = what};
	uint32_t description;
	int rc;

	*s = (struct section){0};
	if (offset > d->file_size)
		return dat_fail(d, "it is cut off, or lies: its %s would be behind its end", what);
	rc = dat_in_u16(&in, &s->id);
	if (!rc)
		rc = dat_in_u16(&in, &s->flags);
	if (!rc)
		rc = dat_in_u32(&in, &description);
	if (!rc)
		rc = dat_in_u64(&in, &s->size);
	if (rc)
		return rc;
	if (s->id != id)
		return dat_fail(d, "it lies: there is no %s where one should be", what);
	if (s->size > in.end - in.at)
		return dat_fail(d, "it is cut off, or lies: its %s would end behind it", what);
	s->at = in.at;
	return 0;
}

static int unpack_into(struct dat_in *in, uint32_t stored, uint8_t *out, uint32_t size)
{
	struct dat *d = in->d;
	uint8_t *from;
	int rc;

	if (!d->compression->unpack)
		return dat_fail(d, "it lies: its %s is compressed and it says that nothing is",
				in->what);
	from = malloc(stored ? stored : 1);
	if (!from)
		return dat_fail_memory(d);
	rc = dat_in_bytes(in, from, stored);
	if (!rc && d->compression->unpack(out, size, from, stored))
		rc = dat_fail(d, "its %s is no %s data", in->what, d->compression->name);
	free(from);
	return rc;
}

/*
 * What is in a section, uncompressed if need be: section_close() it. All that is kept of it is
 * copied, and counted.
 */
static int section_open(struct dat *d, const struct section *s, const char *what, struct dat_in *in)
{
	uint32_t stored = 0, size = 0;
	uint8_t *out;
	int rc;

	*in = (struct dat_in){.d = d, .at = s->at, .end = s->at + s->size, .what = what};
	if (!(s->flags & SECTION_COMPRESSED))
		return 0;
	rc = dat_in_u32(in, &stored);
	if (!rc)
		rc = dat_in_u32(in, &size);
	if (!rc && stored > in->end - in->at)
		rc = dat_fail(d, "it is cut off, or lies: its %s ends too early", what);
	if (rc)
		return rc;
	out = size <= d->left ? malloc(size ? size : 1) : NULL;
	if (!out)
		return dat_fail_memory(d);
	rc = unpack_into(in, stored, out, size);
	*in = (struct dat_in){.d = d, .mem = out, .end = size, .what = what};
	return rc;
}

static void section_close(struct dat_in *in)
{
	free((void *)(uintptr_t)in->mem);
}

/* --- options, and the texts that they lead to --------------------------------------------------
 */

static int read_options(struct dat *d, uint64_t offset)
{
	static const char what[] = "section of options";
	unsigned int nr = 0;
	int rc = 0;

	do {
		struct section s;
		struct dat_in in = {0};

		rc = section_find(d, offset, DAT_OPTION_DONE, what, &s);
		if (!rc)
			rc = section_open(d, &s, what, &in);
		/* There may be thousands of them, the same one for ever: none is for nothing. */
		if (!rc && in.mem)
			d->left -= in.end;
		if (!rc)
			rc = dat_options_read(&in, &offset);
		section_close(&in);
		if (!rc && ++nr > OPTION_SECTIONS_MAX)
			rc = dat_fail(d, "it lies: its options do not end");
	} while (!rc && offset);
	return rc;
}

static int read_text(struct dat *d, unsigned int id, const char *what)
{
	struct dat_text option;
	struct dat_in in;
	struct section s;
	uint64_t offset;
	int rc;

	if (!dat_option(d, id, 0, &option))
		return 0;
	in = (struct dat_in){
		.d = d,
		.mem = (const uint8_t *)option.text,
		.end = option.len,
		.what = what,
	};
	rc = dat_in_u64(&in, &offset);
	if (!rc)
		rc = section_find(d, offset, id, what, &s);
	if (rc)
		return rc;
	rc = section_open(d, &s, what, &in);
	if (!rc)
		rc = dat_meta_read(id, &in);
	section_close(&in);
	return rc;
}

static int read_texts(struct dat *d)
{
	const char *what;
	unsigned int id;
	int rc = 0;

	for (size_t i = 0; !rc && dat_meta_section(i, &id, &what); i++)
		rc = read_text(d, id, what);
	return rc;
}

/* --- buffers -----------------------------------------------------------------------------------
 */

/* One chunk: where it is, and how much is in it. Then in is behind it. */
static int read_chunk(struct dat_in *in, struct dat_piece *p)
{
	uint32_t stored = 0, size = 0;
	int rc = dat_in_u32(in, &stored);

	if (!rc)
		rc = dat_in_u32(in, &size);
	if (rc)
		return rc;
	if (stored > in->end - in->at)
		return dat_fail(in->d, "it is cut off, or lies: its %s end too early", in->what);
	if (size > DAT_CHUNK_MAX || stored > DAT_CHUNK_MAX)
		return dat_fail(in->d,
				"it has a chunk of %u bytes; hvtrace reads those of up to "
				"%u MB",
				size > stored ? size : stored, (unsigned int)(DAT_CHUNK_MAX >> 20));
	*p = (struct dat_piece){
		.offset = in->at,
		.stored = stored,
		.size = size,
		.compressed = true,
	};
	in->at += stored;
	return 0;
}

/* Their number comes first, which trace-cmd 3.1 does not count as a part of them. */
static int read_chunks(struct dat *d, struct dat_vcpu *v)
{
	struct dat_in in = {.d = d, .at = v->offset, .what = "chunks"};
	struct dat_piece *pieces = NULL;
	size_t room = 0;
	uint32_t nr;
	int rc;

	if (!v->stored)
		return 0;
	in.end = v->offset + v->stored;
	in.end += d->file_size - in.end < sizeof(nr) ? d->file_size - in.end : sizeof(nr);
	rc = dat_in_u32(&in, &nr);
	for (uint32_t i = 0; !rc && i < nr; i++) {
		rc = dat_array_grow(d, (void **)&pieces, v->nr_pieces, &room, sizeof(*pieces));
		if (!rc)
			rc = read_chunk(&in, &pieces[v->nr_pieces]);
		if (!rc)
			v->size += pieces[v->nr_pieces++].size;
	}
	v->pieces = pieces;
	return rc;
}

static int by_cpu(const void *a, const void *b)
{
	const struct dat_vcpu *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int sort_vcpus(struct dat *d, struct dat_buffer *b)
{
	if (!b->nr_vcpus)
		return 0;
	qsort(dat_buffer_vcpu(b, 0), b->nr_vcpus, sizeof(*b->vcpus), by_cpu);
	for (unsigned int i = 1; i < b->nr_vcpus; i++)
		if (b->vcpus[i].cpu == b->vcpus[i - 1].cpu)
			return dat_fail(d, "it lies: it has CPU %u twice", b->vcpus[i].cpu);
	b->cpus = b->vcpus[b->nr_vcpus - 1].cpu + 1;
	return 0;
}

static int read_vcpu(struct dat_in *in, struct dat_buffer *b, unsigned int i, bool compressed)
{
	struct dat_vcpu *v = dat_buffer_vcpu(b, i);
	uint64_t offset = 0, size = 0;
	uint32_t cpu = 0;
	int rc = dat_in_u32(in, &cpu);

	if (!rc)
		rc = dat_in_u64(in, &offset);
	if (!rc)
		rc = dat_in_u64(in, &size);
	if (!rc)
		rc = dat_vcpu_set(in->d, v, cpu, offset, size);
	if (rc)
		return rc;
	return compressed ? read_chunks(in->d, v) : dat_vcpu_plain(in->d, v);
}

static int read_vcpus(struct dat_in *in, struct dat_buffer *b, bool compressed)
{
	struct dat *d = in->d;
	int rc = 0;

	for (unsigned int i = 0; !rc && i < b->nr_vcpus; i++)
		rc = read_vcpu(in, b, i, compressed);
	if (!rc &&
	    (b->page_size < 4096 || b->page_size > 65536 || b->page_size & (b->page_size - 1)))
		rc = dat_fail(d,
			      "the pages of its buffer \"%s\" have %u bytes; hvtrace reads those "
			      "of 4 to 64 KiB",
			      b->name, b->page_size);
	return rc ? rc : sort_vcpus(d, b);
}

static int read_buffer(struct dat *d, const struct dat_text *option)
{
	struct dat_in in = {
		.d = d,
		.mem = (const uint8_t *)option->text,
		.end = option->len,
		.what = "option of a buffer",
	};
	const char *name = NULL, *clock = NULL;
	uint32_t page_size = 0, cpus = 0;
	uint64_t offset = 0;
	struct dat_buffer *b;
	struct section s = {0};
	int rc = dat_in_u64(&in, &offset);

	if (!rc)
		rc = dat_in_string(&in, &name);
	if (!rc)
		rc = dat_in_string(&in, &clock);
	if (!rc)
		rc = dat_in_u32(&in, &page_size);
	if (!rc)
		rc = dat_in_u32(&in, &cpus);
	if (!rc && cpus > DAT_CPUS_MAX)
		rc = dat_fail(d, "it lies: it has records of %u CPUs", cpus);
	if (!rc)
		rc = section_find(d, offset, DAT_OPTION_BUFFER, "section of a buffer", &s);
	if (rc)
		return rc;
	b = dat_buffer_add(d, name, cpus);
	if (!b)
		return -ENOMEM;
	b->clock = clock;
	b->page_size = page_size;
	return read_vcpus(&in, b, s.flags & SECTION_COMPRESSED);
}

/* The top level's first. */
static int read_buffers(struct dat *d)
{
	struct dat_text option;
	int rc = 0;

	for (size_t i = 0; !rc && dat_option(d, DAT_OPTION_BUFFER, i, &option); i++)
		rc = read_buffer(d, &option);
	for (size_t i = 1; !rc && i < d->nr_buffers; i++) {
		struct dat_buffer top = d->buffers[i];

		if (*top.name)
			continue;
		memmove(&d->buffers[1], &d->buffers[0], i * sizeof(top));
		d->buffers[0] = top;
		break;
	}
	return rc;
}

/* --- the file ----------------------------------------------------------------------------------
 */

static int read_compression(struct dat_in *in)
{
	const char *name, *version;
	struct dat *d = in->d;
	int rc = dat_in_string(in, &name);

	if (!rc)
		rc = dat_in_string(in, &version);
	if (rc)
		return rc;
	d->info.compression = name;
	d->compression = dat_compression_find(name);
	return d->compression
		       ? 0
		       : dat_fail(d, "it is compressed with %.32s; hvtrace reads zlib and zstd",
				  name);
}

static int read_v7(struct dat *d, struct dat_in *in)
{
	uint64_t options;
	int rc = read_compression(in);

	if (!rc)
		rc = dat_in_u64(in, &options);
	if (!rc)
		rc = read_options(d, options);
	if (!rc)
		rc = read_texts(d);
	return rc ? rc : read_buffers(d);
}

const struct dat_container dat_v7 = {
	.desc = "version 7",
	.is_it = is_v7,
	.read = read_v7,
};
