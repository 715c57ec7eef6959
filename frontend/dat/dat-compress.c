// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-compress.c - what parts of a file are compressed with. */
#include "frontend/dat/local.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static int zlib_unpack(void *out, size_t size, const void *in, size_t len)
{
	uLongf got = size;
	int rc = uncompress(out, &got, in, len);

	if (rc == Z_MEM_ERROR)
		return -ENOMEM;
	return rc == Z_OK && got == size ? 0 : -EINVAL;
}

static int zstd_unpack(void *out, size_t size, const void *in, size_t len)
{
	return ZSTD_decompress(out, size, in, len) == size ? 0 : -EINVAL;
}

static const struct dat_compression compressions[] = {
	{"none", NULL},
	{"zlib", zlib_unpack},
	{"zstd", zstd_unpack},
};

const struct dat_compression *dat_compression_find(const char *name)
{
	for (size_t i = 0; i < sizeof(compressions) / sizeof(*compressions); i++)
		if (!strcmp(compressions[i].name, name))
			return &compressions[i];
	return NULL;
}
