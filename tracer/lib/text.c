// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - appends to a growing text. */
#include "tracer/lib/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MIN 4096

bool text_grow(struct text *t, size_t len)
{
	size_t size = t->size ? t->size : TEXT_MIN;
	char *buf;

	while (size - t->len < len)
		size *= 2;
	buf = realloc(t->buf, size);
	if (!buf) {
		t->failed = true;
		return false;
	}
	t->buf = buf;
	t->size = size;
	return true;
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list args, again;
	int len;

	if (!text_begin(t, 256))
		return;
	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(t->buf + t->len, t->size - t->len, format, args);
	if (len > 0 && (size_t)len >= t->size - t->len && text_begin(t, (size_t)len + 1))
		vsnprintf(t->buf + t->len, t->size - t->len, format, again);
	if (len > 0 && !t->failed)
		t->len += (size_t)len;
	va_end(again);
	va_end(args);
}

void text_free(struct text *t)
{
	free(t->buf);
	*t = (struct text){0};
}

static char *put_padded(char *at, const char *digits, size_t nr, unsigned int width, char pad)
{
	for (; width > nr; width--)
		*at++ = pad;
	return (char *)memcpy(at, digits, nr) + nr;
}

char *text_put_dec(char *at, uint64_t value, unsigned int width, char pad)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[20];
	size_t first = sizeof(digits);

	for (; value >= 100; value /= 100)
		memcpy(&digits[first -= 2], &pairs[value % 100 * 2], 2);
	if (value >= 10)
		memcpy(&digits[first -= 2], &pairs[value * 2], 2);
	else
		digits[--first] = (char)('0' + value);
	return put_padded(at, digits + first, sizeof(digits) - first, width, pad);
}

char *text_put_hex(char *at, uint64_t value, unsigned int width)
{
	char digits[16];
	size_t first = sizeof(digits);

	do {
		digits[--first] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	return put_padded(at, digits + first, sizeof(digits) - first, width, '0');
}
