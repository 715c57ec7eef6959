// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse.c - event filters: terms, && and ||, ! and parentheses, made into a program
 * whose steps say where to go on when their term is true, and where when it is false.
 *
 * Where that is not known yet there is a hole. A part of an expression has a list of holes for each
 * of its outcomes, kept in the holes themselves; what comes behind it fills them.
 */
#include <errno.h>

#include "tracer/events/filter/internal.h"

#define NO_HOLE UINT32_MAX

struct holes {
	uint32_t first, last; /* 2 * step + outcome */
};

/* A part of an expression that is complete. */
struct part {
	uint32_t start; /* the step to begin with */
	struct holes holes[2];
};

/* What has been read inside of a pair of parentheses, or outside of all. */
struct level {
	bool negate;		  /* a ! stands before it */
	bool in_and, in_or;	  /* the part is there, and its operator */
	struct part either, both; /* before the last ||, and behind it */
};

struct parser {
	struct filter_source src;
	struct event_filter *filter;
	struct level *levels;
	size_t depth, size; /* of levels */
	size_t at;
};

static uint32_t *hole(struct parser *p, uint32_t id)
{
	return &p->filter->steps[id / 2].next[id % 2];
}

static void fill(struct parser *p, const struct holes *holes, uint32_t target)
{
	for (uint32_t id = holes->first, next; id != NO_HOLE; id = next) {
		next = *hole(p, id);
		*hole(p, id) = target;
	}
}

static struct holes join(struct parser *p, const struct holes *a, const struct holes *b)
{
	*hole(p, a->last) = b->first;
	return (struct holes){a->first, b->last};
}

/* a && b when outcome is true: b is looked at when a is; a || b when it is false. */
static struct part combine(struct parser *p, const struct part *a, const struct part *b,
			   bool outcome)
{
	struct part both = {.start = a->start};

	fill(p, &a->holes[outcome], b->start);
	both.holes[outcome] = b->holes[outcome];
	both.holes[!outcome] = join(p, &a->holes[!outcome], &b->holes[!outcome]);
	return both;
}

static void negate(struct part *part)
{
	struct holes was = part->holes[0];

	part->holes[0] = part->holes[1];
	part->holes[1] = was;
}

static int wrong(struct parser *p, const char *what, size_t pos, int error)
{
	return filter_error(&p->src, what, pos, error);
}

static int level_push(struct parser *p, bool negated)
{
	if (p->depth == p->size) {
		size_t size = p->size ? 2 * p->size : 8;
		struct level *levels = realloc(p->levels, size * sizeof(*levels));

		if (!levels)
			return -ENOMEM;
		p->levels = levels;
		p->size = size;
	}
	p->levels[p->depth++] = (struct level){.negate = negated};
	return 0;
}

static int term_add(struct parser *p, struct part *part)
{
	struct event_filter *f = p->filter;
	uint32_t id = 2 * (uint32_t)f->nr;
	struct filter_step *step;
	ssize_t len;

	if (f->nr == f->size) {
		size_t size = f->size ? 2 * f->size : 4;
		struct filter_step *steps = realloc(f->steps, size * sizeof(*steps));

		if (!steps)
			return -ENOMEM;
		f->steps = steps;
		f->size = size;
	}
	step = &f->steps[f->nr++];
	step->next[0] = step->next[1] = NO_HOLE;
	len = filter_term_parse(&p->src, p->at, &step->term);
	if (len < 0)
		return (int)len;
	p->at += (size_t)len;
	*part = (struct part){.start = id / 2, .holes = {{id, id}, {id + 1, id + 1}}};
	return 0;
}

/* The part is what comes next on the innermost level, and what follows it is no &&. */
static void level_fold(struct parser *p, struct level *level)
{
	level->either =
		level->in_or ? combine(p, &level->either, &level->both, false) : level->both;
	level->in_and = false;
}

/*
 * Behind an operand: closing parentheses, each of which makes an operand of what is inside, and an
 * operator. 1 when there is one, 0 at the end of the text.
 */
static int operand_end(struct parser *p, struct part part)
{
	const char *text = p->src.text;

	for (;;) {
		struct level *level = &p->levels[p->depth - 1];
		char c;

		while (filter_isspace(text[p->at]))
			p->at++;
		c = text[p->at];
		if (c && c != ')' && ((c != '&' && c != '|') || text[p->at + 1] != c))
			return wrong(p, "Too many terms in predicate expression", p->at, -1);
		level->both = level->in_and ? combine(p, &level->both, &part, true) : part;
		level->in_and = c == '&';
		if (c == '&')
			break;
		level_fold(p, level);
		level->in_or = c == '|';
		if (c == '|')
			break;
		if (!c)
			return 0;
		if (p->depth == 1)
			return wrong(p, "Too few '('", p->at + 1, -1);
		part = level->either;
		if (level->negate)
			negate(&part);
		p->depth--;
		p->at++;
	}
	p->at += 2;
	return 1;
}

/* What stands before an operand, and the operand. 0 at the end of the text, 1: there is more. */
static int operand(struct parser *p)
{
	const char *text = p->src.text;
	bool negated = false;
	struct part part;
	int err = 0;

	for (; text[p->at]; p->at++) {
		char c = text[p->at], next = text[p->at + 1];

		if (filter_isspace(c))
			continue;
		if (c == '(') {
			err = level_push(p, negated);
			negated = false;
			if (err)
				return err;
		} else if (c == '!' && next != '=' && next != '~') {
			negated = !negated;
		} else {
			break;
		}
	}
	if (!text[p->at])
		return wrong(p, p->filter->nr ? "Meaningless filter expression" : "No filter found",
			     p->at, -EINVAL);
	err = term_add(p, &part);
	if (err)
		return err;
	if (negated)
		negate(&part);
	return operand_end(p, part);
}

static int expression(struct parser *p)
{
	struct part *whole;
	int more;

	more = level_push(p, false);
	if (more)
		return more;
	do {
		more = operand(p);
	} while (more > 0);
	if (more < 0)
		return more;
	if (p->depth > 1)
		return wrong(p, "Too many '('", p->at, -1);
	whole = &p->levels[0].either;
	fill(p, &whole->holes[true], FILTER_TRUE);
	fill(p, &whole->holes[false], FILTER_FALSE);
	p->filter->start = whole->start;
	return 0;
}

/* --- quotes and parentheses, which are looked at before all else ---------------------------- */

/* The parenthesis that is not closed, from the end of the text; 0 when it is the first. */
static size_t find_open(const char *text, size_t at)
{
	char quote = 0;
	int closed = 0;

	while (--at) {
		char c = text[at];

		if (quote) {
			if (c == quote)
				quote = 0;
			continue;
		}
		if (c == '\'' || c == '"')
			quote = c;
		else if (c == ')')
			closed++;
		else if (c == '(' && !closed--)
			return at;
	}
	return 0;
}

struct balance {
	char quote;
	size_t quote_at;
	unsigned int open;
	bool any; /* there is something else than parentheses and space */
};

/* Errors are numbers of their own, which the kernel hands out as they are. */
static int check_char(struct parser *p, struct balance *b, size_t at)
{
	char c = p->src.text[at];

	if (filter_isspace(c))
		return 0;
	if (b->quote) {
		if (c == b->quote)
			b->quote = 0;
	} else if (c == '(') {
		b->open++;
	} else if (c == ')') {
		if (!b->open--)
			return wrong(p, "Too few '('", at, -1);
	} else {
		if (c == '\'' || c == '"') {
			b->quote = c;
			b->quote_at = at;
		}
		b->any = true;
	}
	return 0;
}

static int check_balance(struct parser *p)
{
	const char *text = p->src.text;
	struct balance b = {0};
	size_t at;

	for (at = 0; text[at]; at++) {
		int err = check_char(p, &b, at);

		if (err)
			return err;
	}
	if (b.quote)
		return wrong(p, "Missing matching quote", b.quote_at, -3);
	if (b.open)
		return wrong(p, "Too many '('", find_open(text, at), -2);
	return b.any ? 0 : -EINVAL;
}

int event_filter_compile(const struct event_format *format, const struct event_kernel *kernel,
			 const char *text, struct event_filter **filter,
			 struct event_filter_error *err)
{
	struct parser p = {.src = {format, kernel, text, err}};
	int ret;

	*err = (struct event_filter_error){0};
	*filter = NULL;
	p.filter = calloc(1, sizeof(*p.filter));
	if (!p.filter)
		return -ENOMEM;
	ret = check_balance(&p);
	if (!ret)
		ret = expression(&p);
	free(p.levels);
	if (ret)
		event_filter_free(p.filter);
	else
		*filter = p.filter;
	return ret;
}

void event_filter_free(struct event_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->nr; i++)
		filter_term_free(&filter->steps[i].term);
	free(filter->steps);
	free(filter->text);
	free(filter);
}
