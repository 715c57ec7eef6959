// SPDX-License-Identifier: GPL-2.0-or-later
/* options-words.c - what a table of options has been told, as words for another program of ours. */
#include "frontend/lib/options.h"

#include <errno.h>
#include <inttypes.h>

#include "tracer/tracer.h"

struct words {
	void (*word)(void *arg, const char *word);
	void *arg;
	bool failed;
};

static void put(struct words *w, const char *name, const char *value, const char *unit)
{
	struct text t = {0};

	text_printf(&t, "--%s", name);
	if (value)
		text_printf(&t, "=%s%s", value, unit);
	text_putc(&t, '\0');
	if (t.failed)
		w->failed = true;
	else
		w->word(w->arg, t.buf);
	text_free(&t);
}

static void put_number(struct words *w, const struct option_row *row, uint64_t n, const char *unit)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	if (n)
		put(w, row->name, text, unit);
}

static void put_list(struct words *w, const struct option_row *row)
{
	const struct option_list *list = row->value;

	for (size_t i = 0; i < list->nr; i++)
		put(w, row->name, list->values[i], "");
}

static void put_row(struct words *w, const struct option_row *row)
{
	switch (row->kind) {
	case OPTION_FLAG:
		if (*(bool *)row->value)
			put(w, row->name, NULL, "");
		break;
	case OPTION_STRING:
		if (*(const char **)row->value)
			put(w, row->name, *(const char **)row->value, "");
		break;
	case OPTION_LIST:
		put_list(w, row);
		break;
	case OPTION_NUMBER:
		put_number(w, row, *(uint64_t *)row->value, "");
		break;
	case OPTION_SIZE_KB:
	case OPTION_SIZE_MB:
		put_number(w, row, *(uint64_t *)row->value >> 10, "K");
		break;
	case OPTION_TIME:
		put_number(w, row, *(uint64_t *)row->value, "ms");
		break;
	case OPTION_COLOR:
		break;
	}
}

static bool is_first(const struct option_row *rows, const struct option_row *row)
{
	for (; rows < row; rows++)
		if (rows->value == row->value)
			return false;
	return true;
}

int options_words(const struct option_row *rows, void (*word)(void *arg, const char *word),
		  void *arg)
{
	struct words w = {word, arg, false};

	for (const struct option_row *row = rows; row->name; row++)
		if (is_first(rows, row))
			put_row(&w, row);
	return w.failed ? -ENOMEM : 0;
}
