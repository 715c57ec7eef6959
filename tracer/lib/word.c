// SPDX-License-Identifier: GPL-2.0-or-later
/* word.c - see word.h */
#include "tracer/lib/word.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

int word_init(struct word *w, size_t size)
{
	*w = (struct word){.text = calloc(1, size), .size = size};
	return w->text ? 0 : -ENOMEM;
}

void word_free(struct word *w)
{
	free(w->text);
	*w = (struct word){0};
}

void word_clear(struct word *w)
{
	w->open = false;
	w->len = 0;
}

/* The kernel's isspace() is one of Latin-1: it has a no-break space. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

ssize_t word_take(struct word *w, bool start, const char *text, size_t len)
{
	size_t at = 0;

	if (start)
		word_clear(w);
	if (!w->open) {
		w->len = 0;
		while (at < len && is_space(text[at]))
			at++;
		if (at == len)
			return (ssize_t)at;
		if (!text[at])
			return (ssize_t)at + 1;
	}
	for (; at < len && !is_space(text[at]) && text[at]; at++) {
		if (w->len == w->size - 1) {
			w->failed = true;
			return -EINVAL;
		}
		w->text[w->len++] = text[at];
	}
	w->text[w->len] = '\0';
	w->open = at == len;
	return (ssize_t)(w->open ? at : at + 1);
}

/* Not strtoull()'s, which takes 0b1 for a number where it is of C23. */
static int number_base(const char *digits)
{
	if (digits[0] != '0')
		return 10;
	return (digits[1] | 0x20) == 'x' && isxdigit((unsigned char)digits[2]) ? 16 : 8;
}

int word_number(const char *text, uint64_t *value)
{
	const char *digits = text + (*text == '+');
	char *end;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	*value = strtoull(digits, &end, number_base(digits));
	if (errno)
		return -errno;
	if (*end == '\n')
		end++;
	return *end ? -EINVAL : 0;
}
