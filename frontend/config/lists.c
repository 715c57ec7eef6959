// SPDX-License-Identifier: GPL-2.0-or-later
/* lists.c - values of a configuration that are several. */
#include "frontend/config/kinds.h"

#include <string.h>

static size_t count(const struct toml_value *array)
{
	size_t nr = 0;

	for (const struct toml_value *v = array->array.first; v; v = v->next)
		nr++;
	return nr;
}

static bool is_array(struct reading *r, const struct config_row *row, const struct toml_value *v)
{
	if (v->kind == TOML_ARRAY && !v->array.headed)
		return true;
	kind_refuse(r, row, v, "an array, such as [\"...\", \"...\"]");
	return false;
}

/* --- texts -------------------------------------------------------------------------------- */

void kind_read_list(struct reading *r, const struct config_row *row, const struct toml_value *v,
		    struct option_list *to)
{
	const char **values;
	size_t nr = 0;

	if (!is_array(r, row, v))
		return;
	values = toml_keep(r->text, count(v) * sizeof(*values));
	if (!values) {
		config_complain(&r->complaints, v->line, "out of memory");
		return;
	}
	for (const struct toml_value *item = v->array.first; item; item = item->next) {
		const char *text = kind_read_text(r, row, item);

		if (text)
			values[nr++] = text;
	}
	*to = (struct option_list){values, nr};
}

void kind_print_list(const struct option_list *list, struct text *out)
{
	if (!list->nr)
		return;
	for (size_t i = 0; i < list->nr; i++) {
		text_puts(out, i ? ", " : "[");
		kind_print_string(out, list->values[i]);
	}
	text_putc(out, ']');
}

/* --- counters ----------------------------------------------------------------------------- */

void kind_read_counters(struct reading *r, const struct config_row *row, const struct toml_value *v,
			unsigned int *to)
{
	if (!is_array(r, row, v))
		return;
	*to = 0;
	for (const struct toml_value *item = v->array.first; item; item = item->next) {
		int i = kind_one_of(r, row, item, row->names);

		if (i >= 0)
			*to |= 1u << i;
	}
}

void kind_print_counters(const struct config_row *row, unsigned int bits, struct text *out)
{
	const char *name, *before = "[";

	for (unsigned int i = 0; (name = row->names(i)); i++) {
		if (!(bits & (1u << i)))
			continue;
		text_puts(out, before);
		kind_print_string(out, name);
		before = ", ";
	}
	if (bits)
		text_putc(out, ']');
}

/* --- labels ------------------------------------------------------------------------------- */

void kind_read_labels(struct reading *r, const struct config_row *row, const struct toml_value *v,
		      struct config_labels *to)
{
	struct config_label *labels;
	size_t nr = 0;

	if (v->kind != TOML_TABLE) {
		kind_refuse(r, row, v, "keys and values, such as { tier = \"prod\" }");
		return;
	}
	if (v->table.nr > CONFIG_LABELS) {
		config_complain(&r->complaints, v->line, "%s has more than %d keys", row->key,
				CONFIG_LABELS);
		return;
	}
	labels = toml_keep(r->text, v->table.nr * sizeof(*labels));
	if (!labels) {
		config_complain(&r->complaints, v->line, "out of memory");
		return;
	}
	for (const struct toml_entry *e = v->table.first; e; e = e->next) {
		if (e->value->kind != TOML_STRING)
			config_complain(&r->complaints, e->line,
					"label %.80s is %s; it takes text in quotes", e->key,
					toml_kind_name(e->value->kind));
		else
			labels[nr++] = (struct config_label){e->key, e->value->string};
	}
	*to = (struct config_labels){labels, nr};
}

void kind_print_labels(const struct config_labels *labels, struct text *out)
{
	for (size_t i = 0; i < labels->nr; i++) {
		text_puts(out, i ? ", " : "{ ");
		kind_print_string(out, labels->labels[i].key);
		text_puts(out, " = ");
		kind_print_string(out, labels->labels[i].value);
	}
	if (labels->nr)
		text_puts(out, " }");
}
