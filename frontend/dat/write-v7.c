// SPDX-License-Identifier: GPL-2.0-or-later
/* write-v7.c - trace-cmd.dat.v7(5): sections anywhere in the file, and options that say where. */
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/final.h"
#include "frontend/dat/pack.h"

/*
 * What trace-cmd dump shows of each section, in the order of the strings. Theirs is found by going
 * from section to section, so nothing lies between these.
 */
static const struct section_row {
	enum dat_option_id id;
	const char *what;
} sections[] = {
	{DAT_OPTION_HEADER_INFO, "headers"},
	{DAT_OPTION_FTRACE_EVENTS, "ftrace events"},
	{DAT_OPTION_EVENT_FORMATS, "events format"},
	{DAT_OPTION_KALLSYMS, "kallsyms"},
	{DAT_OPTION_PRINTK, "printk"},
	{DAT_OPTION_CMDLINES, "command lines"},
	{DAT_OPTION_BUFFER, "flyrecord buffer"},
	{DAT_OPTION_STRINGS, "strings"},
	{DAT_OPTION_DONE, "options"},
};

struct v7 {
	struct final *f;
	struct pack *pack;   /* NULL: nothing is packed */
	struct text options; /* that come last */
	struct text strings;
	uint32_t string[sizeof(sections) / sizeof(sections[0])];
};

static uint32_t string_of(const struct v7 *v, enum dat_option_id id)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (sections[i].id == id)
			return v->string[i];
	return 0;
}

static void make_strings(struct v7 *v)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		v->string[i] = (uint32_t)v->strings.len;
		text_add(&v->strings, sections[i].what, strlen(sections[i].what) + 1);
	}
}

static int put_head(struct v7 *v, enum dat_option_id id, unsigned int flags, uint64_t size)
{
	uint8_t head[DAT_SECTION_HEAD], *at = head;

	at = bytes_put16(at, (uint16_t)id);
	at = bytes_put16(at, (uint16_t)flags);
	at = bytes_put32(at, string_of(v, id));
	bytes_put64(at, size);
	return final_put(v->f, head, sizeof(head));
}

static void put_offset(struct v7 *v, enum dat_option_id id, uint64_t offset)
{
	uint8_t at[8];

	bytes_put64(at, offset);
	final_put_option(&v->options, id, at, sizeof(at));
}

/* A section, packed if that is wanted: behind how long it is, and how long unpacked. */
static int put_section(struct v7 *v, enum dat_option_id id, const struct text *content, bool packed)
{
	const void *data = content->buf;
	size_t len = content->len;
	uint8_t sizes[8];
	int rc;

	if (content->failed)
		return -ENOMEM;
	if (packed) {
		data = pack_do(v->pack, content->buf, content->len, &len);
		if (!data)
			return -ENOMEM;
	}
	rc = put_head(v, id, packed ? DAT_COMPRESSED : 0, packed ? len + sizeof(sizes) : len);
	bytes_put32(bytes_put32(sizes, (uint32_t)len), (uint32_t)content->len);
	if (!rc && packed)
		rc = final_put(v->f, sizes, sizeof(sizes));
	return rc ? rc : final_put(v->f, data, len);
}

static int copy_section(struct v7 *v, enum dat_option_id id)
{
	struct text content = {0};
	int rc = final_read_section(v->f, id, &content);

	if (!rc && content.len) {
		put_offset(v, id, v->f->at);
		rc = put_section(v, id, &content, v->pack != NULL);
	}
	text_free(&content);
	return rc;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void describe_buffer(struct v7 *v, const struct final_buffer *b, uint64_t offset)
{
	unsigned int vcpus = v->f->in.shape.vcpus;
	struct text option = {0};

	bytes_add64(&option, offset);
	text_add(&option, b->names.buf, b->names.len);
	bytes_add32(&option, DAT_PAGE_SIZE);
	bytes_add32(&option, vcpus);
	for (unsigned int i = 0; i < vcpus; i++) {
		bytes_add32(&option, i);
		bytes_add64(&option, b->cpu[i].start);
		bytes_add64(&option, final_cpu_size(v->f, &b->cpu[i]));
	}
	if (option.failed)
		v->options.failed = true;
	else
		final_put_option(&v->options, DAT_OPTION_BUFFER, option.buf, option.len);
	text_free(&option);
}

/* Its head says how long it is, which is known when all vCPUs have their places. */
static int put_buffer(struct v7 *v, struct final_buffer *b)
{
	struct final *f = v->f;
	uint64_t head = f->at, end;
	int rc;

	f->at += DAT_SECTION_HEAD;
	for (unsigned int i = 0; i < f->in.shape.vcpus; i++)
		final_place(f, &b->cpu[i]);
	end = f->at;
	f->at = head;
	rc = put_head(v, DAT_OPTION_BUFFER, v->pack ? DAT_COMPRESSED : 0,
		      end - head - DAT_SECTION_HEAD);
	f->at = end;
	describe_buffer(v, b, head);
	return rc;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int put_start(struct v7 *v)
{
	struct text start = {0};
	int rc;

	text_add(&start, DAT_MAGIC, DAT_MAGIC_LEN);
	text_add(&start, "7", 2);
	text_putc(&start, 0); /* little endian */
	text_putc(&start, 8); /* bytes of a long */
	bytes_add32(&start, DAT_PAGE_SIZE);
	text_add(&start, v->pack ? "zstd" : "none", 5);
	text_puts(&start, v->pack ? ZSTD_versionString() : "");
	text_putc(&start, '\0');
	bytes_add64(&start, 0); /* where the options are: put_end() */
	rc = start.failed ? -ENOMEM : final_put(v->f, start.buf, start.len);
	text_free(&start);
	return rc;
}

static int put_end(struct v7 *v, uint64_t where)
{
	uint8_t at[8];
	int rc = put_section(v, DAT_OPTION_STRINGS, &v->strings, v->pack != NULL);

	if (!rc)
		rc = final_put_options(v->f, &v->options);
	put_offset(v, DAT_OPTION_DONE, 0);
	bytes_put64(at, v->f->at);
	if (!rc)
		rc = put_section(v, DAT_OPTION_DONE, &v->options, false);
	return rc ? rc : bytes_write(v->f->out, where, at, sizeof(at));
}

static int put_all(struct v7 *v)
{
	uint64_t options;
	int rc = put_start(v);

	options = v->f->at - 8;
	for (int id = DAT_OPTION_HEADER_INFO; id <= DAT_OPTION_CMDLINES && !rc; id++)
		rc = copy_section(v, (enum dat_option_id)id);
	for (size_t i = 0; i < v->f->nr_buffers && !rc; i++)
		rc = put_buffer(v, &v->f->buffer[i]);
	return rc ? rc : put_end(v, options);
}

int final_write_v7(struct final *f)
{
	struct v7 v = {.f = f};
	int rc = 0;

	if (f->in.shape.zstd) {
		v.pack = pack_new();
		rc = v.pack ? 0 : -ENOMEM;
	}
	make_strings(&v);
	if (!rc)
		rc = put_all(&v);
	pack_free(v.pack);
	text_free(&v.options);
	text_free(&v.strings);
	return rc;
}
