// SPDX-License-Identifier: GPL-2.0-or-later
/* feed.c - ship_feed(): batches of a file's records into a pipe. */
#include "frontend/ship/ship.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/ship/block.h"
#include "frontend/ship/identity.h"
#include "frontend/ship/pack.h"
#include "frontend/ship/reader.h"

struct feed {
	const struct ship_source *from;
	struct reader *reader;
	struct block *block;
	struct pack pack; /* its names are of all batches */
};

static void put_name(char to[PACK_NAME_LEN], const char *name, size_t len)
{
	if (len >= PACK_NAME_LEN)
		len = PACK_NAME_LEN - 1;
	memcpy(to, name, len);
	memset(to + len, 0, PACK_NAME_LEN - len);
}

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_names(struct pack_head *h, const struct ship_source *s)
{
	const struct dat_info *info = dat_info(s->dat);
	const char *file = name_in(info->name), *word;
	size_t len;

	put_name(h->host, s->host, strlen(s->host));
	put_name(h->file, file, strlen(file));
	word = dat_uname(info, DAT_UNAME_RELEASE, &len);
	put_name(h->kernel, word ? word : "", word ? len : 0);
	word = dat_uname(info, DAT_UNAME_NODE, &len);
	if (s->guest)
		put_name(h->guest, s->guest, strlen(s->guest));
	else if (word && len)
		put_name(h->guest, word, len);
	else
		put_name(h->guest, file, strlen(file));
}

static int write_all(int fd, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_pack(struct feed *f, enum pack_kind kind)
{
	struct pack *p = &f->pack;
	int rc;

	p->head.kind = kind;
	pack_seal(p);
	rc = write_all(f->from->fd, &p->head, sizeof(p->head));
	return rc ? rc : write_all(f->from->fd, p->bytes, p->head.packed);
}

static int send_block(struct feed *f)
{
	int rc = -ENOMEM;

	f->pack.head.lost = reader_lost(f->reader);
	if (block_pack(f->block, &f->pack))
		rc = write_pack(f, PACK_BATCH);
	free(f->pack.bytes);
	f->pack.bytes = NULL;
	f->pack.head.number++;
	return rc;
}

static int send_records(struct feed *f)
{
	struct pack_head *h = &f->pack.head;
	struct block_row row;
	int rc = 0;

	while (!rc && reader_next(f->reader, &row)) {
		/* Others of its vCPUs may go on, and batches of that would be others than the
		 * file's. */
		if (records_error(f->from->records))
			return 0;
		if (!block_rows(f->block))
			h->first = row.time;
		h->last = row.time;
		if (!block_add(f->block, &row))
			rc = -ENOMEM;
		else if (block_full(f->block))
			rc = send_block(f);
	}
	if (records_error(f->from->records))
		return 0;
	return rc || !block_rows(f->block) ? rc : send_block(f);
}

static int feed(struct feed *f)
{
	const struct reader_config cfg = {f->from->fields, f->from->written};
	const struct ship_source *s = f->from;
	struct pack_head *h = &f->pack.head;
	int rc;

	f->reader = reader_new(s->dat, s->formats, s->records, &cfg);
	f->block = block_new(s->rows);
	if (!f->reader || !f->block)
		return -ENOMEM;
	put_names(h, s);
	h->source = identity_of(s->dat, h->host, h->guest);
	h->trace_id = dat_info(s->dat)->has_trace_id ? dat_info(s->dat)->trace_id : 0;
	h->size = s->rows;
	rc = write_pack(f, PACK_SOURCE);
	return rc ? rc : send_records(f);
}

int ship_feed(const struct ship_source *s)
{
	struct feed f = {.from = s};
	int rc = feed(&f);

	reader_free(f.reader);
	block_free(f.block);
	return rc;
}
