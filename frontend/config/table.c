// SPDX-License-Identifier: GPL-2.0-or-later
/* table.c - the keys of a table: those that the schema has, and what is said of others. */
#include "frontend/config/kinds.h"

#include <string.h>

/* The table that does have such a key; NULL: none has. */
static const struct config_table *table_of(const char *key)
{
	for (const struct config_table *t = schema_tables; t->name; t++)
		if (schema_find(t, key))
			return t;
	if (schema_find(&schema_rule, key))
		return &schema_rule;
	return schema_find(&schema_threshold, key) ? &schema_threshold : NULL;
}

static void unknown(struct reading *r, const struct config_table *t, const struct toml_entry *e)
{
	const struct config_table *other = table_of(e->key);
	char hint[NEAREST_LEN * 2];
	struct nearest near;

	nearest_begin(&near, e->key);
	for (const struct config_row *row = t->rows; row->key; row++)
		nearest_try(&near, row->key);
	nearest_hint(&near, "", hint, sizeof(hint));
	if (*hint || !other)
		config_complain(&r->complaints, e->line, "%s has no key %.80s%s", t->title, e->key,
				*hint ? hint : "; take it away");
	else
		config_complain(&r->complaints, e->line, "%s has no key %.80s; it is one of %s",
				t->title, e->key, other->title);
}

void kind_read_table(struct reading *r, const struct config_table *t, const struct toml_value *v,
		     void *to)
{
	for (const struct toml_entry *e = v->table.first; e; e = e->next) {
		const struct config_row *row = schema_find(t, e->key);

		if (row)
			kind_read(r, row, e->value, to);
		else
			unknown(r, t, e);
	}
}

void kind_print_table(const struct config_table *t, const void *from, struct text *out)
{
	const char *before = "{ ";

	for (const struct config_row *row = t->rows; row->key; row++) {
		struct text value = {0};

		kind_print(row, from, &value);
		if (value.len) {
			text_printf(out, "%s%s = ", before, row->key);
			text_add(out, value.buf, value.len);
			before = ", ";
		}
		text_free(&value);
	}
	if (*before == ',')
		text_puts(out, " }");
}
