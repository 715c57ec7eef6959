// SPDX-License-Identifier: GPL-2.0-or-later
/* labels.c - see labels.h */
#include "frontend/metrics/labels.h"

#include <string.h>

#include "frontend/lib/escape.h"

#define MEMBER(name)                                                                               \
	{                                                                                          \
#name, offsetof(struct metrics_labels, name)                                       \
	}

static const struct member {
	const char *name;
	size_t offset;
} members[] = {
	MEMBER(guest),	 MEMBER(uuid),	  MEMBER(kernel), MEMBER(rule),	  MEMBER(vcpu),
	MEMBER(syscall), MEMBER(outcome), MEMBER(reason), MEMBER(server), MEMBER(version),
};

/* What the labels say of it; "": nothing. */
static const char *value_of(const struct metrics_labels *labels, const char *name)
{
	const struct member *m = members;
	const char *value;

	while (strcmp(m->name, name) != 0)
		m++;
	memcpy(&value, (const char *)labels + m->offset, sizeof(value));
	return value ? value : "";
}

static void put_value(struct text *to, const char *value)
{
	struct escape e = {.len = 0};
	struct text plain = {0};

	escape_add(&e, &plain, value, strnlen(value, METRICS_VALUE_MAX));
	escape_end(&e, &plain);
	for (size_t i = 0; i < plain.len; i++) {
		char c = plain.buf[i];

		if (c == '\\' || c == '"' || c == '\n')
			text_putc(to, '\\');
		text_putc(to, c == '\n' ? 'n' : c);
	}
	to->failed |= plain.failed;
	text_free(&plain);
}

static void put_label(struct text *to, const char *name, const char *value)
{
	if (to->len)
		text_putc(to, ',');
	text_puts(to, name);
	text_puts(to, "=\"");
	put_value(to, value);
	text_putc(to, '"');
}

static void end(struct text *to)
{
	text_putc(to, '\0');
	to->len -= !to->failed;
}

void labels_put(struct text *to, const struct metrics_about *about,
		const struct metrics_labels *labels)
{
	for (const char *const *name = about->label; *name; name++) {
		const char *value = value_of(labels, *name);

		if (*value)
			put_label(to, *name, value);
	}
	end(to);
}

void labels_put_guest(struct text *to, const char *guest)
{
	put_label(to, "guest", guest);
	end(to);
}
