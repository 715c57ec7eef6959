// SPDX-License-Identifier: GPL-2.0-or-later
/* gzip.c - see gzip.h */
#include "frontend/metrics/gzip.h"

#include <limits.h>
#include <zlib.h>

/* deflateInit2(): the largest window, and gzip's head and end instead of zlib's. */
#define WINDOW_GZIP (MAX_WBITS + 16)
#define MEMORY	    8 /* zlib's own default */

/* All of it at once. False: no memory. */
static bool pack(z_stream *z, const struct text *from, struct text *to)
{
	size_t bound = deflateBound(z, from->len);
	char *at = bound <= UINT_MAX ? text_begin(to, bound) : NULL;

	if (!at)
		return false;
	z->next_in = (Bytef *)from->buf;
	z->avail_in = (uInt)from->len;
	z->next_out = (Bytef *)at;
	z->avail_out = (uInt)bound;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		return false;
	text_end(to, at + z->total_out);
	return true;
}

void gzip_text(struct text *t)
{
	struct text packed = {0};
	z_stream z = {0};

	/* Names of series are the same all over: the fastest level makes a twentieth of it. */
	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, WINDOW_GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		t->failed = true;
		return;
	}
	packed.failed = !pack(&z, t, &packed);
	deflateEnd(&z);
	text_free(t);
	*t = packed;
}
