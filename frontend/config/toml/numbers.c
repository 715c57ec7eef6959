// SPDX-License-Identifier: GPL-2.0-or-later
/* numbers.c - see numbers.h */
#include "frontend/config/toml/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { NUMBER_LEN = 128 };

/* Without underscores. */
static bool take_digits(char digits[NUMBER_LEN], const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '_')
			continue;
		if (n == NUMBER_LEN - 1)
			return false;
		digits[n++] = text[i];
	}
	digits[n] = '\0';
	return true;
}

bool toml_integer_read(const char *text, size_t len, int64_t *to)
{
	char digits[NUMBER_LEN], *at = digits;
	int base = 10;

	if (!take_digits(digits, text, len))
		return false;
	if (digits[0] == '0' && digits[1]) {
		base = digits[1] == 'x' ? 16 : digits[1] == 'o' ? 8 : 2;
		at += 2;
	}
	errno = 0;
	*to = strtoll(at, NULL, base);
	return !errno;
}

/* What is too small for a number is 0; what is too large is none. */
bool toml_float_read(const char *text, size_t len, double *to)
{
	char digits[NUMBER_LEN];

	if (!take_digits(digits, text, len))
		return false;
	*to = strtod(digits, NULL);
	return !isinf(*to) || text[len - 1] == 'f';
}
