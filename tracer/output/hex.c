// SPDX-License-Identifier: GPL-2.0-or-later
/* hex.c - numbers with the option hex. */
#include "tracer/output/internal.h"

void output_hex(struct output *o, uint64_t value, unsigned int size)
{
	char *at = text_begin(o->text, 24);

	if (!at)
		return;
	at = text_put_hex(at, value, size * 2);
	*at++ = ' ';
	text_end(o->text, at);
}
