// SPDX-License-Identifier: GPL-2.0-or-later
/* escape.c - see escape.h */
#include "frontend/lib/escape.h"

#include <stdbool.h>

static bool is_plain(unsigned char c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n';
}

/* How many bytes a character of UTF-8 has that begins so; 0: none does. */
static size_t sequence_len(unsigned char first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/*
 * Whether the next byte can be c: without what could be shorter, the surrogates and what is above
 * U+10ffff (table 3-7 of the Unicode standard), and without C1.
 */
static bool continues(const struct escape *e, unsigned char c)
{
	unsigned char low = 0x80, high = 0xbf;

	if (e->len == 1) {
		switch (e->part[0]) {
		case 0xc2: /* C1 would be below */
		case 0xe0:
			low = 0xa0;
			break;
		case 0xed:
			high = 0x9f;
			break;
		case 0xf0:
			low = 0x90;
			break;
		case 0xf4:
			high = 0x8f;
			break;
		default:
			break;
		}
	}
	return c >= low && c <= high;
}

void escape_end(struct escape *e, struct text *to)
{
	for (size_t i = 0; i < e->len; i++)
		text_printf(to, "\\x%02x", e->part[i]);
	e->len = 0;
}

static void add_byte(struct escape *e, struct text *to, unsigned char c)
{
	if (e->len && !continues(e, c))
		escape_end(e, to);
	if (!e->len && is_plain(c)) {
		text_putc(to, (char)c);
		return;
	}
	e->part[e->len++] = c;
	if (!sequence_len(e->part[0])) {
		escape_end(e, to);
	} else if (e->len == sequence_len(e->part[0])) {
		text_add(to, (const char *)e->part, e->len);
		e->len = 0;
	}
}

void escape_add(struct escape *e, struct text *to, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		add_byte(e, to, (unsigned char)text[i]);
}
