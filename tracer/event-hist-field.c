// SPDX-License-Identifier: GPL-2.0-or-later
/* event-hist-field.c - FIELD[.MODIFIER] of a histogram: parsed, printed, and taken from records. */
#include <errno.h>
#include <inttypes.h>

#include "tracer/event-hist.h"
#include "tracer/word.h"

/* In the order in which the kernel looks for what to print; a field has one, but for usecs. */
static const struct {
	const char *name;
	unsigned int flag;
} modifiers[] = {
	{"hex", HIST_HEX},	     {"sym", HIST_SYM},		{"sym-offset", HIST_SYM_OFFSET},
	{"execname", HIST_EXECNAME}, {"syscall", HIST_SYSCALL}, {"log2", HIST_LOG2},
	{"buckets", HIST_BUCKETS},   {"usecs", HIST_USECS},	{"percent", HIST_PERCENT},
	{"graph", HIST_GRAPH},
};

#define NR_MODIFIERS (sizeof(modifiers) / sizeof(modifiers[0]))

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static int bad_modifier(const struct hist_source *src, const char *part)
{
	return hist_error(src, "Invalid field modifier", part, -EINVAL);
}

/* bucket[s]=N */
static int parse_buckets(const struct hist_source *src, const char *text, struct hist_field *field)
{
	text += strlen("bucket");
	text += *text == 's';
	if (*text != '=')
		return bad_modifier(src, text);
	text++;
	if (word_number(text, &field->buckets) || !field->buckets)
		return bad_modifier(src, text);
	field->flags |= HIST_BUCKETS;
	return 0;
}

static int parse_modifier(const struct hist_source *src, const char *text, const char *name,
			  struct hist_field *field)
{
	if (has_prefix(text, "bucket"))
		return parse_buckets(src, text, field);
	for (size_t i = 0; i < NR_MODIFIERS; i++) {
		unsigned int flag = modifiers[i].flag;
		bool of_value = flag & (HIST_PERCENT | HIST_GRAPH);

		if (of_value ? !has_prefix(text, modifiers[i].name)
			     : strcmp(text, modifiers[i].name) != 0)
			continue;
		if (of_value && field->flags & HIST_KEY)
			break;
		if (flag == HIST_EXECNAME && strcmp(name, "common_pid") != 0)
			break;
		field->flags |= flag;
		return 0;
	}
	return bad_modifier(src, text);
}

/* What is no field of an event. False: name is another. */
static bool find_special(const struct hist_source *src, const char *name, struct hist_field *field)
{
	if (!strcmp(name, "common_timestamp")) {
		field->flags |= HIST_TIMESTAMP;
		return true;
	}
	if (field->flags & HIST_KEY || !hist_since_6_3(src))
		return false;
	if (!strcmp(name, "hitcount")) {
		field->flags |= HIST_HITCOUNT;
		return true;
	}
	if (strcmp(name, "stacktrace") != 0 && strcmp(name, "common_stacktrace") != 0)
		return false;
	field->flags |= HIST_STACKTRACE; /* which no value can be */
	return true;
}

static int find_field(const struct hist_source *src, const char *name, struct hist_field *field)
{
	struct event_field found;

	if (find_special(src, name, field))
		return 0;
	found = event_field_find(&src->at->format, name, strlen(name));
	if (found.source == EVENT_FIELD_NONE || found.source == EVENT_FIELD_COMM ||
	    (found.in && !found.in->size))
		return hist_error(src, "Couldn't find field", name, -EINVAL);
	field->source = found.source;
	if (found.in)
		field->in = *found.in;
	else
		field->flags |= HIST_CPU;
	return 0;
}

/* An array or a struct has no value: -ENOMEM is what the kernel says of it. */
static int field_size(struct hist_field *field)
{
	struct event_field event_field = {field->source, &field->in};

	field->size = sizeof(uint64_t);
	if (field->flags & (HIST_TIMESTAMP | HIST_CPU | HIST_HITCOUNT | HIST_STACKTRACE))
		return 0;
	if (!event_field_is_string(&event_field) || field->in.kind == GUESTSYM_EVENT_PTR_STRING)
		return event_number_size(field->in.size) ? 0 : -ENOMEM;
	field->size = EVENT_STRING_MAX;
	if (field->in.kind == GUESTSYM_EVENT_STRING)
		field->size = field->in.size;
	if (field->size > HIST_KEY_SIZE_MAX)
		return -EINVAL;
	field->size = (field->size + 7) & ~7U;
	if (!(field->flags & (HIST_LOG2 | HIST_BUCKETS)))
		field->flags |= HIST_STRING;
	return 0;
}

/* Events may go while a histogram that others share stays. */
static int own_strings(struct hist_field *field, const char *name)
{
	field->in.name = strdup(name);
	field->in.type = strdup(field->in.type ? field->in.type : "");
	return field->in.name && field->in.type ? 0 : -ENOMEM;
}

/* An operator, but not the one in .sym-offset. */
static bool is_expression(const char *text)
{
	for (; *text; text++) {
		if (has_prefix(text, ".sym-offset"))
			text += strlen(".sym-offset") - 1;
		else if (strchr("+-*/", *text))
			return true;
	}
	return false;
}

/* What the kernel understands and this does not: to be told apart from mistakes. */
static int check_supported(const struct hist_source *src, const char *text)
{
	uint64_t number;

	if (is_expression(text))
		return hist_error(src, "Expressions are not supported", text, -EINVAL);
	if (*text < '0' || *text > '9')
		return 0;
	if (word_number(text, &number))
		return hist_error(src, "Expecting numeric literal", text, -EINVAL);
	return hist_error(src, "Expressions are not supported", text, -EINVAL);
}

/* SYSTEM.EVENT. may stand before a field's name, and means nothing. */
static char *behind_event(char *text)
{
	char *dot = strchr(text, '.');

	dot = dot ? strchr(dot + 1, '.') : NULL;
	return dot ? dot + 1 : text;
}

static int parse_stacktrace(const struct hist_source *src, const char *text,
			    struct hist_field *field)
{
	const struct event_trigger_owner *owner = src->at->owner;

	if (!owner->has_stacks(owner->arg))
		return hist_error(src, "Stack traces cannot be taken", text, -EINVAL);
	field->flags |= HIST_STACKTRACE;
	field->size = HIST_STACK_DEPTH * sizeof(uint64_t);
	/* The one of old has no name to sort by. */
	return own_strings(field, hist_since_6_3(src) ? "common_stacktrace" : "");
}

static bool is_stacktrace(const struct hist_source *src, const char *text)
{
	return !strcmp(text, "stacktrace") ||
	       (hist_since_6_3(src) && !strcmp(text, "common_stacktrace"));
}

/* There are none: whatever is referred to is not found. */
static void note_variable(const struct hist_source *src, const char *text)
{
	if (*text == '$' && text[1])
		hist_error(src, "Couldn't find variable", text + 1, 0);
}

int hist_field_parse(const struct hist_source *src, char *text, unsigned int flags,
		     struct hist_field *field)
{
	char *modifier, *name;
	int err;

	*field = (struct hist_field){.flags = flags};
	if (flags & HIST_KEY && is_stacktrace(src, text))
		return parse_stacktrace(src, text, field);
	err = check_supported(src, text);
	if (err)
		return err;
	modifier = behind_event(text);
	note_variable(src, modifier);
	name = strsep(&modifier, ".");
	err = modifier ? parse_modifier(src, modifier, name, field) : 0;
	if (!err)
		err = find_field(src, name, field);
	if (!err)
		err = field_size(field);
	if (err) { /* nothing in it is its own yet */
		field->in = (struct guestsym_event_field){0};
		return err;
	}
	return own_strings(field, name);
}

void hist_field_exit(struct hist_field *field)
{
	free((void *)(uintptr_t)field->in.name);
	free((void *)(uintptr_t)field->in.type);
}

const char *hist_field_name(const struct hist_field *field)
{
	return *field->in.name ? field->in.name : "stacktrace";
}

void hist_field_print(const struct hist_field *field, struct text *out)
{
	text_puts(out, field->flags & HIST_CPU ? "common_cpu" : hist_field_name(field));
	for (size_t i = 0; i < NR_MODIFIERS; i++)
		if (field->flags & modifiers[i].flag) {
			text_printf(out, ".%s", modifiers[i].name);
			break;
		}
	if (field->buckets)
		text_printf(out, "=%" PRId64, (int64_t)field->buckets);
}

/* --- what a record has ----------------------------------------------------------------------- */

/* The power of two that is not below value. */
static uint64_t order_of(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

static uint64_t plain_value(const struct hist_field *field, const struct event_data *data,
			    bool usecs)
{
	struct event_field event_field = {field->source, &field->in};
	uint64_t value;

	if (field->flags & HIST_TIMESTAMP)
		return usecs && data->time_is_ns ? (data->time + 500) / 1000 : data->time;
	if (event_field_is_string(&event_field) && field->in.kind != GUESTSYM_EVENT_PTR_STRING)
		return 0; /* the kernel has the address of the string in its buffer */
	return event_field_number(&event_field, data, &value) ? value : 0;
}

uint64_t hist_field_value(const struct hist_field *field, const struct event_data *data, bool usecs)
{
	uint64_t value;

	if (field->flags & HIST_HITCOUNT)
		return 1;
	value = plain_value(field, data, usecs);
	if (field->flags & HIST_LOG2)
		return order_of(value);
	if (field->flags & HIST_BUCKETS)
		return value / field->buckets * field->buckets;
	return value;
}

static void key_stack(const struct event_data *data, uint8_t *key)
{
	uint64_t ips[HIST_STACK_DEPTH] = {0};

	if (data->stack)
		data->stack(data->arg, ips, HIST_STACK_DEPTH);
	memcpy(key, ips, sizeof(ips));
}

void hist_key(const struct hist_spec *spec, const struct event_data *data, void *key)
{
	memset(key, 0, spec->key_size);
	for (unsigned int i = spec->nr_vals; i < spec->nr_fields; i++) {
		const struct hist_field *field = &spec->fields[i];
		struct event_field event_field = {field->source, &field->in};
		uint8_t *at = (uint8_t *)key + field->offset;

		if (field->flags & HIST_STACKTRACE) {
			key_stack(data, at);
		} else if (field->flags & HIST_STRING) {
			event_field_string(&event_field, data, false, (char *)at, field->size);
		} else {
			uint64_t value = hist_field_value(field, data, spec->usecs);

			memcpy(at, &value, sizeof(value));
		}
	}
}
