// SPDX-License-Identifier: GPL-2.0-or-later
/* kinds.c - see kinds.h: what is no list and no text, and who takes the others. */
#include "frontend/config/kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/config/quantity.h"

void kind_refuse(struct reading *r, const struct config_row *row, const struct toml_value *v,
		 const char *takes)
{
	switch (v->kind) {
	case TOML_STRING:
		config_complain(&r->complaints, v->line, "%s = \"%.80s\": it takes %s", row->key,
				v->string, takes);
		break;
	case TOML_INTEGER:
		config_complain(&r->complaints, v->line, "%s = %" PRId64 ": it takes %s", row->key,
				v->integer, takes);
		break;
	default:
		config_complain(&r->complaints, v->line, "%s is %s; it takes %s", row->key,
				toml_kind_name(v->kind), takes);
	}
}

/* --- words -------------------------------------------------------------------------------- */

int kind_one_of(struct reading *r, const struct config_row *row, const struct toml_value *v,
		const char *(*name)(unsigned int i))
{
	char hint[NEAREST_LEN * 2], all[200] = "";
	struct nearest near;
	const char *known;

	if (v->kind != TOML_STRING) {
		kind_refuse(r, row, v, "a word in quotes");
		return -1;
	}
	nearest_begin(&near, v->string);
	for (unsigned int i = 0; (known = name(i)); i++) {
		size_t len = strlen(all);

		if (!strcmp(known, v->string))
			return (int)i;
		nearest_try(&near, known);
		snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "", known);
	}
	/* There are many tracers, and names that are cut off help nobody. */
	nearest_hint(&near, "", hint, sizeof(hint));
	if (*hint)
		config_complain(&r->complaints, v->line, "%s = \"%.80s\": there is none%s",
				row->key, v->string, hint);
	else
		config_complain(&r->complaints, v->line, "%s = \"%.80s\": there are %.*s%s",
				row->key, v->string, (int)sizeof(all) - 5, all,
				strlen(all) > sizeof(all) - 5 ? "..." : "");
	return -1;
}

/* --- numbers ------------------------------------------------------------------------------ */

static void number_text(const struct config_row *row, uint64_t n, char buf[QUANTITY_LEN])
{
	if (row->kind == KIND_TIME)
		time_text(n, buf);
	else if (row->kind == KIND_SIZE)
		size_text(n, buf);
	else
		snprintf(buf, QUANTITY_LEN, "%" PRIu64, n);
}

static void number_read(struct reading *r, const struct config_row *row, const struct toml_value *v,
			uint64_t *to)
{
	static const char *const takes[] = {
		[KIND_NUMBER] = "a number",
		[KIND_SIZE] = "a size in quotes, such as \"512M\" or \"20G\"",
		[KIND_TIME] = "a time in quotes, such as \"50ms\", \"5s\", \"10m\" or \"7d\"",
	};
	char least[QUANTITY_LEN], most[QUANTITY_LEN];
	uint64_t n = 0;
	bool right = false;

	if (row->kind == KIND_NUMBER && v->kind == TOML_INTEGER) {
		/* What is negative is larger than any that is taken. */
		n = (uint64_t)v->integer;
		right = true;
	} else if (row->kind != KIND_NUMBER && v->kind == TOML_STRING) {
		right = row->kind == KIND_TIME ? time_parse(v->string, &n)
					       : size_parse(v->string, &n);
	}
	if (!right) {
		kind_refuse(r, row, v, takes[row->kind]);
		return;
	}
	*to = n;
	if (n >= row->min && n <= row->max)
		return;
	number_text(row, row->min, least);
	number_text(row, row->max, most);
	config_complain(&r->complaints, v->line, "%s is not between %s and %s", row->key, least,
			most);
}

static void percent_read(struct reading *r, const struct config_row *row,
			 const struct toml_value *v, double *to)
{
	double n;

	if (v->kind != TOML_INTEGER && v->kind != TOML_FLOAT) {
		kind_refuse(r, row, v, "a number of percent, such as 20 or 2.5");
		return;
	}
	n = v->kind == TOML_INTEGER ? (double)v->integer : v->number;
	/* nan is between nothing. */
	if (n >= (double)row->min && n <= (double)row->max)
		*to = n;
	else
		config_complain(&r->complaints, v->line,
				"%s is not between %" PRIu64 " and %" PRIu64 " percent", row->key,
				row->min, row->max);
}

/* --- any ---------------------------------------------------------------------------------- */

static void boolean_read(struct reading *r, const struct config_row *row,
			 const struct toml_value *v, bool *to)
{
	if (v->kind == TOML_BOOLEAN)
		*to = v->boolean;
	else
		kind_refuse(r, row, v, "true or false, without quotes");
}

static void word_read(struct reading *r, const struct config_row *row, const struct toml_value *v,
		      unsigned int *to)
{
	int i = kind_one_of(r, row, v, row->names);

	if (i >= 0)
		*to = (unsigned int)i;
}

void kind_read(struct reading *r, const struct config_row *row, const struct toml_value *v,
	       void *table)
{
	void *to = (char *)table + row->offset;
	const char *text;

	switch (row->kind) {
	case KIND_BOOLEAN:
		boolean_read(r, row, v, to);
		break;
	case KIND_NUMBER:
	case KIND_SIZE:
	case KIND_TIME:
		number_read(r, row, v, to);
		break;
	case KIND_PERCENT:
		percent_read(r, row, v, to);
		break;
	case KIND_WORD:
		word_read(r, row, v, to);
		break;
	case KIND_COUNTERS:
		kind_read_counters(r, row, v, to);
		break;
	case KIND_LABELS:
		kind_read_labels(r, row, v, to);
		break;
	case KIND_TABLE:
		if (v->kind == TOML_TABLE)
			kind_read_table(r, row->table, v, to);
		else
			kind_refuse(r, row, v, "keys in braces, such as { steal = 20 }");
		break;
	case KIND_TEXTS:
	case KIND_GLOBS:
	case KIND_SETTINGS:
	case KIND_URLS:
		kind_read_list(r, row, v, to);
		break;
	default:
		text = kind_read_text(r, row, v);
		if (text)
			*(const char **)to = text;
	}
}

/* --- printed ------------------------------------------------------------------------------ */

/* What stands there is clean UTF-8, without zeros: TOML makes no others. */
void kind_print_string(struct text *out, const char *s)
{
	text_putc(out, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			text_printf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			text_printf(out, "\\u%04x", c);
		else
			text_putc(out, (char)c);
	}
	text_putc(out, '"');
}

static void number_print(const struct config_row *row, uint64_t n, struct text *out)
{
	char buf[QUANTITY_LEN];

	if (n < row->min)
		return;
	number_text(row, n, buf);
	if (row->kind == KIND_NUMBER)
		text_puts(out, buf);
	else
		kind_print_string(out, buf);
}

void kind_print(const struct config_row *row, const void *table, struct text *out)
{
	const void *from = (const char *)table + row->offset;

	switch (row->kind) {
	case KIND_BOOLEAN:
		text_puts(out, *(const bool *)from ? "true" : "false");
		break;
	case KIND_NUMBER:
	case KIND_SIZE:
	case KIND_TIME:
		number_print(row, *(const uint64_t *)from, out);
		break;
	case KIND_PERCENT:
		if (*(const double *)from >= (double)row->min)
			text_printf(out, "%.10g", *(const double *)from);
		break;
	case KIND_WORD:
		kind_print_string(out, row->names(*(const unsigned int *)from));
		break;
	case KIND_COUNTERS:
		kind_print_counters(row, *(const unsigned int *)from, out);
		break;
	case KIND_LABELS:
		kind_print_labels(from, out);
		break;
	case KIND_TABLE:
		kind_print_table(row->table, from, out);
		break;
	case KIND_TEXTS:
	case KIND_GLOBS:
	case KIND_SETTINGS:
	case KIND_URLS:
		kind_print_list(from, out);
		break;
	default:
		if (*(const char *const *)from)
			kind_print_string(out, *(const char *const *)from);
	}
}
