// SPDX-License-Identifier: GPL-2.0-or-later
/* check.c - see check.h */
#include "frontend/config/check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/config/quantity.h"

/* A rule, and the table that it comes from. */
struct checked {
	struct reading *r;
	const struct config_rule *rule;
	const struct toml_value *table;
};

static unsigned int line_of(const struct toml_value *table, const char *key)
{
	const struct toml_entry *e = toml_find(table, key);

	return e ? e->line : table->line;
}

static bool says(const struct checked *c, const char *key)
{
	return toml_find(c->table, key);
}

/* At the line of a key of the rule, or of its header. */
#define OBJECT(c, key, ...)                                                                        \
	config_complain(&(c)->r->complaints, line_of((c)->table, key), __VA_ARGS__)

/* --- when it is traced -------------------------------------------------------------------- */

static const char *when_word(const struct config_rule *rule)
{
	return schema_find(&schema_rule, "when")->names(rule->when);
}

/* Keys that only rules of another `when` have. */
static void check_when(const struct checked *c)
{
	for (const struct toml_entry *e = c->table->table.first; e; e = e->next) {
		const struct config_row *row = schema_find(&schema_rule, e->key);

		if (row && row->when && !(row->when & (1u << c->rule->when)))
			config_complain(&c->r->complaints, e->line,
					"%s means nothing with when = \"%s\"; take it away", e->key,
					when_word(c->rule));
	}
}

static void check_window(const struct checked *c)
{
	const struct config_rule *rule = c->rule;
	char window[QUANTITY_LEN], every[QUANTITY_LEN];
	const char *key = says(c, "window") ? "window" : "every";

	if (rule->when != CONFIG_WINDOW)
		return;
	time_text(rule->window_ns, window);
	time_text(rule->every_ns, every);
	if (rule->window_ns >= rule->every_ns)
		OBJECT(c, key,
		       "a window of %s every %s has no end; make it shorter, or write when = "
		       "\"always\"",
		       window, every);
	else if (rule->jitter_ns > rule->every_ns - rule->window_ns)
		OBJECT(c, "jitter",
		       "with this jitter a window of %s may not be over when the next one begins, "
		       "every %s; make it shorter",
		       window, every);
}

static void check_threshold(const struct checked *c)
{
	const struct config_threshold *t = &c->rule->threshold;

	if (c->rule->when == CONFIG_THRESHOLD && !(t->steal > 0) && !t->irqs_off_ns)
		OBJECT(c, "threshold",
		       "when = \"threshold\" wants to know of what: threshold = { steal = 20 } or "
		       "{ irqs-off = \"1ms\" }");
}

/* --- what, and what becomes of it --------------------------------------------------------- */

static void check_trace(const struct checked *c)
{
	const struct config_rule *rule = c->rule;

	if (!rule->tracer && !rule->events.nr && !rule->functions.nr && !rule->metrics)
		OBJECT(c, "",
		       "this rule does not say what is traced; give it metrics, events, "
		       "functions or a tracer");
	if (rule->tracer && !strcmp(rule->tracer, "nop") && rule->functions.nr)
		OBJECT(c, "functions", "the tracer nop traces no functions; take one of them away");
	if (!rule->guests.nr)
		OBJECT(c, "guests", "guests = [] is no guest at all; leave it out for all of them");
}

static void check_keep(const struct checked *c, const struct serve_config *all)
{
	const struct config_rule *rule = c->rule;

	if (rule->ship && !all->ship.to.nr)
		OBJECT(c, "ship", "there is nowhere to ship to; say it in [ship] with to = [...]");
	if (rule->disk_bytes > all->serve.disk_bytes)
		OBJECT(c, "disk", "that is more than all rules have, which is disk in [serve]");
	if (rule->keep)
		return;
	if (!rule->metrics && !rule->ship)
		OBJECT(c, "keep",
		       "nothing would remain of this rule; give it metrics, or keep = "
		       "true");
	if (says(c, "disk") || says(c, "age"))
		OBJECT(c, says(c, "disk") ? "disk" : "age",
		       "with keep = false there are no recordings to limit; take one away");
}

static void check_name(const struct checked *c, const struct serve_config *all,
		       const struct toml_value *tables)
{
	const struct toml_value *other = tables;

	if (!says(c, "name"))
		OBJECT(c, "", "this rule has no name; give it one, such as name = \"all\"");
	if (!c->rule->name)
		return;
	for (const struct config_rule *one = all->rules; one < c->rule; one++) {
		if (one->name && !strcmp(one->name, c->rule->name)) {
			OBJECT(c, "name", "the rule in line %u is called %s, too; rename one",
			       line_of(other, "name"), one->name);
			return;
		}
		other = other->next;
	}
}

static void check_rules(struct reading *r, const struct serve_config *all,
			const struct toml_value *tables)
{
	struct checked c = {.r = r, .table = tables};

	for (size_t i = 0; i < all->nr_rules; i++, c.table = c.table->next) {
		c.rule = &all->rules[i];
		check_name(&c, all, tables);
		check_when(&c);
		check_window(&c);
		check_threshold(&c);
		check_trace(&c);
		check_keep(&c, all);
	}
}

/* --- the others --------------------------------------------------------------------------- */

static void check_password(struct reading *r, const char *path, unsigned int line)
{
	struct stat st;

	if (stat(path, &st))
		config_complain(&r->complaints, line, "password-file = \"%.200s\": %s", path,
				strerror(errno));
	else if (!S_ISREG(st.st_mode))
		config_complain(&r->complaints, line,
				"password-file = \"%.200s\": it is not a regular file", path);
	else if (st.st_mode & (S_IROTH | S_IWOTH))
		config_complain(&r->complaints, line,
				"password-file = \"%.200s\": everybody may read it; chmod 600 it",
				path);
}

static void check_ship(struct reading *r, const struct serve_config *c,
		       const struct toml_value *table)
{
	if (!c->ship.to.nr)
		config_complain(
			&r->complaints, line_of(table, "to"),
			"[ship] does not say where to; give it to = [\"http://127.0.0.1:8123\"]");
	if (c->ship.password_file && !c->ship.user)
		config_complain(&r->complaints, line_of(table, "password-file"),
				"whose password that is is missing; give it user = \"...\"");
	if (c->ship.password_file)
		check_password(r, c->ship.password_file, line_of(table, "password-file"));
}

void config_check(struct reading *r, const struct serve_config *c)
{
	const struct toml_entry *ship = toml_find(toml_root(r->text), "ship");
	const struct toml_entry *rules = toml_find(toml_root(r->text), "rule");

	if (ship)
		check_ship(r, c, ship->value);
	if (rules)
		check_rules(r, c, rules->value->array.first);
}
