// SPDX-License-Identifier: GPL-2.0-or-later
/* print.c - a configuration as a file again. */
#include "frontend/config/config.h"

#include "frontend/config/kinds.h"
#include "frontend/config/schema.h"

static void print_row(const struct config_row *row, const void *from, bool help, struct text *out)
{
	struct text value = {0};

	kind_print(row, from, &value);
	if (value.len) {
		if (help)
			text_printf(out, "# %s\n", row->help);
		text_printf(out, "%s = ", row->key);
		text_add(out, value.buf, value.len);
		text_putc(out, '\n');
	}
	out->failed |= value.failed;
	text_free(&value);
}

/* Without what says nothing, and of a rule what is not for its `when`. */
static void print_table(const struct config_table *t, const void *from, unsigned int when,
			bool help, struct text *out)
{
	text_printf(out, "%s%s\n", out->len ? "\n" : "", t->title);
	for (const struct config_row *row = t->rows; row->key; row++)
		if (!row->when || row->when & when)
			print_row(row, from, help, out);
}

static bool is_used(const struct config_table *t, const struct serve_config *c)
{
	/* A [ship] that does not say where to is refused. */
	return c->ship.to.nr || strcmp(t->name, "ship") != 0;
}

void config_print(const struct serve_config *c, bool help, struct text *out)
{
	for (const struct config_table *t = schema_tables; t->name; t++)
		if (is_used(t, c))
			print_table(t, c, 0, help, out);
	for (size_t i = 0; i < c->nr_rules; i++)
		print_table(&schema_rule, &c->rules[i], 1u << c->rules[i].when, help, out);
}
