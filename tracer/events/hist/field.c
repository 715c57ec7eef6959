// SPDX-License-Identifier: GPL-2.0-or-later
/* field.c - FIELD[.MODIFIER] of a histogram: parsed, and printed. */
#include <errno.h>
#include <inttypes.h>

#include "tracer/events/hist/internal.h"
#include "tracer/lib/word.h"

/*
 * In the order in which the kernel looks for what to print; a field has one, but for usecs. What is
 * parsed has no sign in it that could be an operator.
 */
static const struct {
	const char *name, *parsed;
	unsigned int flag;
} modifiers[] = {
	{"hex", "hex", HIST_HEX},
	{"sym", "sym", HIST_SYM},
	{"sym-offset", HIST_SYM_OFFSET_PARSED, HIST_SYM_OFFSET},
	{"execname", "execname", HIST_EXECNAME},
	{"syscall", "syscall", HIST_SYSCALL},
	{"log2", "log2", HIST_LOG2},
	{"buckets", "buckets", HIST_BUCKETS},
	{"usecs", "usecs", HIST_USECS},
	{"percent", "percent", HIST_PERCENT},
	{"graph", "graph", HIST_GRAPH},
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
			     : strcmp(text, modifiers[i].parsed) != 0)
			continue;
		if (of_value && field->flags & (HIST_KEY | HIST_VAR))
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
	if (field->flags & HIST_VAR ||
	    (strcmp(name, "stacktrace") != 0 && strcmp(name, "common_stacktrace") != 0))
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
int hist_field_set(struct hist_field *field, const char *name, const char *type, uint32_t size,
		   bool is_signed)
{
	field->in.name = strdup(name);
	field->in.type = strdup(type);
	field->in.size = size;
	field->in.is_signed = is_signed;
	return field->in.name && field->in.type ? 0 : -ENOMEM;
}

/* As the kernel has types and sizes, which are those of its variables. */
static int own_strings(struct hist_field *field, const char *name)
{
	const struct guestsym_event_field in = field->in;

	if (field->flags & HIST_CPU)
		return hist_field_set(field, name, "unsigned int", sizeof(uint32_t), false);
	if (!in.type)
		return hist_field_set(field, name, "u64", sizeof(uint64_t), false);
	return hist_field_set(field, name, in.type, in.size, in.is_signed);
}

bool hist_is_stacktrace(const struct hist_source *src, const char *text)
{
	return !strcmp(text, "stacktrace") ||
	       (hist_since_6_3(src) && !strcmp(text, "common_stacktrace"));
}

int hist_stacktrace_parse(const struct hist_source *src, const char *text, struct hist_field *field)
{
	const struct event_trigger_owner *owner = src->at->owner;

	*field = (struct hist_field){.flags = HIST_KEY | HIST_STACKTRACE, .string = HIST_NO_STRING};
	if (!owner->has_stacks(owner->arg))
		return hist_error(src, "Stack traces cannot be taken", text, -EINVAL);
	field->size = HIST_STACK_DEPTH * sizeof(uint64_t);
	/* The one of old has no name to sort by. */
	return hist_field_set(field, hist_since_6_3(src) ? "common_stacktrace" : "", "", 0, false);
}

/* text without its modifier; has become the field's, or nothing of it has. */
static int parse(const struct hist_source *src, char *text, struct hist_field *field)
{
	char *modifier = text, *name = strsep(&modifier, ".");
	int err = modifier ? parse_modifier(src, modifier, name, field) : 0;

	if (!err)
		err = find_field(src, name, field);
	if (!err)
		err = field_size(field);
	if (err) /* nothing in it is its own yet */
		field->in = (struct guestsym_event_field){0};
	return err ? err : own_strings(field, name);
}

int hist_field_parse(const struct hist_source *src, const char *text, unsigned int flags,
		     struct hist_field *field)
{
	char *copy = strdup(text);
	int err;

	*field = (struct hist_field){.flags = flags, .string = HIST_NO_STRING};
	err = copy ? parse(src, copy, field) : -ENOMEM;
	free(copy);
	return err;
}

uint32_t hist_field_type_size(const struct hist_field *field)
{
	bool any = field->flags & HIST_STRING && field->in.kind != GUESTSYM_EVENT_STRING;

	return any ? EVENT_STRING_MAX : field->in.size;
}

void hist_field_exit(struct hist_field *field)
{
	free((void *)(uintptr_t)field->in.name);
	free((void *)(uintptr_t)field->in.type);
	free(field->var);
	hist_field_free(field->operand[0]);
	hist_field_free(field->operand[1]);
}

void hist_field_free(struct hist_field *field)
{
	if (field)
		hist_field_exit(field);
	free(field);
}

const char *hist_field_name(const struct hist_field *field)
{
	if (field->flags & HIST_STACKTRACE && !*field->in.name)
		return "stacktrace";
	return field->in.name;
}

const char *hist_field_modifier(const struct hist_field *field)
{
	for (size_t i = 0; i < NR_MODIFIERS; i++)
		if (field->flags & modifiers[i].flag)
			return modifiers[i].name;
	return NULL;
}

void hist_field_print(const struct hist_field *field, struct text *out)
{
	const char *modifier = hist_field_modifier(field);

	if (field->var)
		text_printf(out, "%s=", field->var);
	if (field->flags & HIST_CONST)
		text_printf(out, "%" PRIu64, field->constant);
	else if (field->flags & (HIST_VAR_REF | HIST_ALIAS))
		text_putc(out, '$');
	text_puts(out, field->flags & HIST_CPU ? "common_cpu" : hist_field_name(field));
	if (modifier && !(field->flags & (HIST_VAR_REF | HIST_EXPR)))
		text_printf(out, ".%s", modifier);
	if (field->buckets)
		text_printf(out, "=%" PRId64, (int64_t)field->buckets);
}
