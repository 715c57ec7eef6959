// SPDX-License-Identifier: GPL-2.0-or-later
/* write-v6.c - trace-cmd.dat.v6(5): one part behind the other, nothing packed. */
#include <errno.h>
#include <string.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/final.h"

#define WORD_LEN 10 /* of "options  " and "flyrecord", terminated */

static int put_text(struct final *f, struct text *t)
{
	int rc = t->failed ? -ENOMEM : final_put(f, t->buf, t->len);

	text_free(t);
	return rc;
}

static int put_start(struct final *f)
{
	struct text start = {0};
	uint8_t page[4];

	bytes_put32(page, DAT_PAGE_SIZE);
	text_add(&start, DAT_MAGIC, DAT_MAGIC_LEN);
	text_add(&start, "6", 2);
	text_putc(&start, 0); /* little endian */
	text_putc(&start, 8); /* bytes of a long */
	text_add(&start, page, sizeof(page));
	return put_text(f, &start);
}

/* None of them may be missing: what is not there has no bytes, as its first number says. */
static int put_section(struct final *f, enum dat_option_id id)
{
	const size_t empty = id == DAT_OPTION_CMDLINES ? 8 : 4;
	struct text content = {0};
	uint8_t none[8] = {0};
	int rc = final_read_section(f, id, &content);

	if (!rc && !content.len)
		text_add(&content, none, empty);
	if (!rc)
		return put_text(f, &content);
	text_free(&content);
	return rc;
}

static int put_options(struct final *f, uint64_t *buffers)
{
	struct text options = {0};
	uint64_t start = f->at;
	uint8_t at[8] = {0};
	int rc;

	bytes_put32(at, f->in.shape.vcpus);
	text_add(&options, at, 4);
	text_add(&options, "options  ", WORD_LEN);
	rc = final_put_options(f, &options);
	/* Of instances: where they are, which is not known yet, and their names. */
	memset(at, 0, sizeof(at));
	for (size_t i = 1; i < f->nr_buffers; i++) {
		const struct text *names = &f->buffer[i].names;
		size_t len = strlen(names->buf) + 1;
		struct text option = {0};

		text_add(&option, at, sizeof(at));
		text_add(&option, names->buf, len);
		buffers[i] = start + options.len + 6;
		if (option.failed)
			options.failed = true;
		else
			final_put_option(&options, DAT_OPTION_BUFFER, option.buf, option.len);
		text_free(&option);
	}
	text_add(&options, at, 2); /* DAT_OPTION_DONE */
	if (!rc)
		return put_text(f, &options);
	text_free(&options);
	return rc;
}

static int put_buffer(struct final *f, struct final_buffer *b)
{
	struct text where = {0};
	uint64_t head = f->at, end;
	int rc;

	f->at += WORD_LEN + (uint64_t)f->in.shape.vcpus * 16;
	text_add(&where, "flyrecord", WORD_LEN);
	for (unsigned int i = 0; i < f->in.shape.vcpus; i++) {
		uint8_t at[16];

		final_place(f, &b->cpu[i]);
		bytes_put64(bytes_put64(at, b->cpu[i].start), b->cpu[i].stored);
		text_add(&where, at, sizeof(at));
	}
	end = f->at;
	f->at = head;
	rc = put_text(f, &where);
	f->at = end;
	return rc;
}

static int put_buffers(struct final *f, const uint64_t *where)
{
	int rc = put_buffer(f, &f->buffer[0]);

	for (size_t i = 1; i < f->nr_buffers && !rc; i++) {
		uint8_t at[8];

		bytes_put64(at, f->at);
		rc = bytes_write(f->out, where[i], at, sizeof(at));
		if (!rc)
			rc = put_buffer(f, &f->buffer[i]);
	}
	return rc;
}

int final_write_v6(struct final *f)
{
	uint64_t buffers[JOURNAL_BUFFERS_MAX];
	int rc = put_start(f);

	for (int id = DAT_OPTION_HEADER_INFO; id <= DAT_OPTION_CMDLINES && !rc; id++)
		rc = put_section(f, (enum dat_option_id)id);
	if (!rc)
		rc = put_options(f, buffers);
	return rc ? rc : put_buffers(f, buffers);
}
