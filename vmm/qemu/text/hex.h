/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hex.h - bytes as hexadecimal digits, two each. */
#ifndef HVTRACE_VMM_QEMU_TEXT_HEX_H
#define HVTRACE_VMM_QEMU_TEXT_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The value of a digit, or -1. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The first len bytes of a text: 0, or -EPROTO when it ends before or has something else in it. */
int hex_decode(const char *hex, uint8_t *to, size_t len);
/* 2 * len digits and a NUL; gives where that is. */
char *hex_encode(char *to, const uint8_t *from, size_t len);

#endif
