// SPDX-License-Identifier: GPL-2.0-or-later
/* numbers.c - what is written to files, as the kernel reads it. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <string.h>

int parse_number(const char *text, size_t len, uint64_t *value)
{
	const char *nul = memchr(text, '\0', len);
	uint64_t n = 0;
	size_t i = 0;
	bool overflow = false;

	if (nul)
		len = (size_t)(nul - text);
	if (len && text[len - 1] == '\n')
		len--;
	if (len && text[0] == '+')
		i++;
	if (i == len)
		return -EINVAL;
	for (; i < len; i++) {
		unsigned int digit = (unsigned char)text[i] - '0';

		if (digit > 9)
			return -EINVAL;
		overflow |= __builtin_mul_overflow(n, 10, &n);
		overflow |= __builtin_add_overflow(n, digit, &n);
	}
	if (overflow)
		return -ERANGE;
	*value = n;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool ends_chunk(char c)
{
	return c == ',' || is_space(c);
}

/* The 32 bits that end at text[*len - 1]; they are taken off. */
static int take_chunk(const char *text, size_t *len, uint32_t *chunk)
{
	*chunk = 0;
	for (unsigned int shift = 0; *len && !ends_chunk(text[*len - 1]); shift += 4) {
		int digit = hex_digit(text[*len - 1]);

		if (digit < 0)
			return -EINVAL;
		if (shift >= 32)
			return -EOVERFLOW;
		*chunk |= (uint32_t)digit << shift;
		--*len;
	}
	return 0;
}

int parse_mask(const char *text, size_t len, unsigned int bits, uint64_t *mask)
{
	const char *end = memchr(text, '\n', len);
	unsigned int room = (bits + 31) / 32;
	uint64_t value = 0;

	if (!len)
		return -EINVAL;
	if (end)
		len = (size_t)(end - text);
	for (unsigned int shift = 0;; shift += 32) {
		uint32_t chunk;
		int rc;

		while (len && ends_chunk(text[len - 1]))
			len--;
		if (!len)
			break;
		if (shift / 32 == room)
			return -EOVERFLOW;
		rc = take_chunk(text, &len, &chunk);
		if (rc)
			return rc;
		value |= (uint64_t)chunk << shift;
	}
	if (bits < 64 && value >> bits)
		return -EOVERFLOW;
	*mask = value;
	return 0;
}

void print_mask(uint64_t mask, unsigned int bits, struct text *out)
{
	unsigned int high = bits > 32 ? bits - 32 : 0;

	if (high)
		text_printf(out, "%0*x,", (int)(high + 3) / 4, (uint32_t)(mask >> 32));
	text_printf(out, "%0*x", high ? 8 : (int)(bits + 3) / 4, (uint32_t)mask);
}

void copy_stripped(char *to, size_t room, const char *text, size_t len)
{
	const char *nul = memchr(text, '\0', len);

	if (nul)
		len = (size_t)(nul - text);
	if (len > room - 1)
		len = room - 1;
	for (; len && is_space(text[len - 1]); len--)
		;
	for (; len && is_space(*text); text++)
		len--;
	memcpy(to, text, len);
	to[len] = '\0';
}
