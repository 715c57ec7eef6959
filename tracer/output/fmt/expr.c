// SPDX-License-Identifier: GPL-2.0-or-later
/* expr.c - parses the expressions of print fmts; see expr.h. */
#include "tracer/output/fmt/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/output/fmt/eval.h"

/* --- fields --------------------------------------------------------------------------------- */

const struct guestsym_event_field *expr_find_field(const struct expr_parser *p, const char *name)
{
	for (size_t i = 0; i < p->nr_fields; i++) {
		if (!strcmp(p->fields[i].name, name))
			return &p->fields[i];
	}
	return NULL;
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* What an array of so many bytes is of, by its type: "u8[24]" */
static struct expr_type element_type(struct expr_parser *p, const struct guestsym_event_field *f)
{
	const char *bracket = strchr(f->type, '[');
	unsigned long nr = strtoul(bracket + 1, NULL, 10);
	struct expr_type type;

	if (nr)
		type.size = (uint32_t)(f->size / nr);
	else if (!expr_type_find(p->names, f->type, &type))
		type.size = 1;
	type.is_signed = f->is_signed;
	type.is_pointer = true;
	return type;
}

static struct expr *field_expr(struct expr_parser *p, const struct guestsym_event_field *f)
{
	bool is_array = strchr(f->type, '[') && !strstr(f->type, "_loc ");
	bool is_place = is_array || !is_number_size(f->size);
	bool is_pointer = strchr(f->type, '*');
	struct expr *e = expr_new(p, is_place ? EXPR_PLACE : EXPR_FIELD, NULL);

	if (!e)
		return NULL;
	e->number = f->offset;
	e->size = f->size;
	e->type = (struct expr_type){.size = f->size, .is_signed = f->is_signed};
	if (is_array)
		e->type = element_type(p, f);
	else if (is_place)
		e->type.is_pointer = true;
	else if (is_pointer &&
		 (!expr_type_find(p->names, f->type, &e->type) || !e->type.is_pointer))
		e->type = (struct expr_type){.size = 1, .is_pointer = true};
	return e;
}

/* Behind "REC->" */
static struct expr *parse_field(struct expr_parser *p)
{
	const struct guestsym_event_field *f;
	char name[NAME_MAX_LEN];

	if (!expr_take_name(p, name))
		return NULL;
	f = expr_find_field(p, name);
	if (!f && !strncmp(name, "__data_loc_", 11))
		f = expr_find_field(p, name + 11);
	return f ? field_expr(p, f) : NULL;
}

/* --- operands ------------------------------------------------------------------------------- */

static struct expr *number_expr(struct expr_parser *p, uint64_t value, uint32_t size,
				bool is_signed)
{
	struct expr *e = expr_new(p, EXPR_NUMBER, NULL);

	if (e) {
		e->number = value;
		e->type = (struct expr_type){.size = size, .is_signed = is_signed};
	}
	return e;
}

static struct expr *parse_literal(struct expr_parser *p)
{
	bool is_unsigned = false, is_long = false, hex = *p->at == '0';
	char *end;
	uint64_t value = strtoull(p->at, &end, 0);

	p->at = end;
	for (; *p->at && strchr("uUlL", *p->at); p->at++) {
		if (*p->at == 'u' || *p->at == 'U')
			is_unsigned = true;
		else
			is_long = true;
	}
	if (expr_is_name_char(*p->at))
		return NULL;
	if (value > UINT32_MAX || (value > INT32_MAX && !is_unsigned && !hex))
		is_long = true;
	if (value > INT64_MAX || (!is_long && value > INT32_MAX))
		is_unsigned = true;
	return number_expr(p, value, is_long ? 8 : 4, !is_unsigned);
}

static struct expr *parse_char(struct expr_parser *p)
{
	char c = *p->at;

	p->at++;
	if (c == '\\')
		c = expr_take_escape(p);
	if (*p->at != '\'')
		return NULL;
	p->at++;
	return number_expr(p, (uint64_t)(int64_t)c, 4, true);
}

static struct expr *parse_sizeof(struct expr_parser *p)
{
	const char *start;
	struct expr_type type;
	struct expr *e;

	if (!expr_skip(p, '('))
		return NULL;
	start = p->at;
	if (expr_take_type(p, &type) && expr_skip(p, ')'))
		return number_expr(p, type.is_pointer ? 8 : type.size, 8, false);
	p->at = start;
	e = expr_parse_choice(p);
	if (!e || !expr_skip(p, ')'))
		return NULL;
	return number_expr(p, e->size ? e->size : e->type.is_pointer ? 8 : e->type.size, 8, false);
}

static struct expr *variable_expr(struct expr_parser *p, const char *name)
{
	uint64_t addr = p->names->variable ? p->names->variable(p->names->arg, name) : 0;
	struct expr *e = addr ? expr_new(p, EXPR_VARIABLE, NULL) : NULL;

	if (!e)
		return NULL;
	e->number = addr;
	e->names = p->names;
	e->type = (struct expr_type){.size = 8};
	return e;
}

static struct expr *parse_name(struct expr_parser *p)
{
	static const struct {
		const char *name;
		uint64_t value;
	} constants[] = {{"true", 1}, {"false", 0}, {"NULL", 0}};
	char name[NAME_MAX_LEN];
	uint64_t value;

	if (!expr_take_name(p, name))
		return NULL;
	if (!strcmp(name, "REC"))
		return expr_new(p, EXPR_REC, NULL);
	if (!strcmp(name, "sizeof"))
		return parse_sizeof(p);
	if (expr_skip(p, '('))
		return expr_parse_call(p, name);
	for (size_t i = 0; i < NR(constants); i++) {
		if (!strcmp(constants[i].name, name))
			return number_expr(p, constants[i].value, 4, true);
	}
	if (p->names->constant && p->names->constant(p->names->arg, name, &value))
		return number_expr(p, value, 8, true);
	return variable_expr(p, name);
}

static struct expr *parse_unary(struct expr_parser *p);

/* (type)operand; NULL, and p where it was, when no type stands here. */
static struct expr *parse_cast(struct expr_parser *p)
{
	const char *start = p->at;
	struct expr_type type;
	struct expr *e;

	if (expr_take_type(p, &type) && expr_skip(p, ')')) {
		e = expr_new(p, EXPR_CAST, parse_unary(p));
		if (!e || !e->a)
			return NULL;
		e->type = type;
		return e;
	}
	p->at = start;
	return NULL;
}

/* Behind an opening parenthesis. */
static struct expr *parse_parenthesis(struct expr_parser *p)
{
	const char *start = p->at;
	struct expr *e;

	if (expr_skip_word(p, "REC)"))
		return expr_new(p, EXPR_REC, NULL);
	e = parse_cast(p);
	if (e || p->at != start)
		return e;
	e = expr_parse_choice(p);
	return e && expr_skip(p, ')') ? e : NULL;
}

static struct expr *parse_primary(struct expr_parser *p)
{
	struct expr *e;

	expr_skip_blanks(p);
	if (isdigit((unsigned char)*p->at))
		return parse_literal(p);
	if (expr_skip(p, '\''))
		return parse_char(p);
	if (expr_skip(p, '('))
		return parse_parenthesis(p);
	if (*p->at != '"')
		return parse_name(p);
	e = expr_new(p, EXPR_STRING, NULL);
	if (!e)
		return NULL;
	e->type = (struct expr_type){.size = 1, .is_signed = true, .is_pointer = true};
	e->text = expr_parse_string(p);
	return e->text ? e : NULL;
}

static struct expr *deref_expr(struct expr_parser *p, struct expr *a)
{
	struct expr *e;

	if (!a || !a->type.is_pointer || !is_number_size(a->type.size))
		return NULL;
	e = expr_new(p, EXPR_DEREF, a);
	if (e) {
		e->type = a->type;
		e->type.is_pointer = false;
	}
	return e;
}

/* --- operators ------------------------------------------------------------------------------ */

static struct expr_type promoted(struct expr_type type)
{
	if (!type.is_pointer && type.size < 4)
		return (struct expr_type){.size = 4, .is_signed = true};
	return type;
}

/* As C converts two operands to one type. */
static struct expr_type common_type(struct expr_type a, struct expr_type b)
{
	a = promoted(a);
	b = promoted(b);
	if (a.is_pointer)
		return a;
	if (b.is_pointer)
		return b;
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	return a.is_signed ? b : a;
}

static struct expr *binary_expr(struct expr_parser *p, enum expr_op op, struct expr *a,
				struct expr *b)
{
	struct expr *e = a ? expr_new(p, EXPR_BINARY, a) : NULL;

	if (!e || !expr_set(e, &e->b, b))
		return NULL;
	e->op = (uint8_t)op;
	if ((a->type.is_pointer && !a->type.size) || (b->type.is_pointer && !b->type.size))
		return NULL; /* it is not known what to count in */
	e->type = common_type(a->type, b->type);
	if (op == OP_LEFT || op == OP_RIGHT)
		e->type = promoted(a->type);
	else if ((op >= OP_LESS && op <= OP_UNEQUAL) || op >= OP_BOTH)
		e->type = (struct expr_type){.size = 4, .is_signed = true};
	return e;
}

static struct expr *parse_postfix(struct expr_parser *p)
{
	struct expr *e = parse_primary(p);

	for (;;) {
		if (e && e->kind != EXPR_REC && expr_skip(p, '[')) {
			e = deref_expr(p, binary_expr(p, OP_PLUS, e, expr_parse_choice(p)));
			if (!expr_skip(p, ']'))
				return NULL;
		} else if (e && expr_skip_word(p, "->")) {
			e = e->kind == EXPR_REC ? parse_field(p) : NULL;
		} else {
			return e && e->kind == EXPR_REC ? NULL : e;
		}
	}
}

/* &REC->field */
static struct expr *parse_address(struct expr_parser *p)
{
	struct expr *e = parse_unary(p);

	if (e && e->kind == EXPR_DEREF)
		return e->a;
	if (!e || (e->kind != EXPR_FIELD && e->kind != EXPR_PLACE))
		return NULL;
	if (e->kind == EXPR_FIELD) {
		e->kind = EXPR_PLACE;
		e->type.size = e->type.is_pointer ? 8 : e->type.size;
	}
	e->type.is_pointer = true;
	return e;
}

static struct expr *unary_expr(struct expr_parser *p, enum expr_op op)
{
	struct expr *a = parse_unary(p), *e = a ? expr_new(p, EXPR_UNARY, a) : NULL;

	if (!e)
		return NULL;
	e->op = (uint8_t)op;
	e->type = promoted(a->type);
	if (op == OP_NOT)
		e->type = (struct expr_type){.size = 4, .is_signed = true};
	return e;
}

static struct expr *parse_unary_here(struct expr_parser *p)
{
	if (expr_skip(p, '-'))
		return unary_expr(p, OP_MINUS);
	if (expr_skip(p, '+'))
		return unary_expr(p, OP_PLUS);
	if (expr_skip(p, '~'))
		return unary_expr(p, OP_INVERT);
	if (expr_skip(p, '!'))
		return unary_expr(p, OP_NOT);
	if (expr_skip(p, '*'))
		return deref_expr(p, parse_unary(p));
	if (expr_skip(p, '&'))
		return parse_address(p);
	return parse_postfix(p);
}

/* All nesting comes through here. */
static struct expr *parse_unary(struct expr_parser *p)
{
	struct expr *e = NULL;

	if (p->depth++ < NESTING_MAX)
		e = parse_unary_here(p);
	p->depth--;
	return e;
}

/* Longer ones before those that they begin with. */
static const struct {
	const char *text;
	enum expr_op op;
	int level; /* the tightest bind highest */
} operators[] = {
	{"||", OP_EITHER, 1}, {"&&", OP_BOTH, 2},	{"<<", OP_LEFT, 8},
	{">>", OP_RIGHT, 8},  {"<=", OP_LESS_EQUAL, 7}, {">=", OP_GREATER_EQUAL, 7},
	{"==", OP_EQUAL, 6},  {"!=", OP_UNEQUAL, 6},	{"|", OP_OR, 3},
	{"^", OP_XOR, 4},     {"&", OP_AND, 5},		{"<", OP_LESS, 7},
	{">", OP_GREATER, 7}, {"+", OP_PLUS, 9},	{"-", OP_MINUS, 9},
	{"*", OP_TIMES, 10},  {"/", OP_DIVIDE, 10},	{"%", OP_MODULO, 10},
};

/* An operator that binds at least that tightly; p is behind it. */
static enum expr_op take_operator(struct expr_parser *p, int level, int *found)
{
	for (size_t i = 0; i < NR(operators); i++) {
		const char *start = p->at;

		if (!expr_skip_word(p, operators[i].text))
			continue;
		if (operators[i].level >= level) {
			*found = operators[i].level;
			return operators[i].op;
		}
		p->at = start;
		return OP_NONE;
	}
	return OP_NONE;
}

static struct expr *parse_binary(struct expr_parser *p, int level)
{
	struct expr *e = parse_unary(p);
	enum expr_op op;
	int found;

	while (e && (op = take_operator(p, level, &found)) != OP_NONE)
		e = binary_expr(p, op, e, parse_binary(p, found + 1));
	return e;
}

static struct expr *parse_choice_here(struct expr_parser *p)
{
	struct expr *e = parse_binary(p, 1), *choice;

	if (!e || !expr_skip(p, '?'))
		return e;
	choice = expr_new(p, EXPR_CHOICE, e);
	if (!choice)
		return NULL;
	if (!expr_set(choice, &choice->b, expr_parse_choice(p)) || !expr_skip(p, ':') ||
	    !expr_set(choice, &choice->c, expr_parse_choice(p)))
		return NULL;
	choice->type = common_type(choice->b->type, choice->c->type);
	return choice;
}

struct expr *expr_parse_choice(struct expr_parser *p)
{
	struct expr *e = NULL;

	if (p->depth++ < NESTING_MAX)
		e = parse_choice_here(p);
	p->depth--;
	return e;
}

struct expr *expr_parse(struct expr_parser *p)
{
	return expr_parse_choice(p);
}
