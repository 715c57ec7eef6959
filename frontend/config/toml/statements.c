// SPDX-License-Identifier: GPL-2.0-or-later
/* statements.c - see statements.h */
#include "frontend/config/toml/statements.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "frontend/config/toml/mistakes.h"
#include "frontend/config/toml/toml.h"
#include "frontend/lib/json.h"

/* --- characters --------------------------------------------------------------------------- */

static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
}

bool toml_statements_are_text(const char *text, size_t len, struct mistakes *m)
{
	unsigned int line = 1;

	for (size_t i = 0, n; i < len; i += n) {
		unsigned char c = (unsigned char)text[i];

		n = utf8_len((const uint8_t *)text + i, len - i);
		if (!n) {
			toml_mistake(m, line, "byte 0x%02x is not UTF-8; save the file as UTF-8",
				     c);
			return false;
		}
		if (is_control(c) && !(c == '\r' && i + 1 < len && text[i + 1] == '\n')) {
			toml_mistake(
				m, line,
				"control character 0x%02x; in a string of \"...\" it is \\u%04x", c,
				c);
			return false;
		}
		line += c == '\n';
	}
	return true;
}

/* --- one statement ------------------------------------------------------------------------ */

struct scan {
	const char *at, *end;
	unsigned int line;
	char open[TOML_DEPTH]; /* brackets that have no end yet */
	unsigned int lines[TOML_DEPTH];
	unsigned int depth;
	bool header;
	bool again; /* the line where a mistake was seen may be a statement of its own */
	struct mistakes *mistakes;
};

static bool next_is(const struct scan *s, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(s->end - s->at) >= len && !memcmp(s->at, word, len);
}

static void skip_line(struct scan *s)
{
	const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));

	s->at = end ? end : s->end;
}

static bool has_hex(const struct scan *s, size_t nr)
{
	if ((size_t)(s->end - s->at) < nr)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!isxdigit((unsigned char)s->at[i]))
			return false;
	return true;
}

/* Behind a backslash. */
static bool skip_escape(struct scan *s, bool lines)
{
	char c = s->at < s->end ? *s->at : '\n';

	if (lines && (c == '\n' || next_is(s, "\r\n")))
		return true;
	if (c == '\n' || c == '\r' || c == ' ' || c == '\t') {
		toml_mistake(s->mistakes, s->line,
			     lines ? "blanks behind the \\ that ends a line; take them away"
				   : "this string has no end in its line; a \" is missing");
		return false;
	}
	s->at++;
	if (c == 'u' || c == 'U') {
		if (has_hex(s, c == 'u' ? 4 : 8))
			return true;
		toml_mistake(s->mistakes, s->line, "\\%c takes %s digits, as in %s", c,
			     c == 'u' ? "four" : "eight", c == 'u' ? "\\u00e9" : "\\U0001f427");
		return false;
	}
	if (strchr("btnfr\"\\", c))
		return true;
	toml_mistake(s->mistakes, s->line,
		     "there is no \\%c; write \\\\ for a backslash, or the string in '...'",
		     (unsigned char)c < 0x80 ? c : '?');
	return false;
}

/* Behind its first three quotes. */
static bool skip_lines_string(struct scan *s, char quote)
{
	const char end[] = {quote, quote, quote, '\0'};
	unsigned int line = s->line;
	bool right = true;

	while (s->at < s->end) {
		if (next_is(s, end)) {
			s->at += 3;
			/* Two more of them belong to the string. */
			for (int more = 0; more < 2 && s->at < s->end && *s->at == quote; more++)
				s->at++;
			return right;
		}
		s->line += *s->at == '\n';
		if (*s->at++ == '\\' && quote == '"' && !skip_escape(s, true))
			right = false;
	}
	toml_mistake(s->mistakes, line, "this string has no end; %s is missing", end);
	return false;
}

static bool skip_string(struct scan *s)
{
	char quote = *s->at;
	const char three[] = {quote, quote, quote, '\0'};

	if (next_is(s, three)) {
		s->at += 3;
		return skip_lines_string(s, quote);
	}
	s->at++;
	while (s->at < s->end && *s->at != '\n') {
		char c = *s->at++;

		if (c == quote)
			return true;
		if (c == '\\' && quote == '"' && !skip_escape(s, false))
			return false;
	}
	toml_mistake(s->mistakes, s->line, "this string has no end in its line; a %c is missing",
		     quote);
	return false;
}

static bool open_bracket(struct scan *s)
{
	if (s->depth == TOML_DEPTH) {
		toml_mistake(s->mistakes, s->line, "more than %d brackets in each other",
			     TOML_DEPTH);
		return false;
	}
	s->lines[s->depth] = s->line;
	s->open[s->depth++] = *s->at++;
	return true;
}

static bool close_bracket(struct scan *s)
{
	char end = *s->at++, begin = end == ']' ? '[' : '{';

	if (s->depth && s->open[s->depth - 1] == begin) {
		s->depth--;
		return true;
	}
	toml_mistake(s->mistakes, s->line, "this %c ends nothing; a %c is missing before it", end,
		     begin);
	return false;
}

static char innermost(const struct scan *s)
{
	return s->depth ? s->open[s->depth - 1] : '\0';
}

/* What an array does not have: it has no end, and this is the next key. */
static bool no_end_of_array(struct scan *s)
{
	toml_mistake(s->mistakes, s->lines[s->depth - 1], "this [ has no end; a ] is missing");
	s->again = true;
	return false;
}

/* A line ends. False: there is a mistake. *done: and the statement with it. */
static bool end_line(struct scan *s, bool *done)
{
	if (innermost(s) == '{') {
		toml_mistake(s->mistakes, s->lines[s->depth - 1],
			     "this { has no end in its line; a } is missing");
		return false;
	}
	*done = !s->depth;
	s->line++;
	s->at++;
	return true;
}

/* Of a header the brackets are the grammar's: it has one line. */
static bool step(struct scan *s, bool *done)
{
	switch (*s->at) {
	case '\n':
		return end_line(s, done);
	case '#':
		skip_line(s);
		return true;
	case '"':
	case '\'':
		return skip_string(s);
	case '[':
	case '{':
		if (!s->header)
			return open_bracket(s);
		break;
	case ']':
	case '}':
		if (!s->header)
			return close_bracket(s);
		break;
	case '=':
		if (innermost(s) == '[')
			return no_end_of_array(s);
		break;
	default:
		break;
	}
	s->at++;
	return true;
}

static bool scan_statement(struct scan *s, const char *begin)
{
	for (bool done = false; s->at < s->end && !done;) {
		if (!step(s, &done))
			return false;
		if (s->at - begin > TOML_STATEMENT) {
			toml_mistake(s->mistakes, s->line,
				     "what began above has more than %d KB; make it shorter",
				     TOML_STATEMENT >> 10);
			return false;
		}
	}
	if (!s->depth)
		return true;
	toml_mistake(s->mistakes, s->lines[s->depth - 1], "this %c has no end; a %c is missing",
		     innermost(s), innermost(s) == '[' ? ']' : '}');
	return false;
}

/* --- all of them -------------------------------------------------------------------------- */

/* To what is neither blank nor a comment. */
static bool skip_blank(struct statements *all)
{
	while (all->at < all->end) {
		const char *end;

		all->at += *all->at == '\r';
		if (*all->at == '\n')
			all->line++;
		else if (*all->at == '#') {
			end = memchr(all->at, '\n', (size_t)(all->end - all->at));
			all->at = end ? end : all->end;
			continue;
		} else if (*all->at != ' ' && *all->at != '\t')
			return true;
		all->at++;
	}
	return false;
}

/* Go on behind a statement that was none. */
static void recover(struct statements *all, struct scan *s, const char *begin)
{
	const char *at = s->at;

	while (at > begin && at[-1] != '\n')
		at--;
	skip_line(s);
	all->at = s->again && at > begin ? at : s->at;
	all->line = s->line;
}

bool toml_statements_next(struct statements *all, struct statement *s)
{
	while (skip_blank(all) && !toml_mistakes_are_enough(all->mistakes)) {
		struct scan scan = {.at = all->at,
				    .end = all->end,
				    .line = all->line,
				    .header = *all->at == '[',
				    .mistakes = all->mistakes};
		const char *begin = all->at;

		if (!scan_statement(&scan, begin)) {
			recover(all, &scan, begin);
			continue;
		}
		*s = (struct statement){begin, (size_t)(scan.at - begin), all->line};
		all->at = scan.at;
		all->line = scan.line;
		return true;
	}
	return false;
}
