/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config-read.h - reads configurations, and notes what is told of them. */
#ifndef HVTRACE_TESTS_CONFIG_READ_H
#define HVTRACE_TESTS_CONFIG_READ_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <string.h>

#include "frontend/config/config.h"

static inline const char *some_tracer(unsigned int i)
{
	static const char *const names[] = {"function", "function_graph", "nop"};

	return i < 3 ? names[i] : NULL;
}

static inline const char *some_clock(unsigned int i)
{
	static const char *const names[] = {"global", "mono"};

	return i < 2 ? names[i] : NULL;
}

static inline bool has_equals(const char *text)
{
	return strchr(text, '=') && *text != '=';
}

static inline void note_line(void *arg, const char *line)
{
	text_printf(arg, "%s\n", line);
}

static const struct config_words some_words = {some_tracer, some_clock, has_equals};

/* told: text_free() it. */
static inline struct serve_config *read_config(const char *text, struct text *told)
{
	const struct config_ear ear = {note_line, told};
	struct serve_config *c;

	*told = (struct text){0};
	c = config_read_text("f", text, strlen(text), &some_words, &ear);
	text_putc(told, '\0');
	return c;
}

static inline struct serve_config *right_config(const char *text)
{
	struct text told;
	struct serve_config *c = read_config(text, &told);

	if (!c)
		fail_msg("%s\nis refused: %s", text, told.buf);
	assert_string_equal(told.buf, "");
	text_free(&told);
	return c;
}

/* This is told, and nothing else. */
static inline void wrong_config(const char *text, const char *expected)
{
	struct text told;
	struct serve_config *c = read_config(text, &told);

	if (c)
		fail_msg("%s\nis taken", text);
	if (strcmp(told.buf, expected) != 0)
		fail_msg("%s\nis told:\n%sexpected:\n%s", text, told.buf, expected);
	text_free(&told);
}

/* Terminated; text_free() it. */
static inline struct text printed_config(const struct serve_config *c, bool help)
{
	struct text t = {0};

	config_print(c, help, &t);
	text_putc(&t, '\0');
	assert_false(t.failed);
	return t;
}

#endif
