// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf-head.c - see perf-local.h: where what there is beside the records goes. A file has a header
 * that says where everything else is; who reads from a pipe gets the same as records.
 */
#include "frontend/export/perf-local.h"

#define MAGIC	    UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define PIPE_HEADER 16
#define FILE_HEADER 104
#define RECORD_MAX  UINT16_MAX

/* --- a pipe ------------------------------------------------------------------------------------
 */

static void put(struct export *x, const struct text *t)
{
	x->failed |= t->failed;
	if (!t->failed)
		fwrite(t->buf, 1, t->len, x->out);
}

static void add_record_head(struct text *t, uint32_t type, size_t len)
{
	bytes_add32(t, type);
	bytes_add32(t, (uint32_t)(sizeof(struct perf_event_header) + len) << 16);
}

static void add_attr(struct text *t, const struct perf_event_attr *attr)
{
	text_add(t, attr, PERF_ATTR_LEN);
}

static void add_attr_record(void *arg, const struct perf_kind *ev)
{
	struct text *t = arg;

	add_record_head(t, PERF_HEADER_ATTR, PERF_ATTR_LEN + sizeof(ev->id));
	add_attr(t, &ev->attr);
	bytes_add64(t, ev->id);
}

/* Behind its record, which is too short for it. */
static void add_tracing_record(struct text *t, const struct text *data)
{
	static const char zeros[8];
	size_t padding = -data->len & 7;

	add_record_head(t, PERF_HEADER_TRACING_DATA, 8);
	bytes_add64(t, data->len + padding);
	text_add(t, data->buf, data->len);
	text_add(t, zeros, padding);
}

static void add_feature_record(struct text *t, unsigned int bit, const struct text *data)
{
	static const char zeros[8];
	size_t padding = -data->len & 7, len = sizeof(uint64_t) + data->len + padding;

	if (len + sizeof(struct perf_event_header) > RECORD_MAX)
		return;
	add_record_head(t, PERF_HEADER_FEATURE, len);
	bytes_add64(t, bit);
	text_add(t, data->buf, data->len);
	text_add(t, zeros, padding);
}

void perf_head_write_pipe(struct export *x, const struct perf_parts *p, const struct perf_events *e)
{
	struct text t = {0}, data = {0};
	unsigned int bit;

	bytes_add64(&t, MAGIC);
	bytes_add64(&t, PIPE_HEADER);
	perf_parts_each(p, e, add_attr_record, &t);
	for (size_t i = 0; perf_parts_add(p, e, i, &bit, &data); i++) {
		if (bit == PERF_PART_FORMATS)
			add_tracing_record(&t, &data);
		else if (data.len)
			add_feature_record(&t, bit, &data);
		data.len = 0;
	}
	t.failed |= data.failed;
	text_free(&data);
	put(x, &t);
	text_free(&t);
}

/* --- a file ------------------------------------------------------------------------------------
 */

struct section {
	uint64_t offset, size;
};

/* What is behind the records, and its place in the file. */
struct tail {
	struct text text;
	uint64_t at;
};

static void add_section(struct text *t, struct section s)
{
	bytes_add64(t, s.offset);
	bytes_add64(t, s.size);
}

void perf_head_begin_file(struct export *x)
{
	static const char zeros[FILE_HEADER];

	fwrite(zeros, 1, sizeof(zeros), x->out);
}

/* The bits of those that are there. */
static uint64_t add_features(const struct perf_parts *p, const struct perf_events *e,
			     struct tail *tail)
{
	struct text data = {0}, *t = &tail->text;
	struct section section[PERF_PARTS_MAX];
	uint64_t bits = 0;
	size_t nr = 0, at = 0;
	unsigned int bit;

	for (size_t i = 0; perf_parts_add(p, e, i, &bit, &data); i++) {
		if (data.len > at) {
			bits |= UINT64_C(1) << bit;
			section[nr++] = (struct section){at, data.len - at};
		}
		at = data.len;
	}
	for (size_t i = 0; i < nr; i++) {
		section[i].offset += tail->at + nr * sizeof(*section);
		add_section(t, section[i]);
	}
	text_add(t, data.buf, data.len);
	t->failed |= data.failed;
	text_free(&data);
	return bits;
}

static void add_ids(void *arg, const struct perf_kind *ev)
{
	bytes_add64(arg, ev->id);
}

struct attrs {
	struct text *text;
	uint64_t id_at;
};

static void add_file_attr(void *arg, const struct perf_kind *ev)
{
	struct attrs *a = arg;

	add_attr(a->text, &ev->attr);
	add_section(a->text, (struct section){a->id_at, sizeof(ev->id)});
	a->id_at += sizeof(ev->id);
}

static struct section add_attrs(const struct perf_parts *p, const struct perf_events *e,
				struct tail *tail)
{
	struct attrs attrs = {&tail->text, tail->at + tail->text.len};
	struct section s = {0};

	perf_parts_each(p, e, add_ids, &tail->text);
	s.offset = tail->at + tail->text.len;
	perf_parts_each(p, e, add_file_attr, &attrs);
	s.size = tail->at + tail->text.len - s.offset;
	return s;
}

static void write_header(struct export *x, struct section attrs, uint64_t data_end, uint64_t bits)
{
	struct text t = {0};

	bytes_add64(&t, MAGIC);
	bytes_add64(&t, FILE_HEADER);
	bytes_add64(&t, PERF_ATTR_LEN + sizeof(struct section));
	add_section(&t, attrs);
	add_section(&t, (struct section){FILE_HEADER, data_end - FILE_HEADER});
	add_section(&t, (struct section){0, 0}); /* types of events: not since 2.6 */
	bytes_add64(&t, bits);
	for (int i = 0; i < 3; i++)
		bytes_add64(&t, 0);
	if (!fseeko(x->out, 0, SEEK_SET))
		put(x, &t);
	text_free(&t);
}

void perf_head_end_file(struct export *x, const struct perf_parts *p, const struct perf_events *e)
{
	off_t at = ftello(x->out);
	struct tail tail = {.at = (uint64_t)at};
	struct section attrs;
	uint64_t bits;

	if (at < FILE_HEADER)
		return;
	bits = add_features(p, e, &tail);
	attrs = add_attrs(p, e, &tail);
	put(x, &tail.text);
	text_free(&tail.text);
	write_header(x, attrs, (uint64_t)at, bits);
	fseeko(x->out, 0, SEEK_END);
}
