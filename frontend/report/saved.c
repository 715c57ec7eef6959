// SPDX-License-Identifier: GPL-2.0-or-later
/* saved.c - see saved.h */
#include "frontend/report/saved.h"

#include "frontend/report/calls.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_LEN = 1024 };

static const char magic[] = "# hvtrace graph 1\n";

/* Names are of guests: nothing of them may end a line. */
static void print_name(const char *name, struct text *out)
{
	for (; *name; name++)
		text_putc(out, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	text_putc(out, '\n');
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void print_nodes(const struct calltree *t, uint32_t parent, unsigned int depth,
			struct text *out)
{
	for (uint32_t c = t->node[parent].child; c != CALLTREE_NONE; c = t->node[c].next) {
		const struct call_stats *st = &t->node[c].st;

		text_printf(out, "%u ", depth);
		if (depth)
			text_printf(out,
				    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
				    " %" PRIu64 " ",
				    st->calls, st->begun, st->total, st->self, st->max, st->cpu);
		print_name(calltree_name_of(t, c), out);
		print_nodes(t, c, depth + 1, out);
	}
}

void saved_print(const struct calltree *t, struct text *out)
{
	text_puts(out, magic);
	text_printf(out, "# from %" PRIu64 " until %" PRIu64 " lost %" PRIu64 " cpus %u%s%s%s\n",
		    t->from, t->until, t->lost, t->cpus, t->has_time ? " time" : "",
		    t->has_cpu ? " cpu-time" : "", t->full ? " full" : "");
	text_puts(out, "# depth calls begun total self max cpu function\n");
	print_nodes(t, CALLTREE_ROOT, 0, out);
}

bool saved_is(const char *text, size_t len)
{
	return len >= sizeof(magic) - 1 && !memcmp(text, magic, sizeof(magic) - 1);
}

/* Takes a number and the blank behind it away. */
static bool take_number(const char **at, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(*at, &end, 10);
	if (!isdigit((unsigned char)**at) || errno || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

/* The number behind a word, 0 when there is none. */
static uint64_t number_behind(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at && isdigit((unsigned char)at[strlen(word)])
		       ? strtoull(at + strlen(word), NULL, 10)
		       : 0;
}

/* "# from N until N lost N cpus N ..." */
static void read_comment(struct calltree *t, const char *line)
{
	uint64_t cpus = number_behind(line, " cpus ");

	if (strncmp(line, "# from ", 7) != 0)
		return;
	t->from = number_behind(line, " from ");
	t->until = number_behind(line, " until ");
	t->lost = number_behind(line, " lost ");
	t->cpus = cpus < CALLS_CPUS ? (unsigned int)cpus : 0;
	t->has_time = strstr(line, " time");
	t->has_cpu = strstr(line, " cpu-time");
	t->full |= strstr(line, " full") != NULL;
}

/* Sums of them all have to fit. */
static bool is_sane(const struct call_stats *st)
{
	const uint64_t most = UINT64_C(1) << 62;

	return st->calls < most && st->begun <= st->calls && st->total < most &&
	       st->self <= st->total && st->max < most && st->cpu < most;
}

struct path {
	uint32_t at[CALLTREE_DEPTH]; /* the node above each depth */
	unsigned int depth;	     /* of the deepest that there is */
};

static bool read_stats(const char **line, struct call_stats *st)
{
	return take_number(line, &st->calls) && take_number(line, &st->begun) &&
	       take_number(line, &st->total) && take_number(line, &st->self) &&
	       take_number(line, &st->max) && take_number(line, &st->cpu) && is_sane(st);
}

static bool read_node(struct calltree *t, const char *line, struct path *p)
{
	struct call_stats st = {0};
	uint64_t depth;
	uint32_t node;

	if (!take_number(&line, &depth) || depth > p->depth || depth >= CALLTREE_DEPTH - 1 ||
	    (depth && !read_stats(&line, &st)))
		return false;
	node = calltree_child(t, p->at[depth], calltree_name(t, line, strlen(line)));
	if (node != CALLTREE_NONE)
		calltree_add(&t->node[node].st, &st);
	p->at[depth + 1] = node;
	p->depth = (unsigned int)depth + 1;
	return *line;
}

int saved_read(struct calltree *t, const char *text, size_t len, unsigned int *line)
{
	struct path path = {.at = {CALLTREE_ROOT}};
	const char *end = text + len;

	for (*line = 1; text < end; ++*line) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		char copy[LINE_MAX_LEN];

		if (!eol || (size_t)(eol - text) >= sizeof(copy))
			return -EINVAL;
		memcpy(copy, text, (size_t)(eol - text));
		copy[eol - text] = '\0';
		if (*copy == '#')
			read_comment(t, copy);
		else if (!read_node(t, copy, &path))
			return -EINVAL;
		text = eol + 1;
	}
	return 0;
}
