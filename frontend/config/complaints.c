// SPDX-License-Identifier: GPL-2.0-or-later
/* complaints.c - see complaints.h */
#include "frontend/config/complaints.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/lib/escape.h"

void config_complain(struct complaints *r, unsigned int line, const char *format, ...)
{
	struct complaint *l;
	va_list args;

	if (r->nr++ >= TOML_MISTAKES)
		return;
	l = &r->lines[r->nr - 1];
	l->line = line;
	va_start(args, format);
	vsnprintf(l->what, sizeof(l->what), format, args);
	va_end(args);
}

/* Of one line they stay as they came. */
static void sort(struct complaint *lines, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++) {
		struct complaint l = lines[i];
		unsigned int to = i;

		for (; to && lines[to - 1].line > l.line; to--)
			lines[to] = lines[to - 1];
		lines[to] = l;
	}
}

/* Values may have been given characters that a terminal obeys, and ends of lines. */
static void tell(const struct config_ear *ear, const char *line)
{
	struct escape escape = {.len = 0};
	struct text text = {0};

	for (size_t len; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		escape_add(&escape, &text, line, len);
		if (line[len])
			text_puts(&text, "\\n");
	}
	escape_end(&escape, &text);
	text_putc(&text, '\0');
	ear->tell(ear->arg, text.failed ? "out of memory" : text.buf);
	text_free(&text);
}

void complaints_tell(struct complaints *r, const char *name, const struct config_ear *ear)
{
	unsigned int nr = r->nr < TOML_MISTAKES ? r->nr : TOML_MISTAKES;
	char line[4096 + sizeof(r->lines[0].what)];

	sort(r->lines, nr);
	for (unsigned int i = 0; i < nr; i++) {
		if (r->lines[i].line)
			snprintf(line, sizeof(line), "%.4000s:%u: %s", name, r->lines[i].line,
				 r->lines[i].what);
		else
			snprintf(line, sizeof(line), "%.4000s: %s", name, r->lines[i].what);
		tell(ear, line);
	}
	if (r->nr > nr) {
		snprintf(line, sizeof(line), "%.4000s: and %u more", name, r->nr - nr);
		tell(ear, line);
	}
}
