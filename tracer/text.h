/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.h - text that grows. */
#ifndef HVTRACE_TRACER_TEXT_H
#define HVTRACE_TRACER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Starts out as all zero. The text is not terminated. */
struct text {
	char *buf;
	size_t len, size;
	bool failed; /* there was no memory: something is missing */
};

void text_add(struct text *t, const char *s, size_t len);
void text_puts(struct text *t, const char *s);
void text_putc(struct text *t, char c);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

#endif
