// SPDX-License-Identifier: GPL-2.0-or-later
/* values.c - see values.h */
#include "frontend/config/toml/values.h"
#include "frontend/config/toml/tree-library.h"

#include <string.h>

#include "frontend/config/toml/numbers.h"

/* A statement that is gone through. */
struct walk {
	struct tables *tables;
	const struct statement *s;
	TSTreeCursor cursor;
};

/* What it stands at, as it is written. */
struct piece {
	const char *type, *text;
	size_t len;
	unsigned int line;
};

static struct piece here(const struct walk *w)
{
	TSNode node = tree_library()->ts_tree_cursor_current_node(&w->cursor);
	uint32_t at = tree_library()->ts_node_start_byte(node);

	return (struct piece){tree_library()->ts_node_type(node), w->s->text + at,
			      tree_library()->ts_node_end_byte(node) - at,
			      w->s->line + tree_library()->ts_node_start_point(node).row};
}

static bool is_a(const struct piece *p, const char *type)
{
	return !strcmp(p->type, type);
}

static bool is_key(const struct piece *p)
{
	return is_a(p, "bare_key") || is_a(p, "quoted_key") || is_a(p, "dotted_key");
}

static bool read_key(struct walk *w, const struct piece *p, struct key_path *path)
{
	return toml_key_read(w->tables->memory, w->tables->mistakes, p->line, p->text, p->len,
			     path);
}

static struct toml_value *read_value(struct walk *w);

/* --- what is in others -------------------------------------------------------------------- */

/* KEY = VALUE, into a table. */
static bool read_pair(struct walk *w, struct toml_value *table)
{
	struct toml_value *v = NULL;
	struct key_path path;
	struct piece p;

	if (!tree_library()->ts_tree_cursor_goto_first_child(&w->cursor))
		return false;
	p = here(w);
	if (!read_key(w, &p, &path))
		return false;
	/* The = is between them. */
	while (!v && tree_library()->ts_tree_cursor_goto_next_sibling(&w->cursor)) {
		if (!tree_library()->ts_node_is_named(
			    tree_library()->ts_tree_cursor_current_node(&w->cursor)))
			continue;
		v = read_value(w);
		if (!v)
			return false;
	}
	tree_library()->ts_tree_cursor_goto_parent(&w->cursor);
	return v && toml_table_set(w->tables, table, &path, v);
}

/* What stands in brackets: the first mistake is its end, and where w is no longer matters then. */
static bool read_inner(struct walk *w, struct toml_value *to)
{
	if (!tree_library()->ts_tree_cursor_goto_first_child(&w->cursor))
		return true;
	do {
		struct piece p = here(w);
		struct toml_value *item;

		if (is_a(&p, "comment") ||
		    !tree_library()->ts_node_is_named(
			    tree_library()->ts_tree_cursor_current_node(&w->cursor)))
			continue;
		if (to->kind == TOML_TABLE) {
			if (!read_pair(w, to))
				return false;
			continue;
		}
		item = read_value(w);
		if (!item)
			return false;
		toml_array_add(to, item);
	} while (tree_library()->ts_tree_cursor_goto_next_sibling(&w->cursor));
	tree_library()->ts_tree_cursor_goto_parent(&w->cursor);
	return true;
}

/* --- values ------------------------------------------------------------------------------- */

static bool fill_number(struct walk *w, const struct piece *p, struct toml_value *v)
{
	bool fits = v->kind == TOML_INTEGER ? toml_integer_read(p->text, p->len, &v->integer)
					    : toml_float_read(p->text, p->len, &v->number);

	if (!fits)
		toml_mistake(w->tables->mistakes, p->line, "%.*s is too large a number",
			     (int)(p->len < 64 ? p->len : 64), p->text);
	return fits;
}

static bool fill_date(struct walk *w, const struct piece *p, struct toml_value *v)
{
	char *text = toml_memory_take(w->tables->memory, p->len + 1);

	if (!text) {
		toml_mistake_no_memory(w->tables->mistakes);
		return false;
	}
	memcpy(text, p->text, p->len);
	v->string = text;
	return true;
}

static bool fill(struct walk *w, const struct piece *p, struct toml_value *v)
{
	switch (v->kind) {
	case TOML_STRING:
		v->string = toml_string_read(w->tables->memory, w->tables->mistakes, p->line,
					     p->text, p->len);
		return v->string;
	case TOML_INTEGER:
	case TOML_FLOAT:
		return fill_number(w, p, v);
	case TOML_BOOLEAN:
		v->boolean = *p->text == 't';
		return true;
	case TOML_DATE:
		return fill_date(w, p, v);
	case TOML_ARRAY:
		return read_inner(w, v);
	case TOML_TABLE:
		v->table.origin = TOML_INLINE;
		return read_inner(w, v);
	}
	return false;
}

/* By the grammar's names. */
static const struct {
	const char *type;
	enum toml_kind kind;
} types[] = {
	{"string", TOML_STRING},	 {"integer", TOML_INTEGER},
	{"float", TOML_FLOAT},		 {"boolean", TOML_BOOLEAN},
	{"offset_date_time", TOML_DATE}, {"local_date_time", TOML_DATE},
	{"local_date", TOML_DATE},	 {"local_time", TOML_DATE},
	{"array", TOML_ARRAY},		 {"inline_table", TOML_TABLE},
};

/* NULL: a mistake has been told. */
static struct toml_value *read_value(struct walk *w)
{
	struct piece p = here(w);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct toml_value *v;

		if (!is_a(&p, types[i].type))
			continue;
		v = toml_value_new(w->tables, types[i].kind, p.line);
		return v && fill(w, &p, v) ? v : NULL;
	}
	toml_mistake(w->tables->mistakes, p.line, "%s is no value", p.type);
	return NULL;
}

/* --- statements --------------------------------------------------------------------------- */

/* At [path] or [[path]]. */
static struct toml_value *read_header(struct walk *w, struct toml_value *root, bool repeated)
{
	struct key_path path;
	struct piece p;

	if (!tree_library()->ts_tree_cursor_goto_first_child(&w->cursor))
		return NULL;
	do {
		p = here(w);
		if (is_key(&p))
			return read_key(w, &p, &path)
				       ? toml_table_begin(w->tables, root, &path, repeated)
				       : NULL;
	} while (tree_library()->ts_tree_cursor_goto_next_sibling(&w->cursor));
	return NULL;
}

static void add_statement(struct values *v, struct walk *w)
{
	struct piece p = here(w);

	if (is_a(&p, "table"))
		v->table = read_header(w, v->root, false);
	else if (is_a(&p, "table_array_element"))
		v->table = read_header(w, v->root, true);
	else if (is_a(&p, "pair") && v->table)
		read_pair(w, v->table);
}

void toml_values_add(struct values *v, const struct statement *s, const TSTree *tree)
{
	struct walk w = {
		&v->tables, s,
		tree_library()->ts_tree_cursor_new(tree_library()->ts_tree_root_node(tree))};

	if (tree_library()->ts_tree_cursor_goto_first_child(&w.cursor))
		add_statement(v, &w);
	tree_library()->ts_tree_cursor_delete(&w.cursor);
}
