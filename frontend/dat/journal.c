// SPDX-License-Identifier: GPL-2.0-or-later
/* journal.c - see journal.h */
#include "frontend/dat/journal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal-form.h"
#include "frontend/dat/pack.h"
#include "tracer/tracer.h"

/* A head is the magic, zeros, and at its end: */
#define HEAD_NUMBERS 16 /* u32 JOURNAL_FORM, version, zstd, vCPUs */
#define JOURNAL_FORM 1
#define RECORD_MAGIC UINT32_C(0x314a5648) /* "HVJ1" */

struct journal {
	int fd;
	bool stream; /* it has no places */
	struct journal_shape shape;
	struct pack *pack;
	uint64_t size;
};

/* --- writing ---------------------------------------------------------------------------------- */

struct journal *journal_new(int fd, const struct journal_shape *shape)
{
	struct journal *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->fd = fd;
	j->shape = *shape;
	if (!shape->zstd)
		return j;
	j->pack = pack_new();
	if (j->pack)
		return j;
	free(j);
	return NULL;
}

struct journal *journal_new_stream(int fd, const struct journal_shape *shape)
{
	struct journal *j = journal_new(fd, shape);

	if (j)
		j->stream = true;
	return j;
}

void journal_free(struct journal *j)
{
	if (j)
		pack_free(j->pack);
	free(j);
}

uint64_t journal_size(const struct journal *j)
{
	return j->size;
}

/* However it was opened by whoever has the other end. */
static int stream_write(int fd, const uint8_t *from, size_t len)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	while (len) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EAGAIN)
			poll(&room, 1, -1);
		else if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

static int append_stream(struct journal *j, const void *head, size_t head_len, const void *data,
			 size_t len)
{
	int rc = stream_write(j->fd, head, head_len);

	if (!rc)
		rc = stream_write(j->fd, data, len);
	if (!rc)
		j->size += head_len + len;
	return rc;
}

/* Both behind what is there, or neither. */
static int append_file(struct journal *j, const void *head, size_t head_len, const void *data,
		       size_t len)
{
	int rc = bytes_write(j->fd, j->size, head, head_len);

	if (!rc)
		rc = bytes_write(j->fd, j->size + head_len, data, len);
	if (!rc)
		j->size += head_len + len;
	else if (ftruncate(j->fd, (off_t)j->size))
		return rc; /* then its end is torn, as that of one who was killed */
	return rc;
}

static int append(struct journal *j, const void *head, size_t head_len, const void *data,
		  size_t len)
{
	return j->stream ? append_stream(j, head, head_len, data, len)
			 : append_file(j, head, head_len, data, len);
}

int journal_begin(struct journal *j)
{
	uint8_t head[JOURNAL_HEAD_SIZE] = JOURNAL_MAGIC,
		*at = head + JOURNAL_HEAD_SIZE - HEAD_NUMBERS;

	at = bytes_put32(at, JOURNAL_FORM);
	at = bytes_put32(at, j->shape.version);
	at = bytes_put32(at, j->shape.zstd);
	bytes_put32(at, j->shape.vcpus);
	return append(j, head, sizeof(head), NULL, 0);
}

uint32_t journal_sum(const void *data, size_t len)
{
	return (uint32_t)crc32(0, data, (uInt)len);
}

int journal_put(struct journal *j, enum journal_kind kind, uint32_t a, uint32_t b, const void *data,
		size_t len)
{
	uint8_t head[JOURNAL_RECORD_SIZE] = {0}, *at = head;
	size_t stored = len;

	if (len > JOURNAL_DATA_MAX)
		return -E2BIG;
	if (j->pack) {
		data = pack_do(j->pack, data, len, &stored);
		if (!data)
			return -ENOMEM;
	}
	at = bytes_put32(at, RECORD_MAGIC);
	at = bytes_put32(at, kind);
	at = bytes_put32(at, a);
	at = bytes_put32(at, b);
	at = bytes_put32(at, (uint32_t)stored);
	at = bytes_put32(at, (uint32_t)len);
	at = bytes_put32(at, journal_sum(data, stored));
	bytes_put32(at, journal_sum(head, (size_t)(at - head)));
	return append(j, head, sizeof(head), data, stored);
}

int journal_put_section(struct journal *j, uint32_t id, const void *data, size_t len)
{
	const uint8_t *at = data;
	uint32_t part = 0;
	int rc;

	if (len > (uint64_t)JOURNAL_PARTS_MAX * JOURNAL_DATA_MAX)
		return -E2BIG;
	do {
		size_t n = len < JOURNAL_DATA_MAX ? len : JOURNAL_DATA_MAX;

		rc = journal_put(j, JOURNAL_SECTION, id, part++, at, n);
		at += n;
		len -= n;
	} while (!rc && len);
	return rc;
}

/* --- reading ---------------------------------------------------------------------------------- */

bool journal_is_one(const void *head, size_t len)
{
	const size_t magic = sizeof(JOURNAL_MAGIC) - 1;

	return len >= magic && !memcmp(head, JOURNAL_MAGIC, magic);
}

static bool shape_makes_sense(const struct journal_shape *s)
{
	return (s->version == 6 || s->version == 7) && (!s->zstd || s->version == 7) && s->vcpus &&
	       s->vcpus <= JOURNAL_VCPUS_MAX;
}

bool journal_parse_head(const uint8_t head[JOURNAL_HEAD_SIZE], struct journal_shape *shape)
{
	const uint8_t *at = head + JOURNAL_HEAD_SIZE - HEAD_NUMBERS;

	*shape = (struct journal_shape){.version = bytes_get32(at + 4),
					.zstd = bytes_get32(at + 8) != 0,
					.vcpus = bytes_get32(at + 12)};
	return journal_is_one(head, JOURNAL_HEAD_SIZE) && bytes_get32(at) == JOURNAL_FORM &&
	       shape_makes_sense(shape);
}

int journal_walk_begin(struct journal_walk *w, int fd, bool verify)
{
	uint8_t head[JOURNAL_HEAD_SIZE];
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < JOURNAL_HEAD_SIZE)
		return -EINVAL;
	rc = bytes_read(fd, 0, head, sizeof(head));
	if (rc)
		return rc;
	*w = (struct journal_walk){
		.fd = fd,
		.verify = verify,
		.pos = JOURNAL_HEAD_SIZE,
		.end = (uint64_t)st.st_size,
	};
	return journal_parse_head(head, &w->shape) ? 0 : -EINVAL;
}

static bool kind_is_one(uint32_t kind)
{
	return kind >= JOURNAL_SECTION && kind <= JOURNAL_PAGES;
}

bool journal_parse_record(const struct journal_shape *shape,
			  const uint8_t head[JOURNAL_RECORD_SIZE], struct journal_record *r)
{
	*r = (struct journal_record){
		.kind = bytes_get32(head + 4),
		.a = bytes_get32(head + 8),
		.b = bytes_get32(head + 12),
		.stored = bytes_get32(head + 16),
		.size = bytes_get32(head + 20),
		.sum = bytes_get32(head + 24),
	};
	return bytes_get32(head) == RECORD_MAGIC && kind_is_one(r->kind) &&
	       bytes_get32(head + 28) == journal_sum(head, 28) && r->size <= JOURNAL_DATA_MAX &&
	       r->stored <= pack_bound(JOURNAL_DATA_MAX) && (shape->zstd || r->stored == r->size);
}

/* The one that is next; false: it is none. */
static bool parse(const struct journal_walk *w, const uint8_t head[JOURNAL_RECORD_SIZE],
		  struct journal_record *r)
{
	bool is = journal_parse_record(&w->shape, head, r);

	r->at = w->pos + JOURNAL_RECORD_SIZE;
	return is && r->stored <= w->end - r->at;
}

/* 1: the data is what was put; 0: it is not; -errno. */
static int data_is_whole(const struct journal_walk *w, const struct journal_record *r)
{
	uint8_t part[16 << 10];
	uLong sum = crc32(0, NULL, 0);

	for (uint64_t done = 0; done < r->stored;) {
		size_t len = r->stored - done < sizeof(part) ? r->stored - done : sizeof(part);
		int rc = bytes_read(w->fd, r->at + done, part, len);

		if (rc)
			return rc;
		sum = crc32(sum, part, (uInt)len);
		done += len;
	}
	return (uint32_t)sum == r->sum;
}

int journal_walk_next(struct journal_walk *w, struct journal_record *r)
{
	uint8_t head[JOURNAL_RECORD_SIZE];
	int rc;

	if (w->pos == w->end)
		return 0;
	w->torn = w->end - w->pos;
	if (w->torn < JOURNAL_RECORD_SIZE)
		return 0;
	rc = bytes_read(w->fd, w->pos, head, sizeof(head));
	if (rc)
		return rc;
	if (!parse(w, head, r))
		return 0;
	rc = w->verify ? data_is_whole(w, r) : 1;
	if (rc <= 0)
		return rc;
	w->pos = r->at + r->stored;
	w->torn = 0;
	return 1;
}

int journal_read(const struct journal_walk *w, const struct journal_record *r, struct text *out)
{
	char *to = text_begin(out, r->size ? r->size : 1);
	uint8_t *stored;
	int rc;

	if (!to)
		return -ENOMEM;
	if (!w->shape.zstd) {
		rc = bytes_read(w->fd, r->at, to, r->size);
		if (!rc)
			text_end(out, to + r->size);
		return rc;
	}
	stored = malloc(r->stored ? r->stored : 1);
	if (!stored)
		return -ENOMEM;
	rc = bytes_read(w->fd, r->at, stored, r->stored);
	if (!rc)
		rc = unpack_zstd(stored, r->stored, to, r->size);
	if (!rc)
		text_end(out, to + r->size);
	free(stored);
	return rc;
}

bool journal_section_add(struct journal_section *s, const struct journal_record *r)
{
	if (!r->b)
		*s = (struct journal_section){.nr = 0};
	if (r->b != s->nr || s->nr == JOURNAL_PARTS_MAX)
		return false;
	s->part[s->nr++] = *r;
	s->size += r->size;
	return true;
}

int journal_section_read(const struct journal_walk *w, const struct journal_section *s,
			 struct text *out)
{
	int rc = 0;

	for (unsigned int i = 0; i < s->nr && !rc; i++)
		rc = journal_read(w, &s->part[i], out);
	return rc;
}
