// SPDX-License-Identifier: GPL-2.0-or-later
/* complain.c - the one line that tells why an image cannot be used. */
#include "guestsym/internal.h"

#include <stdarg.h>
#include <stdio.h>

int complain(const struct complaint *c, int err, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!c->len || c->buf[0])
		return err;
	n = c->subject ? snprintf(c->buf, c->len, "%s: ", c->subject) : 0;
	if (n < 0 || (size_t)n >= c->len)
		return err;
	va_start(ap, fmt);
	vsnprintf(c->buf + n, c->len - n, fmt, ap);
	va_end(ap);
	return err;
}
