// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * term.c - FIELD OP VALUE of an event filter.
 *
 * What is checked, and in which order, decides which error a wrong one gives: parse_pred() in
 * kernel/trace/trace_events_filter.c.
 */
#include <errno.h>

#include "tracer/events/filter/internal.h"
#include "tracer/lib/word.h"

#define NUMBER_MAX 24 /* what the kernel has room for, with the end */

static const char *const op_text[FILTER_OPS] = {
	[FILTER_OP_GLOB] = "~", [FILTER_OP_NE] = "!=",	[FILTER_OP_EQ] = "==",
	[FILTER_OP_LE] = "<=",	[FILTER_OP_LT] = "<",	[FILTER_OP_GE] = ">=",
	[FILTER_OP_GT] = ">",	[FILTER_OP_BAND] = "&",
};

struct term_parser {
	const struct filter_source *src;
	size_t at; /* in src->text */
	struct event_field field;
	bool function; /* .function */
	struct filter_term *term;
};

int filter_error(const struct filter_source *src, const char *what, size_t pos, int error)
{
	*src->err = (struct event_filter_error){.what = what, .pos = (uint16_t)pos};
	return error;
}

static int wrong_at(const struct term_parser *p, const char *what, size_t at)
{
	return filter_error(p->src, what, at + 1, -EINVAL);
}

static int wrong(const struct term_parser *p, const char *what)
{
	return wrong_at(p, what, p->at);
}

static char here(const struct term_parser *p)
{
	return p->src->text[p->at];
}

static void skip_spaces(struct term_parser *p)
{
	while (filter_isspace(here(p)))
		p->at++;
}

static bool skip_prefix(struct term_parser *p, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(p->src->text + p->at, prefix, len) != 0)
		return false;
	p->at += len;
	return true;
}

/* -1, an errno that is none of its own, is what the kernel gives when there is no name. */
static int parse_field(struct term_parser *p)
{
	size_t start;

	skip_spaces(p);
	start = p->at;
	while (filter_isalnum(here(p)) || here(p) == '_')
		p->at++;
	if (p->at == start)
		return -1;
	p->field = event_field_find(p->src->format, p->src->text + start, p->at - start);
	if (p->field.source == EVENT_FIELD_NONE)
		return wrong(p, "Field not found");
	p->term->source = p->field.source;
	if (p->field.in)
		p->term->in = *p->field.in;
	if (skip_prefix(p, ".ustring"))
		p->term->user = true;
	else
		p->function = skip_prefix(p, ".function");
	return 0;
}

static int parse_op(struct term_parser *p)
{
	skip_spaces(p);
	for (int op = 0; op < FILTER_OPS; op++) {
		if (!skip_prefix(p, op_text[op]))
			continue;
		p->term->op = op;
		skip_spaces(p);
		return 0;
	}
	return wrong(p, "Invalid operator");
}

/* Up to the quote that ends it. */
static int parse_string(struct term_parser *p)
{
	struct filter_term *term = p->term;
	char quote = here(p);
	size_t start;

	if (term->op != FILTER_OP_EQ && term->op != FILTER_OP_NE && term->op != FILTER_OP_GLOB)
		return wrong(p, "Illegal operation for field type");
	if (!event_field_is_string(&p->field))
		return wrong(p, "Expecting numeric field");
	for (start = ++p->at; here(p) && here(p) != quote;)
		p->at++;
	if (!here(p))
		return wrong(p, "Missing matching quote");
	if (p->at - start >= EVENT_STRING_MAX)
		return wrong(p, "Operand too long");
	term->kind = FILTER_TERM_STRING;
	term->pattern = strndup(p->src->text + start, p->at - start);
	if (!term->pattern)
		return -ENOMEM;
	if (term->op == FILTER_OP_GLOB)
		glob_parse(&term->glob, term->pattern);
	p->at++;
	return 0;
}

int filter_signed_number(const char *text, uint64_t *value)
{
	bool negative = *text == '-';
	int err = word_number(text + negative, value);

	if (err)
		return err;
	if (*value > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	if (negative)
		*value = -*value;
	return 0;
}

/* The letters and digits from here on, of which the first `skip` have been looked at. */
static int number_text(struct term_parser *p, size_t skip, char text[NUMBER_MAX])
{
	size_t start = p->at, len;

	p->at += skip;
	while (filter_isalnum(here(p)))
		p->at++;
	len = p->at - start;
	if (len >= NUMBER_MAX)
		return wrong(p, "Operand too long");
	memcpy(text, p->src->text + start, len);
	text[len] = '\0';
	return 0;
}

static int parse_number(struct term_parser *p)
{
	const struct guestsym_event_field cpu = {.size = sizeof(int), .is_signed = true};
	const struct guestsym_event_field *in = p->field.in ? p->field.in : &cpu;
	struct filter_term *term = p->term;
	char text[NUMBER_MAX];
	size_t start = p->at;
	int err;

	if (event_field_is_string(&p->field))
		return wrong(p, "Expecting string field");
	if (term->op == FILTER_OP_GLOB)
		return wrong(p, "Illegal operation for field type");
	err = number_text(p, here(p) == '-', text);
	if (err)
		return err;
	term->kind = FILTER_TERM_NUMBER;
	err = in->is_signed ? filter_signed_number(text, &term->number)
			    : word_number(text, &term->number);
	if (err)
		return wrong_at(p, "Illegal integer value", start);
	if (event_number_size(in->size))
		term->number = event_number_cut(term->number, in->size, in->is_signed);
	return 0;
}

/* The name of a function, or an address in one. */
static int function_text(struct term_parser *p, char *name, size_t size,
			 struct guestsym_range *range)
{
	size_t start = p->at, len;
	char text[NUMBER_MAX];
	int err;

	*name = '\0';
	if (filter_isdigit(here(p))) {
		err = number_text(p, 0, text);
		if (err)
			return err;
		return word_number(text, &range->start)
			       ? wrong(p, "Invalid value (did you forget quotes)?")
			       : 0;
	}
	while (here(p) && !filter_isspace(here(p)) && !strchr("&|)", here(p)))
		p->at++;
	len = p->at - start;
	if (!len || len >= size)
		return wrong(p, "Function not found");
	memcpy(name, p->src->text + start, len);
	name[len] = '\0';
	return 0;
}

static int parse_function(struct term_parser *p)
{
	const struct event_kernel *kernel = p->src->kernel;
	struct filter_term *term = p->term;
	char name[512]; /* KSYM_NAME_LEN */
	int err;

	if (p->field.source != EVENT_FIELD_RECORD || p->field.in->size != sizeof(uint64_t))
		return wrong(p, "Illegal operation for field type");
	if (term->op != FILTER_OP_EQ && term->op != FILTER_OP_NE)
		return wrong(p, "Invalid operator");
	err = function_text(p, name, sizeof(name), &term->range);
	if (err)
		return err;
	term->kind = FILTER_TERM_FUNCTION;
	if (!kernel || !kernel->function ||
	    !kernel->function(kernel->arg, *name ? name : NULL, &term->range))
		return wrong(p, "Function not found");
	return 0;
}

/* CPUS{LIST}, behind CPUS. */
static int parse_cpus(struct term_parser *p)
{
	const struct event_kernel *kernel = p->src->kernel;
	struct filter_term *term = p->term;
	size_t start;
	char *list;
	int err;

	if (event_field_is_string(&p->field))
		return wrong_at(p, "Illegal operation for field type", p->at - 4);
	if (term->op != FILTER_OP_EQ && term->op != FILTER_OP_NE && term->op != FILTER_OP_BAND)
		return wrong_at(p, "Illegal operation for field type", p->at - 4);
	if (here(p) != '{')
		return wrong_at(p, "Missing '{'", p->at + 1);
	for (start = ++p->at; here(p) && here(p) != '}';)
		p->at++;
	if (!here(p))
		return wrong(p, "Missing '}'");
	term->kind = FILTER_TERM_CPUS;
	term->cpus = calloc(1, sizeof(*term->cpus));
	list = strndup(p->src->text + start, p->at - start);
	if (!term->cpus || !list) {
		free(list);
		return -ENOMEM;
	}
	err = cpu_set_parse(term->cpus, list, kernel ? kernel->nr_cpus : EVENT_CPUS_MAX);
	free(list);
	if (err)
		return wrong(p, "Invalid cpulist");
	p->at++;
	return 0;
}

static int parse_value(struct term_parser *p)
{
	if (p->function)
		return parse_function(p);
	if (here(p) == '\'' || here(p) == '"')
		return parse_string(p);
	if (filter_isdigit(here(p)) || here(p) == '-')
		return parse_number(p);
	if (skip_prefix(p, "CPUS"))
		return parse_cpus(p);
	return wrong(p, "Invalid value (did you forget quotes)?");
}

ssize_t filter_term_parse(const struct filter_source *src, size_t at, struct filter_term *term)
{
	struct term_parser p = {.src = src, .at = at, .term = term};
	int err;

	*term = (struct filter_term){0};
	err = parse_field(&p);
	if (!err)
		err = parse_op(&p);
	if (!err)
		err = parse_value(&p);
	return err ? err : (ssize_t)(p.at - at);
}

void filter_term_free(struct filter_term *term)
{
	free(term->pattern);
	free(term->cpus);
	*term = (struct filter_term){0};
}
