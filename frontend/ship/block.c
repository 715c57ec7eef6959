// SPDX-License-Identifier: GPL-2.0-or-later
/* block.c - see block.h: numbers lie in arrays, texts one behind the other. */
#include "frontend/ship/block.h"

#include "frontend/ship/frames.h"

#include <stdlib.h>
#include <string.h>

enum {
	TEXTS_MAX = 48 << 20, /* of a column: then the block is full */
	RAW_MAX = 64 << 20,   /* of records: the same */
	INFOS_MAX = 192 << 20,
	INFO_MAX = 65535,
	VARINT_MAX = 5,
};

enum column_id {
	COLUMN_NR,
	COLUMN_TIME,
	COLUMN_AT,
	COLUMN_CPU,
	COLUMN_DEPTH,
	COLUMN_PID,
	COLUMN_CALL_NR,
	COLUMN_DURATION,
	COLUMN_RET,
	COLUMN_COMM,
	COLUMN_EVENT,
	COLUMN_FUNCTION,
	COLUMN_CALL,
	COLUMN_INFO,
	COLUMNS,
};

static const struct column_type {
	const char *name, *type;
	size_t width; /* 0: texts */
} types[COLUMNS] = {
	[COLUMN_NR] = {"nr", "UInt64", 8},	    [COLUMN_TIME] = {"time", "UInt64", 8},
	[COLUMN_AT] = {"at", "DateTime", 4},	    [COLUMN_CPU] = {"cpu", "UInt16", 2},
	[COLUMN_DEPTH] = {"depth", "UInt16", 2},    [COLUMN_PID] = {"pid", "Int32", 4},
	[COLUMN_CALL_NR] = {"call_nr", "Int32", 4}, [COLUMN_DURATION] = {"duration", "Int64", 8},
	[COLUMN_RET] = {"ret", "Int64", 8},	    [COLUMN_COMM] = {"comm", "String", 0},
	[COLUMN_EVENT] = {"event", "String", 0},    [COLUMN_FUNCTION] = {"function", "String", 0},
	[COLUMN_CALL] = {"call", "String", 0},	    [COLUMN_INFO] = {"info", "String", 0},
};

/* What is the same in all rows; and sent. */
enum { COLUMNS_SAME = 4, COLUMNS_ALL = COLUMNS + COLUMNS_SAME + 1 };

struct column {
	uint8_t *bytes;
	size_t len, room;
};

struct block {
	uint32_t max, rows;
	size_t raw;
	struct column columns[COLUMNS];
	struct frames frames;
};

/* --- texts -------------------------------------------------------------------------------------
 */

static size_t put_varint(uint8_t *to, uint64_t n)
{
	size_t len = 0;

	for (; n >= 0x80; n >>= 7)
		to[len++] = (uint8_t)(n | 0x80);
	to[len++] = (uint8_t)n;
	return len;
}

void block_text(struct block_text *t, const char *text, size_t len)
{
	size_t head;

	if (len > BLOCK_TEXT_MAX)
		len = BLOCK_TEXT_MAX;
	head = put_varint(t->bytes, len);
	if (len)
		memcpy(t->bytes + head, text, len);
	t->len = (uint16_t)(head + len);
}

static bool make_room(struct column *c, size_t more)
{
	uint8_t *bytes;

	if (c->room - c->len >= more)
		return true;
	bytes = realloc(c->bytes, c->room * 2 + more);
	if (!bytes)
		return false;
	c->bytes = bytes;
	c->room = c->room * 2 + more;
	return true;
}

static bool add_text(struct column *c, const struct block_text *t)
{
	if (!make_room(c, t->len))
		return false;
	memcpy(c->bytes + c->len, t->bytes, t->len);
	c->len += t->len;
	return true;
}

/* No file of a sound kernel's prints so much more than it has: behind that there is none. */
static bool add_info(struct column *c, const char *info, size_t len)
{
	if (len > INFO_MAX)
		len = INFO_MAX;
	if (len > INFOS_MAX - c->len)
		len = 0;
	if (!make_room(c, VARINT_MAX + len))
		return false;
	c->len += put_varint(c->bytes + c->len, len);
	if (len)
		memcpy(c->bytes + c->len, info, len);
	c->len += len;
	return true;
}

/* --- rows --------------------------------------------------------------------------------------
 */

struct block *block_new(uint32_t rows)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->max = rows;
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!types[i].width)
			continue;
		b->columns[i].bytes = malloc(rows * types[i].width);
		if (b->columns[i].bytes)
			continue;
		block_free(b);
		return NULL;
	}
	return b;
}

void block_free(struct block *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < COLUMNS; i++)
		free(b->columns[i].bytes);
	frames_free(&b->frames);
	free(b);
}

#define SET(b, id, type, value) (((type *)(void *)(b)->columns[id].bytes)[(b)->rows] = (value))

bool block_add(struct block *b, const struct block_row *row)
{
	SET(b, COLUMN_NR, uint64_t, row->nr);
	SET(b, COLUMN_TIME, uint64_t, row->time);
	SET(b, COLUMN_AT, uint32_t, row->at);
	SET(b, COLUMN_CPU, uint16_t, row->cpu);
	SET(b, COLUMN_DEPTH, uint16_t, row->depth);
	SET(b, COLUMN_PID, int32_t, row->pid);
	SET(b, COLUMN_CALL_NR, int32_t, row->call_nr);
	SET(b, COLUMN_DURATION, int64_t, row->duration);
	SET(b, COLUMN_RET, int64_t, row->ret);
	if (!add_text(&b->columns[COLUMN_COMM], row->comm) ||
	    !add_text(&b->columns[COLUMN_EVENT], row->event) ||
	    !add_text(&b->columns[COLUMN_FUNCTION], row->function) ||
	    !add_text(&b->columns[COLUMN_CALL], row->call) ||
	    !add_info(&b->columns[COLUMN_INFO], row->info, row->info_len))
		return false;
	b->rows++;
	b->raw += row->raw;
	return true;
}

uint32_t block_rows(const struct block *b)
{
	return b->rows;
}

/*
 * What makes it full depends on the records alone: that of a file shipped again is the same, also
 * where what they say as text goes with them only once, or is printed by another libtraceevent.
 */
bool block_full(const struct block *b)
{
	bool full = b->rows == b->max || b->raw >= RAW_MAX;

	for (size_t i = 0; i < COLUMNS; i++)
		full |= i != COLUMN_INFO && b->columns[i].len >= TEXTS_MAX;
	return full;
}

/* --- the format Native -------------------------------------------------------------------------
 */

static void put_name(struct frames *f, const char *name)
{
	struct block_text t;

	block_text(&t, name, strlen(name));
	frames_add(f, t.bytes, t.len);
}

static void begin_column(struct frames *f, const char *name, const char *type)
{
	put_name(f, name);
	put_name(f, type);
}

static void put_same(struct frames *f, const char *name, const char *value, uint32_t rows)
{
	struct block_text t;

	begin_column(f, name, "String");
	block_text(&t, value, strlen(value));
	frames_repeat(f, t.bytes, t.len, rows);
}

static void put_counts(struct frames *f, uint32_t rows)
{
	uint8_t counts[2 * VARINT_MAX];
	size_t len = put_varint(counts, COLUMNS_ALL);

	len += put_varint(counts + len, rows);
	frames_add(f, counts, len);
}

bool block_pack(struct block *b, struct pack *p)
{
	struct frames *f = &b->frames;
	struct pack_head *h = &p->head;
	size_t len;

	put_counts(f, b->rows);
	for (size_t i = 0; i < COLUMNS; i++) {
		struct column *c = &b->columns[i];

		begin_column(f, types[i].name, types[i].type);
		frames_add(f, c->bytes, types[i].width ? b->rows * types[i].width : c->len);
		c->len = 0;
	}
	put_same(f, "host", h->host, b->rows);
	put_same(f, "guest", h->guest, b->rows);
	put_same(f, "kernel", h->kernel, b->rows);
	begin_column(f, "source", "UInt64");
	frames_repeat(f, &h->source, sizeof(h->source), b->rows);
	h->rows = b->rows;
	h->raw = f->raw;
	b->rows = 0;
	b->raw = 0;
	p->bytes = frames_take(f, &len);
	h->packed = len;
	return p->bytes;
}

uint8_t *block_sent(uint64_t sent, uint32_t rows, size_t *len)
{
	struct frames f = {0};
	uint8_t *bytes;

	begin_column(&f, "sent", "UInt64");
	frames_repeat(&f, &sent, sizeof(sent), rows);
	bytes = frames_take(&f, len);
	frames_free(&f);
	return bytes;
}
