// SPDX-License-Identifier: GPL-2.0-or-later
/* compare.c - what is another one in another configuration: values are the same that print alike.
 */
#include "frontend/config/config.h"

#include <string.h>

#include "frontend/config/kinds.h"
#include "frontend/config/schema.h"

struct comparison {
	void (*tell)(void *arg, const struct config_change *c);
	void *arg;
};

/* Terminated; NULL where it says nothing. */
static const char *value_of(const struct config_row *row, const void *from, struct text *value)
{
	*value = (struct text){0};
	kind_print(row, from, value);
	if (!value->len)
		return NULL;
	text_putc(value, '\0');
	return value->failed ? "?" : value->buf;
}

/* Where there was no memory for them they are different. */
static bool is_same(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0 && strcmp(a, "?") != 0;
}

/* Whether all is the same; what is not is told, if anybody wants to know. */
static bool compare_tables(const struct config_table *t, const void *before, const void *now,
			   const struct comparison *how, const char *rule)
{
	bool same = true;

	for (const struct config_row *row = t->rows; row->key; row++) {
		struct text was, is;
		struct config_change c = {t->name, rule, row->key, value_of(row, before, &was),
					  value_of(row, now, &is)};

		if (!is_same(c.before, c.now)) {
			same = false;
			if (how)
				how->tell(how->arg, &c);
		}
		text_free(&was);
		text_free(&is);
	}
	return same;
}

bool config_rule_same(const struct config_rule *a, const struct config_rule *b)
{
	return compare_tables(&schema_rule, a, b, NULL, NULL);
}

void config_compare(const struct serve_config *before, const struct serve_config *now,
		    void (*tell)(void *arg, const struct config_change *c), void *arg)
{
	const struct comparison how = {tell, arg};

	for (const struct config_table *t = schema_tables; t->name; t++)
		compare_tables(t, before, now, &how, NULL);
	for (size_t i = 0; i < now->nr_rules; i++) {
		const struct config_rule *rule = &now->rules[i];
		const struct config_rule *was = config_rule_find(before, rule->name);
		const struct config_change added = {schema_rule.name, rule->name, NULL, NULL, ""};

		if (was)
			compare_tables(&schema_rule, was, rule, &how, rule->name);
		else
			tell(arg, &added);
	}
	for (size_t i = 0; i < before->nr_rules; i++) {
		const char *name = before->rules[i].name;
		const struct config_change gone = {schema_rule.name, name, NULL, "", NULL};

		if (!config_rule_find(now, name))
			tell(arg, &gone);
	}
}
