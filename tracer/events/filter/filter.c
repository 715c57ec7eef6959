// SPDX-License-Identifier: GPL-2.0-or-later
/* filter.c - see filter.h: which records match, and what filter files read. */
#include "tracer/events/filter/filter.h"

#include <errno.h>

#include "tracer/events/filter/internal.h"

static bool number_match(const struct filter_term *term, const struct event_data *data)
{
	struct event_field field = {term->source, &term->in};
	bool is_signed = term->source == EVENT_FIELD_CPU || term->in.is_signed;
	uint64_t value, other = term->number;
	bool less;

	if (!event_field_number(&field, data, &value))
		return false;
	less = is_signed ? (int64_t)value < (int64_t)other : value < other;
	switch (term->op) {
	case FILTER_OP_EQ:
		return value == other;
	case FILTER_OP_NE:
		return value != other;
	case FILTER_OP_LT:
		return less;
	case FILTER_OP_LE:
		return less || value == other;
	case FILTER_OP_GT:
		return !less && value != other;
	case FILTER_OP_GE:
		return !less;
	case FILTER_OP_BAND:
		return value & other && term->source != EVENT_FIELD_CPU; /* as in the kernel */
	default:
		return false;
	}
}

/* A pattern that begins with a digit is taken as it is. */
static bool glob_or_name(const struct glob *glob, const char *string)
{
	if (glob->type == GLOB_INDEX)
		return !strcmp(glob->search, string);
	return glob_match(glob, string);
}

static bool string_match(const struct filter_term *term, const struct event_data *data)
{
	struct event_field field = {term->source, &term->in};
	char string[1024]; /* as much as the kernel looks at of one in memory */

	if (!event_field_string(&field, data, term->user, string, sizeof(string)))
		return false;
	if (term->op == FILTER_OP_GLOB)
		return glob_or_name(&term->glob, string) != term->glob.invert;
	return !strcmp(term->pattern, string) == (term->op == FILTER_OP_EQ);
}

static bool function_match(const struct filter_term *term, const struct event_data *data)
{
	struct event_field field = {term->source, &term->in};
	uint64_t addr;

	if (!event_field_number(&field, data, &addr))
		return false;
	return (addr >= term->range.start && addr < term->range.end) == (term->op == FILTER_OP_EQ);
}

static bool cpus_match(const struct filter_term *term, const struct event_data *data)
{
	struct event_field field = {term->source, &term->in};
	const void *bits;
	uint64_t cpu;
	size_t len;

	if (term->source == EVENT_FIELD_RECORD && term->in.kind == GUESTSYM_EVENT_CPUMASK) {
		bits = event_field_bytes(&term->in, data, &len);
		return bits && cpu_set_compare(term->cpus, term->op, bits, len);
	}
	return event_field_number(&field, data, &cpu) &&
	       cpu_set_compare_one(term->cpus, term->op, cpu);
}

static bool term_match(const struct filter_term *term, const struct event_data *data)
{
	switch (term->kind) {
	case FILTER_TERM_NUMBER:
		return number_match(term, data);
	case FILTER_TERM_STRING:
		return string_match(term, data);
	case FILTER_TERM_FUNCTION:
		return function_match(term, data);
	case FILTER_TERM_CPUS:
		return cpus_match(term, data);
	}
	return false;
}

bool event_filter_is_set(const struct event_filter *filter)
{
	return filter && filter->nr;
}

bool event_filter_match(const struct event_filter *filter, const struct event_data *data)
{
	uint32_t at;

	if (!event_filter_is_set(filter))
		return true;
	for (at = filter->start; at < filter->nr;) {
		const struct filter_step *step = &filter->steps[at];

		at = step->next[term_match(&step->term, data)];
	}
	return at == FILTER_TRUE;
}

/* --- what is read -------------------------------------------------------------------------- */

static char *filter_text(const char *text, const struct event_filter_error *err)
{
	size_t len = strlen(text), pos = err->pos < len ? err->pos : len;
	struct text out = {0};

	text_puts(&out, text);
	if (err->what)
		text_printf(&out, "\n%*s\nparse_error: %s\n", (int)(pos ? pos + 1 : 0), "^",
			    err->what);
	else
		text_puts(&out, "\nError: (0)\n");
	text_putc(&out, '\0');
	if (out.failed) {
		text_free(&out);
		return NULL;
	}
	return out.buf;
}

/* The text without white space at its end. */
static char *trimmed(const char *text)
{
	size_t len = strlen(text);

	while (len && filter_isspace(text[len - 1]))
		len--;
	return strndup(text, len);
}

static bool is_removal(const char *text)
{
	while (filter_isspace(*text))
		text++;
	return !strcmp(text, "0");
}

/* What filter becomes when it could not be compiled. */
static struct event_filter *filter_failed(const char *text, const struct event_filter_error *err)
{
	struct event_filter *filter = calloc(1, sizeof(*filter));

	if (filter)
		filter->text = filter_text(text, err);
	if (filter && !filter->text) {
		free(filter);
		return NULL;
	}
	return filter;
}

static int filter_new(const struct event_format *format, const struct event_kernel *kernel,
		      char *text, const char *instead, struct event_filter **filter,
		      struct event_filter_error *err)
{
	int ret = event_filter_compile(format, kernel, text, filter, err);

	if (!ret) {
		(*filter)->text = text;
		return 0;
	}
	if (ret == -ENOMEM)
		*err = (struct event_filter_error){0};
	if (instead)
		*err = (struct event_filter_error){.what = instead};
	*filter = filter_failed(text, err);
	if (!err->what)
		err->what = "Error";
	free(text);
	return *filter ? ret : -ENOMEM;
}

static int filter_new_or_none(const struct event_format *format, const struct event_kernel *kernel,
			      const char *text, const char *instead, struct event_filter **filter,
			      struct event_filter_error *err)
{
	char *copy = trimmed(text);

	*filter = NULL;
	*err = (struct event_filter_error){0};
	if (!copy)
		return -ENOMEM;
	if (is_removal(copy)) {
		free(copy);
		return 0;
	}
	return filter_new(format, kernel, copy, instead, filter, err);
}

int event_filter_new(const struct event_format *format, const struct event_kernel *kernel,
		     const char *text, struct event_filter **filter, struct event_filter_error *err)
{
	return filter_new_or_none(format, kernel, text, NULL, filter, err);
}

int event_filter_new_subsystem(const struct event_format *format, const struct event_kernel *kernel,
			       const char *text, struct event_filter **filter,
			       struct event_filter_error *err)
{
	return filter_new_or_none(format, kernel, text,
				  "Couldn't find or set field in one of a subsystem's events",
				  filter, err);
}

void event_filter_print(const struct event_filter *filter, struct text *out)
{
	text_puts(out, filter && filter->text ? filter->text : "none");
	text_putc(out, '\n');
}

void event_filter_print_subsystem(struct text *out)
{
	text_puts(out, "### global filter ###\n"
		       "# Use this to set filters for multiple events.\n"
		       "# Only events with the given fields will be affected.\n"
		       "# If no events are modified, an error message will be displayed here\n");
}
