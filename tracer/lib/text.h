/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.h - text that grows. */
#ifndef HVTRACE_TRACER_LIB_TEXT_H
#define HVTRACE_TRACER_LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Starts out as all zero. The text is not terminated. */
struct text {
	char *buf;
	size_t len, size;
	bool failed; /* there was no memory: something is missing */
};

/* Make room for len more bytes. False: no memory. */
bool text_grow(struct text *t, size_t len);

/* Where up to len bytes may be written, to be ended by text_end(). NULL: no memory. */
static inline char *text_begin(struct text *t, size_t len)
{
	if (t->size - t->len < len && !text_grow(t, len))
		return NULL;
	return t->buf + t->len;
}

/* All before `end` has been written. */
static inline void text_end(struct text *t, const char *end)
{
	t->len = (size_t)(end - t->buf);
}

static inline void text_add(struct text *t, const void *bytes, size_t len)
{
	char *at = len ? text_begin(t, len) : NULL;

	if (at) {
		memcpy(at, bytes, len);
		t->len += len;
	}
}

static inline void text_puts(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

static inline void text_putc(struct text *t, char c)
{
	text_add(t, &c, 1);
}

void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

/*
 * Numbers without printf, which costs several times as much: each writes at `at`, at most 20
 * characters or width, and returns what is behind.
 */
char *text_put_dec(char *at, uint64_t value, unsigned int width, char pad);
char *text_put_hex(char *at, uint64_t value, unsigned int width); /* padded with zeros */

#endif
