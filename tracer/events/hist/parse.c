// SPDX-License-Identifier: GPL-2.0-or-later
/* parse.c - keys=, vals=, sort=, size= and so on of a histogram. */
#include <errno.h>

#include "tracer/events/hist/internal.h"
#include "tracer/lib/word.h"

/* The attributes as they are written, to be looked at in the order of their meaning. */
struct attributes {
	char *keys, *vals, *sort;
	char *assignment[HIST_VARS_MAX], *action[HIST_ACTIONS_MAX];
	unsigned int nr_assignments, nr_actions;
};

struct parser {
	const struct hist_source *src;
	struct hist_spec *spec;
	struct attributes attr;
};

static bool take_prefix(char **text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*text, prefix, len) != 0)
		return false;
	*text += len;
	return true;
}

/* Rounded up to a power of two. */
static int parse_size(struct parser *p, const char *text)
{
	uint64_t size;
	unsigned int bits = 0;
	int err = word_number(text, &size);

	if (err)
		return err;
	while (bits <= HIST_BITS_MAX && 1ULL << bits < size)
		bits++;
	if (bits < HIST_BITS_MIN || bits > HIST_BITS_MAX)
		return -EINVAL;
	p->spec->bits = bits;
	return 0;
}

static int keep(char **place, const char *text)
{
	free(*place);
	*place = strdup(text);
	return *place ? 0 : -ENOMEM;
}

/* NAME=VALUE */
static int parse_assignment(struct parser *p, char *text)
{
	char *value = strchr(text, '=') + 1;

	if (!*value)
		return hist_error(p->src, "Empty assignment", text, -EINVAL);
	if (take_prefix(&text, "key=") || take_prefix(&text, "keys="))
		p->attr.keys = text;
	else if (take_prefix(&text, "val=") || take_prefix(&text, "vals=") ||
		 take_prefix(&text, "values="))
		p->attr.vals = text;
	else if (take_prefix(&text, "sort="))
		p->attr.sort = text;
	else if (!strncmp(text, "name=", strlen("name=")))
		return keep(&p->spec->name, text);
	else if (take_prefix(&text, "clock="))
		return keep(&p->spec->clock, trigger_trim(text));
	else if (take_prefix(&text, "size="))
		return parse_size(p, text);
	else if (p->attr.nr_assignments == HIST_VARS_MAX)
		return hist_error(p->src, "Too many variables defined", text, -EINVAL);
	else
		p->attr.assignment[p->attr.nr_assignments++] = text;
	return 0;
}

static bool is_action(char *text)
{
	return take_prefix(&text, "onmatch(") || take_prefix(&text, "onmax(") ||
	       take_prefix(&text, "onchange(");
}

static int parse_attribute(struct parser *p, char *text)
{
	if (strchr(text, '='))
		return parse_assignment(p, text);
	if (!strcmp(text, "pause"))
		p->spec->pause = true;
	else if (!strcmp(text, "cont") || !strcmp(text, "continue"))
		p->spec->cont = true;
	else if (!strcmp(text, "clear"))
		p->spec->clear = true;
	else if (hist_since_6_3(p->src) && (!strcmp(text, "nohitcount") || !strcmp(text, "NOHC")))
		p->spec->no_hitcount = true;
	else if (is_action(text) && p->attr.nr_actions < HIST_ACTIONS_MAX)
		p->attr.action[p->attr.nr_actions++] = text;
	else
		return -EINVAL;
	return 0;
}

static int parse_attributes(struct parser *p, char *text)
{
	int err = 0;

	while (text && !err)
		err = parse_attribute(p, strsep(&text, ":"));
	if (err)
		return err;
	if (!p->attr.keys)
		return -EINVAL;
	if (!p->spec->clock)
		err = keep(&p->spec->clock, "global");
	return err;
}

/* --- variables ------------------------------------------------------------------------------ */

static int add_definition(struct parser *p, char *name, const char *expr)
{
	struct hist_spec *spec = p->spec;
	struct hist_def *def = &spec->def[spec->nr_defs];

	if (!expr)
		return hist_error(p->src, "Malformed assignment", name, -EINVAL);
	if (spec->nr_defs == HIST_VARS_MAX)
		return hist_error(p->src, "Too many variables defined", name, -EINVAL);
	spec->nr_defs++;
	def->name = strdup(name);
	def->expr = strdup(expr);
	return def->name && def->expr ? 0 : -ENOMEM;
}

/* NAME=EXPRESSION, separated by commas. */
static int parse_definitions(struct parser *p)
{
	int err = 0;

	for (unsigned int i = 0; i < p->attr.nr_assignments; i++) {
		char *rest = p->attr.assignment[i], *expr, *name;

		for (int k = 0; rest && k < HIST_VARS_MAX && !err; k++) {
			expr = strsep(&rest, ",");
			name = strsep(&expr, "=");
			err = add_definition(p, name, expr);
		}
	}
	return err;
}

static void forget_definitions(struct hist_spec *spec)
{
	for (unsigned int i = 0; i < spec->nr_defs; i++) {
		free(spec->def[i].name);
		free(spec->def[i].expr);
	}
	spec->nr_defs = 0;
}

/* common_pid.execname as a variable is the name. */
static int become_name(struct hist_field *var)
{
	char *name = strdup(hist_field_name(var));
	int err;

	free((void *)(uintptr_t)var->in.name);
	free((void *)(uintptr_t)var->in.type);
	var->flags = HIST_STRING | HIST_VAR | HIST_EXECNAME;
	var->in.kind = GUESTSYM_EVENT_DYN_STRING; /* of any length */
	err = hist_field_set(var, name ? name : "", "char[]", EVENT_STRING_MAX, false);
	free(name);
	return err;
}

static int add_variable(struct parser *p, const struct hist_def *def)
{
	const unsigned int of_others = HIST_GRAPH | HIST_PERCENT | HIST_BUCKETS | HIST_LOG2;
	struct hist_spec *spec = p->spec;
	struct hist_field *var;
	char *text;
	int err;

	if (!p->src->remove && hist_has_var(p->src, spec, def->name))
		return hist_error(p->src, "Variable already defined", def->name, -EINVAL);
	text = strdup(def->expr);
	if (!text)
		return -ENOMEM;
	err = hist_expr_parse(p->src, spec, text, HIST_VAR, def->name, &var);
	free(text);
	if (err)
		return err;
	spec->named_tasks |= (var->flags & HIST_EXECNAME) != 0;
	if (var->flags & of_others)
		err = hist_error(p->src, "Invalid field modifier", def->expr, -EINVAL);
	else if (var->flags & HIST_EXECNAME)
		err = become_name(var);
	if (!err)
		err = hist_var_place(spec, var);
	if (err)
		hist_field_free(var);
	else
		spec->var[spec->nr_vars++] = var;
	return err;
}

static int parse_variables(struct parser *p)
{
	int err = 0;

	for (unsigned int i = 0; i < p->spec->nr_defs && !err; i++)
		err = add_variable(p, &p->spec->def[i]);
	return err;
}

/* --- values and keys ------------------------------------------------------------------------ */

static int add_field(struct parser *p, char *text, unsigned int flags)
{
	struct hist_spec *spec = p->spec;
	struct hist_field *field;
	int err;

	if (flags & HIST_KEY && hist_is_stacktrace(p->src, text))
		return hist_stacktrace_parse(p->src, text, &spec->fields[spec->nr_fields++]);
	err = hist_expr_parse(p->src, spec, text, flags, NULL, &field);
	if (err)
		return err;
	spec->named_tasks |= (field->flags & HIST_EXECNAME) != 0;
	spec->fields[spec->nr_fields++] = *field;
	free(field); /* what it pointed to is the spec's */
	return 0;
}

/* The kernel looks for .sym-offset in another form, and points to the beginning. */
static int add_val(struct parser *p, char *text)
{
	const unsigned int of_keys = HIST_BUCKETS | HIST_LOG2 | HIST_SYM | HIST_SYM_OFFSET |
				     HIST_SYSCALL | HIST_STACKTRACE;
	struct hist_spec *spec = p->spec;
	char *whole = strdup(text);
	int err;

	if (!whole)
		return -ENOMEM;
	err = add_field(p, text, 0);
	if (!err && spec->fields[spec->nr_vals].flags & of_keys)
		err = hist_error(p->src, "Invalid field modifier", whole, -EINVAL);
	if (!err)
		spec->nr_vals++;
	free(whole);
	return err;
}

/* hitcount is always the first, wherever it is named. */
static int parse_vals(struct parser *p)
{
	char *rest = p->attr.vals, *text;
	struct hist_spec *spec = p->spec;
	int err;

	spec->fields[spec->nr_fields++].flags = HIST_HITCOUNT;
	spec->nr_vals++;
	for (int i = 0; i < HIST_VALS_MAX && spec->nr_vals < HIST_VALS_MAX; i++) {
		text = strsep(&rest, ",");
		if (!text)
			break;
		if (!strcmp(text, "hitcount"))
			continue;
		err = add_val(p, text);
		if (err)
			return err;
	}
	if (spec->no_hitcount && spec->nr_vals == 1)
		return hist_error(p->src, "Non-hitcount value is required for 'nohitcount'", NULL,
				  -ENOENT);
	return rest && strcmp(rest, "hitcount") != 0 ? -EINVAL : 0;
}

static bool has_vars(const struct hist_field *field)
{
	if (!field)
		return false;
	return field->flags & HIST_VAR_REF || has_vars(field->operand[0]) ||
	       has_vars(field->operand[1]);
}

static int add_key(struct parser *p, char *text)
{
	char *whole = strdup(text);
	int err = whole ? add_field(p, text, HIST_KEY) : -ENOMEM;

	if (!err && has_vars(&p->spec->fields[p->spec->nr_fields - 1]))
		err = hist_error(p->src, "Using variable references in keys not supported", whole,
				 -EINVAL);
	free(whole);
	return err;
}

static int parse_keys(struct parser *p)
{
	char *rest = p->attr.keys;
	struct hist_spec *spec = p->spec;
	struct hist_field *key;
	int err;

	for (int i = 0; rest && i < HIST_KEYS_MAX; i++) {
		key = &spec->fields[spec->nr_fields];
		err = add_key(p, strsep(&rest, ","));
		if (err)
			return err;
		key->offset = spec->key_size;
		spec->key_size += key->size;
		if (spec->key_size > HIST_KEY_SIZE_MAX)
			return -EINVAL;
	}
	return rest ? -EINVAL : 0;
}

static int parse_direction(struct parser *p, const char *text, struct hist_sort *sort)
{
	if (text && strcmp(text, "descending") != 0 && strcmp(text, "ascending") != 0)
		return hist_error(p->src, "Invalid sort modifier", text, -EINVAL);
	sort->descending = text && *text == 'd';
	return 0;
}

/* The one of a stack is told apart only by later kernels. */
static const char *sort_name(const struct hist_field *field)
{
	return field->flags & HIST_STACKTRACE ? field->in.name : hist_field_name(field);
}

static int parse_sort_field(struct parser *p, char *text, struct hist_sort *sort)
{
	struct hist_spec *spec = p->spec;
	char *name = strsep(&text, ".");

	if (!*name)
		return hist_error(p->src, "Empty sort field", "sort=", -EINVAL);
	if (!strcmp(name, "hitcount"))
		return parse_direction(p, text, sort);
	for (unsigned int i = 1; i < spec->nr_fields; i++)
		if (!strcmp(name, sort_name(&spec->fields[i]))) {
			sort->field = i;
			return parse_direction(p, text, sort);
		}
	return hist_error(p->src, "Sort field must be a key or a val", name, -EINVAL);
}

static int parse_sort(struct parser *p)
{
	struct hist_spec *spec = p->spec;
	char *rest = p->attr.sort, *text;
	int err;

	if (!rest)
		spec->nr_sort = 1; /* hitcount */
	while (rest) {
		text = strsep(&rest, ",");
		if (!*text)
			return hist_error(p->src, "Empty sort field", "sort=", -EINVAL);
		if (spec->nr_sort == HIST_SORT_MAX - 1 && rest)
			return hist_error(p->src, "Too many sort fields (Max = 2)",
					  "sort=", -EINVAL);
		err = parse_sort_field(p, text, &spec->sort[spec->nr_sort]);
		if (err)
			return err;
		spec->nr_sort++;
	}
	return 0;
}

static int parse_actions(struct parser *p)
{
	int err = 0;

	for (unsigned int i = 0; i < p->attr.nr_actions && !err; i++)
		err = hist_action_parse(p->src, p->spec, p->attr.action[i]);
	return err;
}

/* In the order in which the kernel finds what is wrong. */
int hist_spec_parse(const struct hist_source *src, char *attributes, struct hist_spec **spec)
{
	static int (*const steps[])(struct parser * p) = {
		parse_actions,	 parse_definitions, parse_vals,
		parse_variables, parse_keys,	    parse_sort,
	};
	struct parser p = {.src = src};
	int err;

	p.spec = calloc(1, sizeof(*p.spec));
	if (!p.spec)
		return -ENOMEM;
	p.spec->bits = HIST_BITS_DEFAULT;
	err = parse_attributes(&p, attributes);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !err; i++)
		err = steps[i](&p);
	forget_definitions(p.spec);
	if (err)
		hist_spec_free(p.spec);
	*spec = err ? NULL : p.spec;
	return err;
}

static void free_field_vars(const struct hist_field_var *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		hist_field_free(v[i].var);
		hist_field_free(v[i].val);
	}
}

static void free_refs(struct hist_spec *spec)
{
	for (unsigned int i = 0; i < spec->nr_refs; i++) {
		if (spec->ref[i].hist)
			event_hist_put(spec->ref[i].hist);
		free(spec->ref[i].name);
	}
}

void hist_spec_free(struct hist_spec *spec)
{
	if (!spec)
		return;
	for (unsigned int i = 0; i < spec->nr_fields; i++)
		hist_field_exit(&spec->fields[i]);
	for (unsigned int i = 0; i < spec->nr_vars; i++)
		hist_field_free(spec->var[i]);
	free_refs(spec);
	for (unsigned int i = 0; i < spec->nr_actions; i++)
		hist_action_exit(&spec->action[i]);
	free_field_vars(spec->field_var, spec->nr_field_vars);
	free_field_vars(spec->save_var, spec->nr_save_vars);
	free(spec->name);
	free(spec->clock);
	free(spec);
}
