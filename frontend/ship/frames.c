// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * frames.c - see frames.h. A frame is a checksum of 16 bytes, a byte that tells the method, the
 * sizes of the frame without the checksum and of what is in it, of 4 bytes each, and that.
 *
 * The checksum stays 0, and who sends frames asks the server not to look at it
 * (http_native_compression_disable_checksumming_on_decompress): each frame has zstd's own instead,
 * which all servers check when they decompress it.
 */
#include "frontend/ship/frames.h"

#include <stdlib.h>
#include <string.h>

enum {
	PLAIN_MAX = 1 << 20, /* in a frame, as in those of ClickHouse itself */
	CHECKSUM = 16,
	METHOD_ZSTD = 0x90,
	HEAD = 9,
	LEVEL = 1,
};

static bool begin(struct frames *f)
{
	if (f->zstd && f->plain)
		return true;
	if (!f->plain)
		f->plain = malloc(PLAIN_MAX);
	if (!f->zstd)
		f->zstd = ZSTD_createCCtx();
	return f->plain && f->zstd &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1));
}

static bool make_room(struct frames *f, size_t more)
{
	uint8_t *bytes;

	if (f->room - f->len >= more)
		return true;
	bytes = realloc(f->bytes, f->room + f->room / 2 + more);
	if (!bytes)
		return false;
	f->bytes = bytes;
	f->room += f->room / 2 + more;
	return true;
}

static bool flush(struct frames *f)
{
	const size_t bound = ZSTD_compressBound(f->nr_plain);
	uint8_t *at;
	uint32_t size;
	size_t n;

	if (!make_room(f, CHECKSUM + HEAD + bound))
		return false;
	at = f->bytes + f->len;
	n = ZSTD_compress2(f->zstd, at + CHECKSUM + HEAD, bound, f->plain, f->nr_plain);
	if (ZSTD_isError(n))
		return false;
	memset(at, 0, CHECKSUM);
	at[CHECKSUM] = METHOD_ZSTD;
	size = (uint32_t)(HEAD + n);
	memcpy(at + CHECKSUM + 1, &size, sizeof(size));
	size = (uint32_t)f->nr_plain;
	memcpy(at + CHECKSUM + 5, &size, sizeof(size));
	f->len += CHECKSUM + HEAD + n;
	f->nr_plain = 0;
	return true;
}

void frames_add(struct frames *f, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	f->failed = f->failed || !begin(f);
	f->raw += len;
	while (len && !f->failed) {
		size_t n = PLAIN_MAX - f->nr_plain;

		n = len < n ? len : n;
		memcpy(f->plain + f->nr_plain, at, n);
		f->nr_plain += n;
		at += n;
		len -= n;
		if (f->nr_plain == PLAIN_MAX)
			f->failed = !flush(f);
	}
}

void frames_repeat(struct frames *f, const void *bytes, size_t len, size_t n)
{
	while (n-- && !f->failed)
		frames_add(f, bytes, len);
}

uint8_t *frames_take(struct frames *f, size_t *len)
{
	uint8_t *bytes;

	if (!f->failed && f->nr_plain)
		f->failed = !flush(f);
	bytes = f->failed ? NULL : f->bytes;
	*len = f->len;
	if (f->failed)
		free(f->bytes);
	f->bytes = NULL;
	f->len = f->room = f->nr_plain = 0;
	f->raw = 0;
	f->failed = false;
	return bytes;
}

void frames_free(struct frames *f)
{
	ZSTD_freeCCtx(f->zstd);
	free(f->plain);
	free(f->bytes);
	*f = (struct frames){0};
}
