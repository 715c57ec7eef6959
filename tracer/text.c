// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - appends to a growing text. */
#include "tracer/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MIN 4096

/* Make room for len more bytes. */
static bool text_room(struct text *t, size_t len)
{
	size_t size = t->size ? t->size : TEXT_MIN;
	char *buf;

	if (t->size - t->len >= len)
		return true;
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

void text_add(struct text *t, const char *s, size_t len)
{
	if (!text_room(t, len))
		return;
	memcpy(t->buf + t->len, s, len);
	t->len += len;
}

void text_puts(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void text_putc(struct text *t, char c)
{
	text_add(t, &c, 1);
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list args, again;
	int len;

	if (!text_room(t, 256))
		return;
	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(t->buf + t->len, t->size - t->len, format, args);
	if (len > 0 && (size_t)len >= t->size - t->len && text_room(t, (size_t)len + 1))
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
