// SPDX-License-Identifier: GPL-2.0-or-later
/* inject.c - see inject.h: trace_events_inject.c of the kernel. */
#include "tracer/events/filter/inject.h"
#include "tracer/events/filter/internal.h"
#include "tracer/lib/word.h"

#include <errno.h>

#define NUMBER_MAX 128 /* with the end; a longer one is out of range */

/* What all records begin with: its type first. */
enum { HEADER = 8 };

/* One FIELD=VALUE. */
struct assignment {
	struct event_field field;
	const char *string; /* NULL: it is a number */
	size_t len;
	uint64_t number;
};

static const char *skip_spaces(const char *at)
{
	while (filter_isspace(*at))
		at++;
	return at;
}

static const char *skip_word(const char *at)
{
	while (filter_isalnum(*at))
		at++;
	return at;
}

static int parse_name(const struct event_format *format, const char **text, struct assignment *a)
{
	const char *start = *text, *at = start;

	while (filter_isalnum(*at) || *at == '_')
		at++;
	*text = at;
	if (at == start)
		return -EINVAL;
	a->field = event_field_find(format, start, (size_t)(at - start));
	return a->field.source == EVENT_FIELD_NONE ? -ENOENT : 0;
}

/* Of a field that the record does not have, too: the name of the task, the CPU. */
static int parse_number(const char **text, struct assignment *a)
{
	const char *start = *text, *end = skip_word(start + (*start == '-'));
	char number[NUMBER_MAX];

	if (event_field_is_string(&a->field) || (*end && !filter_isspace(*end)))
		return -EINVAL;
	if (end - start >= NUMBER_MAX)
		return -ERANGE;
	memcpy(number, start, (size_t)(end - start));
	number[end - start] = '\0';
	*text = end;
	a->string = NULL;
	if (a->field.in && a->field.in->is_signed)
		return filter_signed_number(number, &a->number);
	return word_number(number, &a->number);
}

/* A quote behind a backslash does not end it; the backslash is a part of it all the same. */
static int parse_string(const char **text, struct assignment *a)
{
	char quote = **text;
	const char *start = *text + 1, *end = start;

	if (!event_field_is_string(&a->field))
		return -EINVAL;
	while (*end && *end != quote)
		end += end[0] == '\\' && end[1] ? 2 : 1;
	if (!*end || end - start >= EVENT_STRING_MAX)
		return -EINVAL;
	a->string = start;
	a->len = (size_t)(end - start);
	*text = end + 1;
	return 0;
}

static int parse_assignment(const struct event_format *format, const char **text,
			    struct assignment *a)
{
	int err = parse_name(format, text, a);

	if (err)
		return err;
	*text = skip_spaces(*text);
	if (**text != '=')
		return -EINVAL;
	*text = skip_spaces(*text + 1);
	if (filter_isdigit(**text) || **text == '-')
		return parse_number(text, a);
	if (**text == '\'' || **text == '"')
		return parse_string(text, a);
	return -EINVAL;
}

/* --- the record ------------------------------------------------------------------------------ */

static void put(struct event_injection *in, const struct guestsym_event_field *f, const void *value,
		size_t size)
{
	if (size > f->size)
		size = f->size;
	memcpy(in->record + f->offset, value, size);
}

/* For __data_loc and __rel_loc: so many bytes from an offset on. */
static void put_loc(struct event_injection *in, const struct guestsym_event_field *f, size_t at,
		    size_t len)
{
	uint32_t loc = (uint32_t)at & 0xffff;

	if (f->kind == GUESTSYM_EVENT_RDYN_STRING)
		loc -= f->offset + f->size;
	loc |= (uint32_t)len << 16;
	put(in, f, &loc, sizeof(loc));
}

static int put_string(struct event_injection *in, const struct event_inject_strings *strings,
		      const struct assignment *a)
{
	const struct guestsym_event_field *f = a->field.in;
	size_t len = a->len;

	switch (f->kind) {
	case GUESTSYM_EVENT_STRING:
		if (!f->size)
			return 0;
		if (len > f->size - 1)
			len = f->size - 1;
		put(in, f, a->string, len);
		in->record[f->offset + len] = '\0';
		return 0;
	case GUESTSYM_EVENT_PTR_STRING:
		put(in, f, &strings->set, sizeof(strings->set));
		return 0;
	default:
		if (len + 1 > sizeof(in->record) - in->len)
			return -E2BIG;
		put_loc(in, f, in->len, len + 1);
		memcpy(in->record + in->len, a->string, len);
		in->len += len + 1; /* all is zeros behind it */
		return 0;
	}
}

static int assign(struct event_injection *in, const struct event_inject_strings *strings,
		  const struct assignment *a)
{
	const struct guestsym_event_field *f = a->field.in;

	if (!f || f->kind == GUESTSYM_EVENT_FUNCTION)
		return -EINVAL;
	if (a->string)
		return put_string(in, strings, a);
	if (!event_number_size(f->size))
		return -EINVAL;
	put(in, f, &a->number, f->size); /* its lower bytes */
	return 0;
}

static bool has_place(const struct guestsym_event_field *f)
{
	return f->size < EVENT_INJECT_MAX && f->offset < EVENT_INJECT_MAX - f->size;
}

/*
 * All zeros, but for strings: these are empty, and the one byte behind the fields is the end of
 * those that would be behind the record. Fields are a guest's.
 */
static int begin(const struct event_format *format, const struct event_inject_strings *strings,
		 struct event_injection *in)
{
	const struct guestsym_event *ev = format->event;
	size_t end = HEADER;

	memset(in, 0, sizeof(*in));
	memcpy(in->record, &ev->id, sizeof(ev->id));
	for (size_t i = 0; i < format->nr_common; i++)
		if (!has_place(&format->common[i]))
			return -E2BIG;
	for (size_t i = 0; i < ev->nr_fields; i++) {
		const struct guestsym_event_field *f = &ev->fields[i];

		if (!has_place(f))
			return -E2BIG;
		if (f->offset + f->size > end)
			end = f->offset + f->size;
	}
	for (size_t i = 0; i < ev->nr_fields; i++) {
		const struct guestsym_event_field *f = &ev->fields[i];

		if (f->kind == GUESTSYM_EVENT_PTR_STRING)
			put(in, f, &strings->empty, sizeof(strings->empty));
		else if (f->kind == GUESTSYM_EVENT_DYN_STRING ||
			 f->kind == GUESTSYM_EVENT_RDYN_STRING)
			put_loc(in, f, end, 0);
	}
	in->len = end + 1;
	return 0;
}

int event_inject_parse(const struct event_format *format,
		       const struct event_inject_strings *strings, const char *text,
		       struct event_injection *in)
{
	int err = begin(format, strings, in);

	for (text = skip_spaces(text); *text && !err; text = skip_spaces(text)) {
		struct assignment a;

		err = parse_assignment(format, &text, &a);
		if (!err)
			err = assign(in, strings, &a);
	}
	return err;
}
