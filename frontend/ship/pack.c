// SPDX-License-Identifier: GPL-2.0-or-later
/* pack.c - see pack.h */
#include "frontend/ship/pack.h"

#include <string.h>
#include <zlib.h>

static const char magic[8] = {'h', 'v', 't', 's', 'h', 'i', 'p', '1'};

static uint32_t sum_of(const struct pack *p)
{
	struct pack_head head = p->head;
	uLong sum;

	head.sum = 0;
	sum = crc32_z(0, (const void *)&head, sizeof(head));
	return (uint32_t)crc32_z(sum, p->bytes, head.packed);
}

void pack_seal(struct pack *p)
{
	memcpy(p->head.magic, magic, sizeof(magic));
	p->head.sum = sum_of(p);
}

static bool has_end(const char name[PACK_NAME_LEN])
{
	return memchr(name, '\0', PACK_NAME_LEN);
}

const char *pack_head_wrong(const struct pack_head *h)
{
	if (memcmp(h->magic, magic, sizeof(magic)) != 0)
		return "it is no batch of records";
	if (h->kind != PACK_SOURCE && h->kind != PACK_BATCH)
		return "it is of a kind that is not known";
	if (!has_end(h->host) || !has_end(h->guest) || !has_end(h->kernel) || !has_end(h->file))
		return "it has a name without an end";
	if (!h->size || h->size > PACK_ROWS_MAX || h->rows > h->size)
		return "it has more records than a batch";
	if (h->packed > PACK_BYTES_MAX || h->raw > 16 * PACK_BYTES_MAX)
		return "it is too large";
	if ((h->kind == PACK_SOURCE) != !h->packed || (h->kind == PACK_BATCH) != !!h->rows)
		return "it has no records";
	return NULL;
}

const char *pack_wrong(const struct pack *p)
{
	const char *wrong = pack_head_wrong(&p->head);

	if (!wrong && p->head.sum != sum_of(p))
		wrong = "it is damaged";
	return wrong;
}
