// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * expr.c - expressions of fields, variables and numbers in a histogram: the operator
 * that is applied last is found first, from behind.
 */
#include "tracer/events/hist/internal.h"
#include "tracer/lib/word.h"

#include <errno.h>
#include <inttypes.h>

#define SUBEXPR_MAX 3
#define TIME_UNITS  (HIST_TIMESTAMP | HIST_USECS)

struct expr_parser {
	const struct hist_source *src;
	struct hist_spec *spec;
	unsigned int nr; /* operators so far */
};

/* --- operators ------------------------------------------------------------------------------- */

/* The one of two that stands further behind. */
static enum hist_op last_of(const char *text, char a, enum hist_op op_a, char b, enum hist_op op_b,
			    const char **at)
{
	const char *at_a = strrchr(text, a), *at_b = strrchr(text, b);
	bool is_a = at_a && (!at_b || at_a > at_b);

	*at = is_a ? at_a : at_b;
	if (!*at)
		return HIST_NO_OP;
	return is_a ? op_a : op_b;
}

enum hist_op hist_operator(const char *text, const char **at)
{
	enum hist_op op;

	/* The minus in front of all: as the kernel has it, only when there is no other behind. */
	*at = strrchr(text, '-');
	if (*at == text)
		return HIST_UNARY_MINUS;
	op = last_of(text, '-', HIST_MINUS, '+', HIST_PLUS, at);
	return op == HIST_NO_OP ? last_of(text, '/', HIST_DIV, '*', HIST_MULT, at) : op;
}

/* --- atoms ----------------------------------------------------------------------------------- */

static struct hist_field *node_new(unsigned int flags)
{
	struct hist_field *field = calloc(1, sizeof(*field));

	if (field) {
		field->flags = flags;
		field->string = HIST_NO_STRING;
		field->size = sizeof(uint64_t);
	}
	return field;
}

static int parse_constant(const struct hist_source *src, const char *text, unsigned int flags,
			  struct hist_field **to)
{
	uint64_t constant;

	if (word_number(text, &constant)) {
		hist_error(src, "Expecting numeric literal", text, 0);
		return -EINVAL;
	}
	*to = node_new(flags | HIST_CONST);
	if (!*to)
		return -ENOMEM;
	(*to)->constant = constant;
	return hist_field_set(*to, "", "u64", sizeof(uint64_t), false);
}

static bool is_reference(const char *text)
{
	return text[0] == '$' && text[1];
}

/* SYSTEM.EVENT.NAME, of which only the last may be there; text is changed. */
static void split_name(char *text, struct hist_var_name *name)
{
	char *dot = strchr(text, '.');

	*name = (struct hist_var_name){.name = text};
	if (!dot || !strchr(dot + 1, '.'))
		return;
	name->system = strsep(&text, ".");
	name->event = strsep(&text, ".");
	name->name = text;
}

/* A variable that is about to be made for a field: that is read at once. NULL: it is none. */
static const char *own_field(const struct hist_source *src, const struct hist_spec *spec,
			     const struct hist_var_name *name)
{
	const struct guestsym_event *event = src->at->format.event;
	const char *at;

	if (!is_reference(name->name))
		return NULL;
	if (name->system &&
	    (strcmp(name->system, event->system) != 0 || strcmp(name->event, event->name) != 0))
		return NULL;
	for (unsigned int i = 0; i < spec->nr_defs; i++)
		if (!strcmp(spec->def[i].name, name->name + 1) &&
		    hist_operator(spec->def[i].expr, &at) == HIST_NO_OP &&
		    !is_reference(spec->def[i].expr))
			return spec->def[i].expr;
	return NULL;
}

static int reference_new(struct hist_spec *spec, const struct hist_found *found,
			 const struct hist_var_name *name, const char *var, struct hist_field **to)
{
	const struct hist_field *of = found->var;
	const struct hist_ref *ref;
	unsigned int nr;
	int err = hist_refer(spec, found, name, &nr);

	if (err)
		return err;
	ref = &spec->ref[nr];
	/* With a name of its own it is another variable. */
	*to = node_new((var ? HIST_ALIAS | HIST_VAR : HIST_VAR_REF) | (of->flags & TIME_UNITS));
	if (!*to)
		return -ENOMEM;
	(*to)->ref = nr;
	err = hist_field_set(*to, ref->name, of->in.type, hist_field_type_size(of),
			     of->in.is_signed);
	if (!err && var) {
		(*to)->var = strdup(var);
		err = (*to)->var ? 0 : -ENOMEM;
	}
	return err;
}

/* False: it is no variable, which has been logged if it was to be one. */
static bool parse_reference(const struct hist_source *src, struct hist_spec *spec,
			    const struct hist_var_name *name, const char *var,
			    struct hist_field **to)
{
	struct hist_var_name bare = *name;
	struct hist_found found;
	int err;

	if (!is_reference(name->name))
		return false;
	bare.name++;
	err = hist_find_var(src, spec, &bare, &found) ? 0 : -ENOENT;
	if (!err)
		err = reference_new(spec, &found, &bare, var, to);
	if (!err)
		return true;
	hist_field_free(*to);
	*to = NULL;
	hist_error(src, "Couldn't find variable", bare.name, 0);
	return false;
}

int hist_atom_parse(const struct hist_source *src, struct hist_spec *spec, char *text,
		    unsigned int flags, const char *var, struct hist_field **to)
{
	struct hist_var_name name;
	const char *own;
	int err = 0;

	*to = NULL;
	if (*text >= '0' && *text <= '9') {
		err = parse_constant(src, text, flags, to);
	} else {
		split_name(text, &name);
		own = own_field(src, spec, &name);
		if (!own && parse_reference(src, spec, &name, var, to))
			return 0;
		*to = node_new(flags);
		err = *to ? hist_field_parse(src, own ? own : name.name, flags, *to) : -ENOMEM;
	}
	if (!err && var) {
		(*to)->var = strdup(var);
		err = (*to)->var ? 0 : -ENOMEM;
	}
	if (!err && (*to)->flags & HIST_TIMESTAMP) {
		spec->timestamps = true;
		spec->usecs |= ((*to)->flags & HIST_USECS) != 0;
	}
	if (err) {
		hist_field_free(*to);
		*to = NULL;
	}
	return err;
}

/* --- expressions ----------------------------------------------------------------------------- */

static void print_operand(const struct hist_field *field, struct text *out)
{
	const char *modifier = hist_field_modifier(field);

	if (field->flags & HIST_VAR_REF)
		text_putc(out, '$');
	else if (field->flags & HIST_CONST)
		text_printf(out, "%" PRIu64, field->constant);
	text_puts(out, hist_field_name(field));
	if (modifier && !(field->flags & HIST_VAR_REF))
		text_printf(out, ".%s", modifier);
}

/* The name of an expression is what it says; two levels of it, as in the kernel. */
static int set_name(struct hist_field *expr)
{
	static const char sign[] = {
		[HIST_PLUS] = '+', [HIST_MINUS] = '-', [HIST_DIV] = '/', [HIST_MULT] = '*'};
	const struct hist_field *a = expr->operand[0];
	struct text out = {0};
	int err;

	if (expr->op == HIST_UNARY_MINUS) {
		text_puts(&out, "-(");
		if (a->op == HIST_NO_OP)
			print_operand(a, &out);
		else
			text_puts(&out, hist_field_name(a));
		text_putc(&out, ')');
	} else {
		print_operand(a, &out);
		text_putc(&out, sign[expr->op]);
		print_operand(expr->operand[1], &out);
	}
	text_putc(&out, '\0');
	err = out.failed ? -ENOMEM
			 : hist_field_set(expr, out.buf, a->in.type, hist_field_type_size(a),
					  a->in.is_signed);
	text_free(&out);
	return err;
}

static int parse(struct expr_parser *p, char *text, unsigned int flags, const char *var,
		 struct hist_field **to);

static int parse_operand(struct expr_parser *p, char *text, struct hist_field **to)
{
	int err = parse(p, text, 0, NULL, to);

	if (err || !((*to)->flags & HIST_STRING))
		return err;
	return hist_error(p->src, "String type can not be an operand in expression", text, -EINVAL);
}

/* -(EXPRESSION), and nothing behind it. */
static int parse_unary(struct expr_parser *p, char *text, struct hist_field *expr)
{
	char *end;
	int err;

	if (++p->nr > SUBEXPR_MAX)
		return hist_error(p->src, "Too many subexpressions (3 max)", text, -EINVAL);
	text++;
	if (!strchr(text, '('))
		return -EINVAL;
	text++;
	end = strrchr(text, ')');
	if (!end)
		return -EINVAL;
	if (end[1])
		return hist_error(p->src, "Unary minus not supported in sub-expressions", text,
				  -EINVAL);
	*end = '\0';
	expr->op = HIST_UNARY_MINUS;
	err = parse_operand(p, text, &expr->operand[0]);
	if (err)
		return err;
	expr->flags |= HIST_EXPR | (expr->operand[0]->flags & TIME_UNITS);
	return set_name(expr);
}

/* What is known of an operand: of a variable, what it was made of. */
static const struct hist_field *known_of(const struct hist_spec *spec,
					 const struct hist_field *operand)
{
	return operand->flags & HIST_VAR_REF ? spec->ref[operand->ref].var : operand;
}

/* Both are numbers: so is the result. */
static int combine(struct hist_field *expr, const struct hist_field *a, const struct hist_field *b)
{
	struct hist_field x = {.flags = HIST_CONST, .constant = a->constant};
	struct hist_field y = {.flags = HIST_CONST, .constant = b->constant};
	struct hist_field whole = {.flags = HIST_EXPR, .op = expr->op, .operand = {&x, &y}};

	expr->constant = hist_field_value(&whole, NULL, false, NULL);
	hist_field_free(expr->operand[0]);
	hist_field_free(expr->operand[1]);
	expr->operand[0] = expr->operand[1] = NULL;
	expr->op = HIST_NO_OP;
	expr->flags |= HIST_CONST;
	return hist_field_set(expr, "", "u64", sizeof(uint64_t), false);
}

static int join(struct expr_parser *p, struct hist_field *expr, const char *right)
{
	struct hist_field *a = expr->operand[0], *b = expr->operand[1];
	const struct hist_field *of_a = known_of(p->spec, a), *of_b = known_of(p->spec, b);

	if ((of_a->flags ^ of_b->flags) & HIST_USECS)
		return hist_error(p->src, "Timestamp units in expression don't match", NULL,
				  -EINVAL);
	expr->flags |= a->flags & TIME_UNITS;
	if (expr->op == HIST_DIV && of_b->flags & HIST_CONST) {
		if (!of_b->constant)
			return hist_error(p->src, "Division by zero", right, -EDOM);
		b->constant = of_b->constant;
	}
	if (of_a->flags & of_b->flags & HIST_CONST)
		return combine(expr, of_a, of_b);
	if (a->flags & HIST_VAR_REF)
		p->spec->ref[a->ref].read_once = true;
	if (b->flags & HIST_VAR_REF)
		p->spec->ref[b->ref].read_once = true;
	expr->flags |= HIST_EXPR;
	return set_name(expr);
}

static int parse_binary(struct expr_parser *p, char *text, size_t at, struct hist_field *expr)
{
	char *right = text + at + 1;
	int err;

	p->nr++;
	text[at] = '\0';
	if (!*text || !*right)
		return -EINVAL;
	err = parse_operand(p, text, &expr->operand[0]);
	if (!err)
		err = parse_operand(p, right, &expr->operand[1]);
	return err ? err : join(p, expr, right);
}

static int parse(struct expr_parser *p, char *text, unsigned int flags, const char *var,
		 struct hist_field **to)
{
	const char *at;
	enum hist_op op;
	int err;

	*to = NULL;
	if (p->nr > SUBEXPR_MAX) {
		hist_error(p->src, "Too many subexpressions (3 max)", text, 0);
		return -EINVAL;
	}
	op = hist_operator(text, &at);
	if (op == HIST_NO_OP)
		return hist_atom_parse(p->src, p->spec, text, flags, var, to);
	*to = node_new(flags);
	if (!*to)
		return -ENOMEM;
	(*to)->op = op;
	if (op == HIST_UNARY_MINUS)
		err = parse_unary(p, text, *to);
	else
		err = parse_binary(p, text, (size_t)(at - text), *to);
	if (!err && var) {
		(*to)->var = strdup(var);
		err = (*to)->var ? 0 : -ENOMEM;
	}
	return err;
}

int hist_expr_parse(const struct hist_source *src, struct hist_spec *spec, char *text,
		    unsigned int flags, const char *var, struct hist_field **to)
{
	struct expr_parser p = {.src = src, .spec = spec};
	int err = parse(&p, text, flags, var, to);

	if (err) {
		hist_field_free(*to);
		*to = NULL;
	}
	return err;
}
