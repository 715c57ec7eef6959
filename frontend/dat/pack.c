// SPDX-License-Identifier: GPL-2.0-or-later
/* pack.c - see pack.h */
#include "frontend/dat/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

/*
 * Whoever packs does it while the guest is traced: a recorder that falls behind loses records, and
 * records of functions become a fifth of their size or less at any level.
 */
#define LEVEL 1

struct pack {
	ZSTD_CCtx *zstd;
	void *to;
	size_t size;
};

struct pack *pack_new(void)
{
	struct pack *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->zstd = ZSTD_createCCtx();
	if (p->zstd)
		return p;
	free(p);
	return NULL;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p->to);
	free(p);
}

const void *pack_do(struct pack *p, const void *data, size_t len, size_t *packed)
{
	size_t need = pack_bound(len), n;

	if (p->size < need) {
		free(p->to);
		p->to = malloc(need);
		p->size = p->to ? need : 0;
	}
	if (!p->to)
		return NULL;
	n = ZSTD_compressCCtx(p->zstd, p->to, p->size, data, len, LEVEL);
	if (ZSTD_isError(n))
		return NULL;
	*packed = n;
	return p->to;
}

size_t pack_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

int unpack_zstd(const void *packed, size_t packed_len, void *to, size_t len)
{
	size_t n = ZSTD_decompress(to, len, packed, packed_len);

	return ZSTD_isError(n) || n != len ? -EBADMSG : 0;
}
