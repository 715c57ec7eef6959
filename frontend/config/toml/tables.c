// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - see tables.h */
#include "frontend/config/toml/tables.h"

#include <string.h>

struct toml_value *toml_value_new(struct tables *t, enum toml_kind kind, unsigned int line)
{
	struct toml_value *v = toml_memory_take(t->memory, sizeof(*v));

	if (!v) {
		toml_mistake_no_memory(t->mistakes);
		return NULL;
	}
	v->kind = kind;
	v->line = line;
	return v;
}

void toml_array_add(struct toml_value *array, struct toml_value *v)
{
	if (array->array.last)
		array->array.last->next = v;
	else
		array->array.first = v;
	array->array.last = v;
}

const struct toml_entry *toml_find(const struct toml_value *table, const char *key)
{
	for (const struct toml_entry *e = table->table.first; e; e = e->next)
		if (!strcmp(e->key, key))
			return e;
	return NULL;
}

static bool add(struct tables *t, struct toml_value *table, const char *key, unsigned int line,
		struct toml_value *v)
{
	struct toml_entry *e;

	if (table->table.nr == TOML_KEYS) {
		toml_mistake(t->mistakes, line, "a table of more than %d keys", TOML_KEYS);
		return false;
	}
	e = toml_memory_take(t->memory, sizeof(*e));
	if (!e) {
		toml_mistake_no_memory(t->mistakes);
		return false;
	}
	*e = (struct toml_entry){NULL, key, line, v};
	if (table->table.last)
		table->table.last->next = e;
	else
		table->table.first = e;
	table->table.last = e;
	table->table.nr++;
	return true;
}

static struct toml_value *add_table(struct tables *t, struct toml_value *table, const char *key,
				    unsigned int line, enum toml_origin origin)
{
	struct toml_value *v = toml_value_new(t, TOML_TABLE, line);

	if (!v || !add(t, table, key, line, v))
		return NULL;
	v->table.origin = origin;
	return v;
}

static void twice(struct tables *t, const struct toml_entry *e, unsigned int line)
{
	toml_mistake(t->mistakes, line, "%s is there a second time, after line %u; take one away",
		     e->key, e->line);
}

static void not_a_table(struct tables *t, const struct toml_entry *e, unsigned int line)
{
	toml_mistake(t->mistakes, line, "%s is %s, of line %u, not a table", e->key,
		     toml_kind_name(e->value->kind), e->line);
}

static void complete(struct tables *t, const struct toml_entry *e, unsigned int line)
{
	toml_mistake(t->mistakes, line, "%s is a table that line %u begins: what it has goes there",
		     e->key, e->line);
}

/* --- keys --------------------------------------------------------------------------------- */

/* Keys with dots make tables, and add to those that others of their like have made. */
static struct toml_value *enter_dotted(struct tables *t, struct toml_value *table, const char *key,
				       unsigned int line)
{
	const struct toml_entry *e = toml_find(table, key);

	if (!e)
		return add_table(t, table, key, line, TOML_DOTTED);
	if (e->value->kind != TOML_TABLE) {
		not_a_table(t, e, line);
		return NULL;
	}
	if (e->value->table.origin != TOML_DOTTED) {
		complete(t, e, line);
		return NULL;
	}
	return e->value;
}

bool toml_table_set(struct tables *t, struct toml_value *table, const struct key_path *path,
		    struct toml_value *v)
{
	const char *key = path->parts[path->nr - 1];
	const struct toml_entry *e;

	for (unsigned int i = 0; i + 1 < path->nr; i++) {
		table = enter_dotted(t, table, path->parts[i], path->line);
		if (!table)
			return false;
	}
	e = toml_find(table, key);
	if (e)
		twice(t, e, path->line);
	return !e && add(t, table, key, path->line, v);
}

/* --- headers ------------------------------------------------------------------------------ */

/* On the way to the table that a header is of. Of [[tables]] it is the last one. */
static struct toml_value *enter_headed(struct tables *t, struct toml_value *table, const char *key,
				       unsigned int line)
{
	const struct toml_entry *e = toml_find(table, key);
	struct toml_value *v = e ? e->value : NULL;

	if (!e)
		return add_table(t, table, key, line, TOML_IMPLIED);
	if (v->kind == TOML_ARRAY && v->array.headed)
		return v->array.last;
	if (v->kind != TOML_TABLE) {
		not_a_table(t, e, line);
		return NULL;
	}
	if (v->table.origin == TOML_INLINE) {
		complete(t, e, line);
		return NULL;
	}
	return v;
}

static struct toml_value *begin_table(struct tables *t, struct toml_value *table, const char *key,
				      unsigned int line)
{
	const struct toml_entry *e = toml_find(table, key);

	if (!e)
		return add_table(t, table, key, line, TOML_HEADED);
	if (e->value->kind == TOML_TABLE && e->value->table.origin == TOML_IMPLIED) {
		e->value->table.origin = TOML_HEADED;
		e->value->line = line;
		return e->value;
	}
	if (e->value->kind == TOML_ARRAY && e->value->array.headed)
		toml_mistake(t->mistakes, line,
			     "there are several of %s, as in line %u: write [[%s]]", key, e->line,
			     key);
	else
		twice(t, e, line);
	return NULL;
}

static struct toml_value *begin_repeated(struct tables *t, struct toml_value *table,
					 const char *key, unsigned int line)
{
	const struct toml_entry *e = toml_find(table, key);
	struct toml_value *array = e ? e->value : NULL, *v;

	if (e && !(array->kind == TOML_ARRAY && array->array.headed)) {
		toml_mistake(t->mistakes, line,
			     "%s is %s, of line %u, and there is no more than one", key,
			     toml_kind_name(array->kind), e->line);
		return NULL;
	}
	if (!e) {
		array = toml_value_new(t, TOML_ARRAY, line);
		if (!array || !add(t, table, key, line, array))
			return NULL;
		array->array.headed = true;
	}
	v = toml_value_new(t, TOML_TABLE, line);
	if (!v)
		return NULL;
	v->table.origin = TOML_HEADED;
	toml_array_add(array, v);
	return v;
}

struct toml_value *toml_table_begin(struct tables *t, struct toml_value *root,
				    const struct key_path *path, bool repeated)
{
	const char *key = path->parts[path->nr - 1];

	for (unsigned int i = 0; i + 1 < path->nr; i++) {
		root = enter_headed(t, root, path->parts[i], path->line);
		if (!root)
			return NULL;
	}
	return repeated ? begin_repeated(t, root, key, path->line)
			: begin_table(t, root, key, path->line);
}
