// SPDX-License-Identifier: GPL-2.0-or-later
/* messages.c - see messages.h */
#include "frontend/remote/messages.h"

#include <stdio.h>
#include <string.h>

#include "frontend/lib/escape.h"

#define LINE_MAX_LEN 4096 /* what is longer is more than one */
#define PREFIX	     "hvtrace: "

/* Lists that it prints have no prefix; who has printed them is to be seen nevertheless. */
static void say(const struct messages *m, const struct text *shown)
{
	const size_t prefix = strlen(PREFIX);

	if (shown->len >= prefix && !memcmp(shown->buf, PREFIX, prefix))
		fprintf(stderr, PREFIX "%s: %.*s\n", m->host, (int)(shown->len - prefix),
			shown->buf + prefix);
	else
		fprintf(stderr, "%s: %.*s\n", m->host, (int)shown->len,
			shown->len ? shown->buf : "");
}

static void end_line(struct messages *m)
{
	struct escape escape = {.len = 0};
	struct text shown = {0};

	escape_add(&escape, &shown, m->line.buf, m->line.len);
	escape_end(&escape, &shown);
	if (!shown.failed)
		say(m, &shown);
	text_free(&shown);
	m->line.len = 0;
}

void messages_add(struct messages *m, const uint8_t *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\n')
			text_add(&m->line, &text[i], 1);
		if (text[i] == '\n' || m->line.len == LINE_MAX_LEN)
			end_line(m);
	}
}

void messages_end(struct messages *m)
{
	if (m->line.len)
		end_line(m);
	text_free(&m->line);
}
