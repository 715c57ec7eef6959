// SPDX-License-Identifier: GPL-2.0-or-later
/* config.c - see config.h: a file becomes a configuration. */
#include "frontend/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/config/check.h"
#include "frontend/config/kinds.h"
#include "frontend/config/complaints.h"
#include "frontend/config/toml/toml.h"
#include "frontend/lib/file.h"

const char *config_missing(void)
{
	return toml_missing();
}

struct serve_config *config_default(void)
{
	struct serve_config *c = malloc(sizeof(*c));

	if (c)
		*c = schema_defaults;
	return c;
}

void config_free(struct serve_config *c)
{
	if (c)
		toml_free(c->text);
	free(c);
}

const struct config_rule *config_rule_find(const struct serve_config *c, const char *name)
{
	for (size_t i = 0; i < c->nr_rules; i++)
		if (!strcmp(c->rules[i].name, name))
			return &c->rules[i];
	return NULL;
}

/* --- tables ------------------------------------------------------------------------------- */

static void read_rules(struct reading *r, const struct toml_value *tables, struct serve_config *c)
{
	size_t nr = 0;

	for (const struct toml_value *v = tables->array.first; v; v = v->next)
		nr++;
	if (nr > CONFIG_RULES) {
		config_complain(&r->complaints, tables->line, "more than %d rules", CONFIG_RULES);
		return;
	}
	c->rules = toml_keep(r->text, nr * sizeof(*c->rules));
	if (!c->rules) {
		config_complain(&r->complaints, tables->line, "out of memory");
		return;
	}
	for (const struct toml_value *v = tables->array.first; v; v = v->next) {
		c->rules[c->nr_rules] = schema_rule_defaults;
		kind_read_table(r, &schema_rule, v, &c->rules[c->nr_rules++]);
	}
}

static const struct config_table *find_table(const char *name)
{
	for (const struct config_table *t = schema_tables; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

static void unknown_table(struct reading *r, const struct toml_entry *e)
{
	char hint[NEAREST_LEN * 2];
	struct nearest near;

	nearest_begin(&near, e->key);
	for (const struct config_table *t = schema_tables; t->name; t++)
		nearest_try(&near, t->name);
	nearest_try(&near, schema_rule.name);
	nearest_hint(&near, "", hint, sizeof(hint));
	config_complain(&r->complaints, e->line,
			"%.80s is neither [serve], [metrics] or [ship] nor a [[rule]]%s", e->key,
			hint);
}

static void read_entry(struct reading *r, const struct toml_entry *e, struct serve_config *c)
{
	const struct config_table *t = find_table(e->key);

	if (t && e->value->kind == TOML_TABLE)
		kind_read_table(r, t, e->value, c);
	else if (t)
		config_complain(&r->complaints, e->line, "%s is a table; write %s", t->name,
				t->title);
	else if (strcmp(e->key, schema_rule.name) != 0)
		unknown_table(r, e);
	else if (e->value->kind == TOML_ARRAY && e->value->array.headed)
		read_rules(r, e->value, c);
	else
		config_complain(&r->complaints, e->line, "each rule begins with a line [[rule]]");
}

/* --- files -------------------------------------------------------------------------------- */

static void note(void *arg, unsigned int line, const char *what)
{
	config_complain(arg, line, "%s", what);
}

static struct serve_config *read_text(struct reading *r, const char *text, size_t len)
{
	const struct toml_ear ear = {note, &r->complaints};
	struct serve_config *c = config_default();

	if (!c) {
		config_complain(&r->complaints, 0, "out of memory");
		return NULL;
	}
	c->text = r->text = toml_read(text, len, &ear);
	if (c->text) {
		const struct toml_value *root = toml_root(c->text);

		for (const struct toml_entry *e = root->table.first; e; e = e->next)
			read_entry(r, e, c);
		/* Whether keys go together is seen when each of them is right. */
		if (!r->complaints.nr)
			config_check(r, c);
	}
	if (!r->complaints.nr)
		return c;
	config_free(c);
	return NULL;
}

struct serve_config *config_read_text(const char *name, const char *text, size_t len,
				      const struct config_words *words,
				      const struct config_ear *ear)
{
	struct reading r = {.words = words};
	struct serve_config *c = read_text(&r, text, len);

	complaints_tell(&r.complaints, name, ear);
	return c;
}

struct serve_config *config_read(const char *path, const struct config_words *words,
				 const struct config_ear *ear)
{
	struct reading r = {.words = words};
	struct serve_config *c = NULL;
	struct file_bytes file;
	int err = file_read_upto(&file, path, TOML_SIZE);

	if (err == -EFBIG)
		config_complain(&r.complaints, 0, "it has more than %d KB; make it shorter",
				TOML_SIZE >> 10);
	else if (err)
		config_complain(&r.complaints, 0, "cannot read it: %s", file_strerror(err));
	else
		c = read_text(&r, file.data ? file.data : "", file.len);
	file_free(&file);
	complaints_tell(&r.complaints, path, ear);
	return c;
}
