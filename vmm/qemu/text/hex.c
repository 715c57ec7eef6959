// SPDX-License-Identifier: GPL-2.0-or-later
/* hex.c - bytes as hexadecimal digits, which is how gdb's remote protocol has them. */
#include "vmm/qemu/text/hex.h"

#include <errno.h>

int hex_decode(const char *hex, uint8_t *to, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = hex_digit(hex[2 * i]), low = high < 0 ? -1 : hex_digit(hex[2 * i + 1]);

		if (low < 0)
			return -EPROTO;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

char *hex_encode(char *to, const uint8_t *from, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*to++ = digits[from[i] >> 4];
		*to++ = digits[from[i] & 15];
	}
	*to = '\0';
	return to;
}
