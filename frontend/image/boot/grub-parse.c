// SPDX-License-Identifier: GPL-2.0-or-later
/* grub-parse.c - words and commands of a script; see grub.h. */
#include "frontend/image/boot/grub.h"

#include <errno.h>
#include <string.h>

enum token { TOKEN_END, TOKEN_LINE, TOKEN_WORD, TOKEN_OPEN, TOKEN_CLOSE };

struct parser {
	struct grub_memory *memory;
	const char *at, *end;
	unsigned int line, depth;
	int error;
	/* What comes next. */
	enum token token;
	const char *text;
	size_t len;
};

/* --- words ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_word(const struct parser *p)
{
	return p->at == p->end || is_blank(*p->at) || *p->at == '\n' || *p->at == ';';
}

static void step(struct parser *p)
{
	p->line += *p->at == '\n';
	p->at++;
}

/* Behind the quote that ends it. */
static void skip_quoted(struct parser *p, char quote)
{
	for (; p->at < p->end && *p->at != quote; step(p))
		if (quote == '"' && *p->at == '\\' && p->end - p->at > 1)
			step(p);
	if (p->at == p->end)
		p->error = -EINVAL;
	else
		p->at++;
}

static void skip_word(struct parser *p)
{
	while (!p->error && !ends_word(p)) {
		char c = *p->at;

		step(p);
		if (c == '\'' || c == '"')
			skip_quoted(p, c);
		else if (c == '\\' && p->at < p->end)
			step(p);
	}
}

/* A backslash at the end of a line is none, nor is the line's end. */
static bool skip_blank(struct parser *p)
{
	const char *before = p->at;

	while (p->at < p->end && is_blank(*p->at))
		p->at++;
	if (p->end - p->at > 1 && p->at[0] == '\\' && p->at[1] == '\n') {
		step(p);
		step(p);
	}
	if (p->at < p->end && *p->at == '#')
		while (p->at < p->end && *p->at != '\n')
			p->at++;
	return p->at != before;
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->token == TOKEN_WORD && p->len == strlen(word) && !memcmp(p->text, word, p->len);
}

static void next(struct parser *p)
{
	while (skip_blank(p))
		;
	p->text = p->at;
	if (p->at == p->end) {
		p->token = TOKEN_END;
	} else if (*p->at == '\n' || *p->at == ';') {
		step(p);
		p->token = TOKEN_LINE;
	} else {
		skip_word(p);
		p->token = TOKEN_WORD;
	}
	p->len = (size_t)(p->at - p->text);
	if (is_word(p, "{"))
		p->token = TOKEN_OPEN;
	else if (is_word(p, "}"))
		p->token = TOKEN_CLOSE;
	if (p->error)
		p->token = TOKEN_END;
}

/* --- commands --------------------------------------------------------------------------------- */

static void *take_memory(struct parser *p, size_t size)
{
	void *memory = grub_alloc(p->memory, size);

	if (!memory)
		p->error = -ENOMEM;
	return memory;
}

static void add_word(struct parser *p, struct grub_word ***end)
{
	struct grub_word *w = take_memory(p, sizeof(*w));

	if (!w)
		return;
	w->text = p->text;
	w->len = p->len;
	**end = w;
	*end = &w->next;
	next(p);
}

static void expect(struct parser *p, const char *word)
{
	while (p->token == TOKEN_LINE)
		next(p);
	if (is_word(p, word))
		next(p);
	else if (!p->error)
		p->error = -EINVAL;
}

static struct grub_node *parse_list(struct parser *p, const char *const *until);

static const char *const until_then[] = {"then", NULL},
			 *const until_fi[] = {"elif", "else", "fi", NULL},
			 *const until_end[] = {"fi", NULL}, *const until_do[] = {"do", NULL},
			 *const until_done[] = {"done", NULL}, *const until_nothing[] = {NULL};

/* Behind if or elif. */
static void parse_if(struct parser *p, struct grub_node *n)
{
	n->kind = GRUB_IF;
	n->condition = parse_list(p, until_then);
	expect(p, "then");
	n->body = parse_list(p, until_fi);
	if (is_word(p, "elif")) {
		next(p);
		n->otherwise = take_memory(p, sizeof(*n));
		/* It ends with the same fi. */
		if (n->otherwise && ++p->depth < GRUB_DEPTH_MAX)
			parse_if(p, n->otherwise);
		else if (!p->error)
			p->error = -EINVAL;
		p->depth--;
		return;
	}
	if (is_word(p, "else")) {
		next(p);
		n->otherwise = parse_list(p, until_end);
	}
	expect(p, "fi");
}

static void parse_do(struct parser *p, struct grub_node *n)
{
	expect(p, "do");
	n->body = parse_list(p, until_done);
	expect(p, "done");
}

static void parse_for(struct parser *p, struct grub_node *n)
{
	struct grub_word **end = &n->words;

	n->kind = GRUB_FOR;
	if (p->token == TOKEN_WORD)
		add_word(p, &end);
	expect(p, "in");
	while (!p->error && p->token == TOKEN_WORD)
		add_word(p, &end);
	parse_do(p, n);
}

static void parse_command(struct parser *p, struct grub_node *n)
{
	struct grub_word **end = &n->words;

	while (!p->error && p->token == TOKEN_WORD)
		add_word(p, &end);
	if (p->token != TOKEN_OPEN)
		return;
	next(p);
	n->has_body = true;
	n->body = parse_list(p, until_nothing);
	if (p->token == TOKEN_CLOSE)
		next(p);
	else if (!p->error)
		p->error = -EINVAL;
}

static void parse_node(struct parser *p, struct grub_node *n)
{
	if (is_word(p, "if")) {
		next(p);
		parse_if(p, n);
	} else if (is_word(p, "while") || is_word(p, "until")) {
		n->kind = is_word(p, "while") ? GRUB_WHILE : GRUB_UNTIL;
		next(p);
		n->condition = parse_list(p, until_do);
		parse_do(p, n);
	} else if (is_word(p, "for")) {
		next(p);
		parse_for(p, n);
	} else {
		parse_command(p, n);
	}
}

static bool is_one_of(const struct parser *p, const char *const *words)
{
	while (*words && !is_word(p, *words))
		words++;
	return *words;
}

/* Up to one of these words, a closing brace or the end, which is next then. */
static struct grub_node *parse_list(struct parser *p, const char *const *until)
{
	struct grub_node *first = NULL, **end = &first;

	if (++p->depth >= GRUB_DEPTH_MAX && !p->error)
		p->error = -EINVAL;
	while (!p->error && p->token != TOKEN_END && p->token != TOKEN_CLOSE &&
	       !is_one_of(p, until)) {
		if (p->token == TOKEN_LINE) {
			next(p);
			continue;
		}
		*end = take_memory(p, sizeof(**end));
		if (!*end)
			break;
		parse_node(p, *end);
		end = &(*end)->next;
	}
	p->depth--;
	return first;
}

int grub_parse(struct grub_memory *m, const char *text, size_t len, struct grub_node **first,
	       unsigned int *line)
{
	struct parser p = {.memory = m, .at = text, .end = text + len, .line = 1};

	next(&p);
	*first = parse_list(&p, until_nothing);
	if (!p.error && p.token != TOKEN_END)
		p.error = -EINVAL;
	*line = p.line;
	return p.error;
}
