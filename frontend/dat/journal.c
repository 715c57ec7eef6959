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
#include "frontend/dat/pack.h"
#include "tracer/tracer.h"

#define HEAD_SIZE    128 /* the magic, zeros, and at its end: */
#define HEAD_NUMBERS 16	 /* u32 JOURNAL_FORM, version, zstd, vCPUs */
#define JOURNAL_FORM 1
#define RECORD_SIZE  32
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
	uint8_t head[HEAD_SIZE] = JOURNAL_MAGIC, *at = head + HEAD_SIZE - HEAD_NUMBERS;

	at = bytes_put32(at, JOURNAL_FORM);
	at = bytes_put32(at, j->shape.version);
	at = bytes_put32(at, j->shape.zstd);
	bytes_put32(at, j->shape.vcpus);
	return append(j, head, sizeof(head), NULL, 0);
}

static uint32_t sum_of(const void *data, size_t len)
{
	return (uint32_t)crc32(0, data, (uInt)len);
}

int journal_put(struct journal *j, enum journal_kind kind, uint32_t a, uint32_t b, const void *data,
		size_t len)
{
	uint8_t head[RECORD_SIZE] = {0}, *at = head;
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
	at = bytes_put32(at, sum_of(data, stored));
	bytes_put32(at, sum_of(head, (size_t)(at - head)));
	return append(j, head, sizeof(head), data, stored);
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

int journal_walk_begin(struct journal_walk *w, int fd, bool verify)
{
	uint8_t head[HEAD_SIZE], *at = head + HEAD_SIZE - HEAD_NUMBERS;
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < HEAD_SIZE)
		return -EINVAL;
	rc = bytes_read(fd, 0, head, sizeof(head));
	if (rc)
		return rc;
	*w = (struct journal_walk){
		.fd = fd,
		.verify = verify,
		.pos = HEAD_SIZE,
		.end = (uint64_t)st.st_size,
		.shape = {.version = bytes_get32(at + 4),
			  .zstd = bytes_get32(at + 8) != 0,
			  .vcpus = bytes_get32(at + 12)},
	};
	if (!journal_is_one(head, sizeof(head)) || bytes_get32(at) != JOURNAL_FORM ||
	    !shape_makes_sense(&w->shape))
		return -EINVAL;
	return 0;
}

static bool kind_is_one(uint32_t kind)
{
	return kind >= JOURNAL_SECTION && kind <= JOURNAL_PAGES;
}

/* The head of a record; false: it is none. */
static bool parse(const struct journal_walk *w, const uint8_t head[RECORD_SIZE],
		  struct journal_record *r)
{
	*r = (struct journal_record){
		.kind = bytes_get32(head + 4),
		.a = bytes_get32(head + 8),
		.b = bytes_get32(head + 12),
		.at = w->pos + RECORD_SIZE,
		.stored = bytes_get32(head + 16),
		.size = bytes_get32(head + 20),
		.sum = bytes_get32(head + 24),
	};
	return bytes_get32(head) == RECORD_MAGIC && kind_is_one(r->kind) &&
	       bytes_get32(head + 28) == sum_of(head, 28) && r->size <= JOURNAL_DATA_MAX &&
	       r->stored <= pack_bound(JOURNAL_DATA_MAX) && r->stored <= w->end - r->at &&
	       (w->shape.zstd || r->stored == r->size);
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
	uint8_t head[RECORD_SIZE];
	int rc;

	if (w->pos == w->end)
		return 0;
	w->torn = w->end - w->pos;
	if (w->torn < RECORD_SIZE)
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
