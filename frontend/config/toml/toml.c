// SPDX-License-Identifier: GPL-2.0-or-later
/* toml.c - see toml.h */
#include "frontend/config/toml/toml.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/config/toml/grammar.h"
#include "frontend/config/toml/memory.h"
#include "frontend/config/toml/mistakes.h"
#include "frontend/config/toml/tree-library.h"
#include "frontend/config/toml/values.h"

/*
 * A statement takes microseconds, or some milliseconds if it is as long as it may be. Of those that
 * are full of mistakes neither one is to take much more, nor all together.
 */
#define STATEMENT_US 1000000
#define MISTAKES_US  2000000

struct toml {
	struct toml_memory memory;
	struct toml_value *root;
};

const char *toml_missing(void)
{
	if (!toml_grammar())
		return "this hvtrace was built without what reads TOML (npm was not there: "
		       "install it and build again)";
	return tree_library_missing();
}

const char *toml_kind_name(enum toml_kind kind)
{
	static const char *const names[] = {
		[TOML_STRING] = "a string",
		[TOML_INTEGER] = "a number",
		[TOML_FLOAT] = "a number with a point",
		[TOML_BOOLEAN] = "true or false",
		[TOML_DATE] = "a date",
		[TOML_ARRAY] = "an array",
		[TOML_TABLE] = "a table",
	};

	return names[kind];
}

/* --- mistakes that the grammar sees ------------------------------------------------------- */

/* The next node behind the one that it is at and what is in that. False: there is none. */
static bool go_on(TSTreeCursor *cursor)
{
	while (!tree_library()->ts_tree_cursor_goto_next_sibling(cursor))
		if (!tree_library()->ts_tree_cursor_goto_parent(cursor))
			return false;
	return true;
}

/* A word of which the grammar took the end for a key, where a value has to be; NULL: there is none.
 */
static const char *stray_word(const struct statement *s, TSNode node)
{
	const char *from = toml_statement_value(s),
		   *word = s->text + tree_library()->ts_node_start_byte(node);
	const char *end = s->text + s->len,
		   *next = s->text + tree_library()->ts_node_end_byte(node);

	if (strcmp(tree_library()->ts_node_type(node), "bare_key") != 0 || !from || word < from)
		return NULL;
	while (next < end && (*next == ' ' || *next == '\t'))
		next++;
	if (next < end && (*next == '=' || *next == '.'))
		return NULL;
	while (word > from && !strchr(" \t\n,[{", word[-1]))
		word--;
	return word;
}

/* Told: it is such a word. Else where the first mistake is. */
static bool tell_word(struct mistakes *m, const struct statement *s, TSNode root, unsigned int *row)
{
	TSTreeCursor cursor = tree_library()->ts_tree_cursor_new(root);
	bool told = false, found = false, more = true;

	while (more && !told) {
		TSNode node = tree_library()->ts_tree_cursor_current_node(&cursor);
		bool bad = tree_library()->ts_node_has_error(node) || found;
		const char *word = stray_word(s, node);

		if (word && found)
			told = toml_mistake_is_word(
				m, s, word,
				s->line + tree_library()->ts_node_start_point(node).row);
		if (bad && !strcmp(tree_library()->ts_node_type(node), "ERROR") && !found) {
			*row = tree_library()->ts_node_start_point(node).row;
			found = true;
		}
		more = (bad && tree_library()->ts_tree_cursor_goto_first_child(&cursor)) ||
		       go_on(&cursor);
	}
	tree_library()->ts_tree_cursor_delete(&cursor);
	return told;
}

/* One of a statement that is right by itself. */
static bool is_whole(TSNode node)
{
	const char *type = tree_library()->ts_node_type(node);

	return strcmp(type, "ERROR") != 0 && strcmp(type, "comment") != 0;
}

/* The end of a line is in no node: where it is missing there are two that are right. */
static void tell_mistake(struct mistakes *m, const struct statement *s, TSNode root)
{
	unsigned int row = 0;

	if (tree_library()->ts_node_named_child_count(root) > 1 &&
	    is_whole(tree_library()->ts_node_named_child(root, 0)) &&
	    is_whole(tree_library()->ts_node_named_child(root, 1))) {
		row = tree_library()
			      ->ts_node_start_point(tree_library()->ts_node_named_child(root, 1))
			      .row;
		toml_mistake(m, s->line + row, "what follows belongs into a line of its own");
		return;
	}
	if (*s->text == '=')
		toml_mistake(m, s->line, "a key is missing before the =");
	else if (!tell_word(m, s, root, &row))
		toml_mistake_in_statement(m, s, s->line + row);
}

struct parser {
	TSParser *ts;
	uint64_t spent_us; /* for what was no TOML */
};

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void read_statement(struct parser *p, struct values *v, const struct statement *s)
{
	uint64_t begin = now_us();
	TSTree *tree =
		tree_library()->ts_parser_parse_string(p->ts, NULL, s->text, (uint32_t)s->len);
	struct mistakes *m = v->tables.mistakes;

	if (tree && !tree_library()->ts_node_has_error(tree_library()->ts_tree_root_node(tree))) {
		toml_values_add(v, s, tree);
	} else if (tree) {
		tell_mistake(m, s, tree_library()->ts_tree_root_node(tree));
		p->spent_us += now_us() - begin;
	} else {
		tree_library()->ts_parser_reset(p->ts);
		toml_mistake(m, s->line, "there is more wrong here than can be told in a second");
		p->spent_us += now_us() - begin;
	}
	tree_library()->ts_tree_delete(tree);
}

/* --- all of it ---------------------------------------------------------------------------- */

static void read_statements(struct toml *t, struct mistakes *m, const char *text, size_t len)
{
	struct statements all = {text, text + len, 1, m};
	struct values v = {.tables = {&t->memory, m}};
	struct parser p = {tree_library()->ts_parser_new(), 0};
	struct statement s;

	t->root = v.root = v.table = toml_value_new(&v.tables, TOML_TABLE, 1);
	if (t->root && tree_library()->ts_parser_set_language(p.ts, toml_grammar())) {
		t->root->table.origin = TOML_HEADED;
		tree_library()->ts_parser_set_timeout_micros(p.ts, STATEMENT_US);
		while (p.spent_us < MISTAKES_US && !toml_mistakes_are_enough(m) &&
		       toml_statements_next(&all, &s))
			read_statement(&p, &v, &s);
	} else if (t->root) {
		toml_mistake(m, 1, "libtree-sitter does not take the grammar; build hvtrace again");
	}
	tree_library()->ts_parser_delete(p.ts);
}

struct toml *toml_read(const char *text, size_t len, const struct toml_ear *ear)
{
	struct mistakes m = {.ear = *ear};
	struct toml *t;

	if (toml_missing())
		toml_mistake(&m, 1, "%s", toml_missing());
	else if (len > TOML_SIZE)
		toml_mistake(&m, 1, "more than %d KB; make it shorter", TOML_SIZE >> 10);
	t = m.nr ? NULL : calloc(1, sizeof(*t));
	if (!t) {
		if (!m.nr)
			toml_mistake_no_memory(&m);
		return NULL;
	}
	if (toml_statements_are_text(text, len, &m))
		read_statements(t, &m, text, len);
	if (!m.nr)
		return t;
	toml_free(t);
	return NULL;
}

void toml_free(struct toml *t)
{
	if (t)
		toml_memory_free(&t->memory);
	free(t);
}

const struct toml_value *toml_root(const struct toml *t)
{
	return t->root;
}

void *toml_keep(struct toml *t, size_t size)
{
	return toml_memory_take(&t->memory, size);
}
