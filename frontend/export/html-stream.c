// SPDX-License-Identifier: GPL-2.0-or-later
/* html-stream.c - see html-stream.h */
#include "frontend/export/html-stream.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	PLAIN = 64 << 10,
	PACKED = 192 << 10, /* of one element: a multiple of 3, so only the last is padded */
	LEVEL = 4,	    /* twice as fast as the usual 6, and a few percent longer */
	NUMBER_MAX = 10,    /* bytes of one */
};

struct html_stream {
	const char *name;
	FILE *out;
	z_stream z;
	size_t nr; /* of plain */
	uint8_t plain[PLAIN];
	uint8_t packed[PACKED];
};

struct html_stream *html_stream_new(const char *name, FILE *out)
{
	struct html_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->name = name;
	s->out = out;
	if (deflateInit2(&s->z, LEVEL, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		free(s);
		return NULL;
	}
	s->z.next_out = s->packed;
	s->z.avail_out = PACKED;
	return s;
}

void html_stream_free(struct html_stream *s)
{
	if (s)
		deflateEnd(&s->z);
	free(s);
}

/* --- base64 ------------------------------------------------------------------------------------
 */

static void put_base64(const uint8_t *at, size_t len, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; len; at += 3) {
		size_t n = len < 3 ? len : 3;
		uint32_t bits = (uint32_t)at[0] << 16 | (n > 1 ? (uint32_t)at[1] << 8 : 0) |
				(n > 2 ? at[2] : 0);

		putc_unlocked(digits[bits >> 18], out);
		putc_unlocked(digits[bits >> 12 & 63], out);
		putc_unlocked(n > 1 ? digits[bits >> 6 & 63] : '=', out);
		putc_unlocked(n > 2 ? digits[bits & 63] : '=', out);
		len -= n;
	}
}

static void put_element(struct html_stream *s)
{
	size_t len = PACKED - s->z.avail_out;

	if (len) {
		fprintf(s->out, "<script type=\"application/octet-stream\" class=\"%s\">", s->name);
		put_base64(s->packed, len, s->out);
		fputs("</script>\n", s->out);
	}
	s->z.next_out = s->packed;
	s->z.avail_out = PACKED;
}

/* --- packing -----------------------------------------------------------------------------------
 */

static void pack(struct html_stream *s, int flush)
{
	s->z.next_in = s->plain;
	s->z.avail_in = (uInt)s->nr;
	s->nr = 0;
	while (deflate(&s->z, flush) == Z_OK && !s->z.avail_out)
		put_element(s);
}

void html_stream_put(struct html_stream *s, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len) {
		size_t room = PLAIN - s->nr, n = len < room ? len : room;

		memcpy(s->plain + s->nr, at, n);
		s->nr += n;
		at += n;
		len -= n;
		if (s->nr == PLAIN)
			pack(s, Z_NO_FLUSH);
	}
}

void html_stream_number(struct html_stream *s, uint64_t n)
{
	uint8_t bytes[NUMBER_MAX];
	size_t len = 0;

	for (; n > 0x7f; n >>= 7)
		bytes[len++] = (uint8_t)(n | 0x80);
	bytes[len++] = (uint8_t)n;
	html_stream_put(s, bytes, len);
}

void html_stream_text(struct html_stream *s, const char *text, size_t len)
{
	html_stream_number(s, len);
	html_stream_put(s, text, len);
}

void html_stream_end(struct html_stream *s)
{
	pack(s, Z_FINISH);
	put_element(s);
}
