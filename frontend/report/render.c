// SPDX-License-Identifier: GPL-2.0-or-later
/* render.c - what several reports say in the same way. */
#include "frontend/report/render.h"

#include <inttypes.h>
#include <stdio.h>

const char *render_count(uint64_t n, char buf[RENDER_COUNT_LEN])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *to = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
uint64_t render_calls(const struct calltree *t, uint32_t node)
{
	uint64_t sum = t->node[node].st.calls;

	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next)
		sum += render_calls(t, c);
	return sum;
}

void render_name(const char *name, struct text *out)
{
	for (; *name; name++)
		text_putc(out, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
}

void render_xml(const char *name, size_t len, struct text *out)
{
	for (size_t i = 0; i < len && name[i]; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == '<')
			text_puts(out, "&lt;");
		else if (c == '>')
			text_puts(out, "&gt;");
		else if (c == '&')
			text_puts(out, "&amp;");
		else if (c == '"')
			text_puts(out, "&quot;");
		else
			text_putc(out, c < ' ' || c > '~' ? '?' : (char)c);
	}
}
