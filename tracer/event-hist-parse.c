// SPDX-License-Identifier: GPL-2.0-or-later
/* event-hist-parse.c - keys=, vals=, sort=, size= and so on of a histogram. */
#include <errno.h>

#include "tracer/error-log.h"
#include "tracer/event-hist.h"
#include "tracer/word.h"

/* The attributes as they are written, to be looked at in the order of their meaning. */
struct attributes {
	char *keys, *vals, *sort;
	bool variables, actions;
	char *variable; /* the first of them */
};

struct parser {
	const struct hist_source *src;
	struct hist_spec *spec;
	struct attributes attr;
};

int hist_error(const struct hist_source *src, const char *what, const char *part, int error)
{
	const struct event_trigger_owner *owner = src->at->owner;
	const struct guestsym_event *event = src->at->format.event;
	struct text where = {0};

	text_printf(&where, "hist:%s:%s", event->system, event->name);
	text_putc(&where, '\0');
	if (!where.failed)
		owner->error(owner->arg, where.buf, what, src->command,
			     part ? error_log_pos(src->command, part) : 0);
	text_free(&where);
	return error;
}

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
	else if (!p->attr.variable)
		p->attr.variable = text;
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
	else if (is_action(text))
		p->attr.actions = true;
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
	if (err)
		return err;
	if (p->attr.actions)
		return hist_error(p->src, "Actions are not supported", NULL, -EINVAL);
	if (p->attr.variable)
		return hist_error(p->src, "Variables are not supported", p->attr.variable, -EINVAL);
	return 0;
}

static int add_field(struct parser *p, char *text, unsigned int flags)
{
	struct hist_spec *spec = p->spec;
	struct hist_field *field = &spec->fields[spec->nr_fields++];
	int err = hist_field_parse(p->src, text, flags, field);

	if (err)
		return err;
	spec->timestamps |= (field->flags & HIST_TIMESTAMP) != 0;
	spec->usecs |= (field->flags & HIST_TIMESTAMP) && (field->flags & HIST_USECS);
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
		err = hist_error(p->src, "Invalid field modifier",
				 strstr(whole, ".sym-offset") ? NULL : whole, -EINVAL);
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

static int parse_keys(struct parser *p)
{
	char *rest = p->attr.keys;
	struct hist_spec *spec = p->spec;
	struct hist_field *key;
	int err;

	for (int i = 0; rest && i < HIST_KEYS_MAX; i++) {
		key = &spec->fields[spec->nr_fields];
		err = add_field(p, strsep(&rest, ","), HIST_KEY);
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

static int parse_sort_field(struct parser *p, char *text, struct hist_sort *sort)
{
	struct hist_spec *spec = p->spec;
	char *name = strsep(&text, ".");

	if (!*name)
		return hist_error(p->src, "Empty sort field", "sort=", -EINVAL);
	if (!strcmp(name, "hitcount"))
		return parse_direction(p, text, sort);
	for (unsigned int i = 1; i < spec->nr_fields; i++)
		if (!strcmp(name, spec->fields[i].in.name)) {
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

int hist_spec_parse(const struct hist_source *src, char *attributes, struct hist_spec **spec)
{
	struct parser p = {.src = src};
	int err;

	p.spec = calloc(1, sizeof(*p.spec));
	if (!p.spec)
		return -ENOMEM;
	p.spec->bits = HIST_BITS_DEFAULT;
	err = parse_attributes(&p, attributes);
	if (!err)
		err = parse_vals(&p);
	if (!err)
		err = parse_keys(&p);
	if (!err)
		err = parse_sort(&p);
	if (err)
		hist_spec_free(p.spec);
	*spec = err ? NULL : p.spec;
	return err;
}

void hist_spec_free(struct hist_spec *spec)
{
	if (!spec)
		return;
	for (unsigned int i = 0; i < spec->nr_fields; i++)
		hist_field_exit(&spec->fields[i]);
	free(spec->name);
	free(spec->clock);
	free(spec);
}
