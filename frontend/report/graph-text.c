// SPDX-License-Identifier: GPL-2.0-or-later
/* graph-text.c - see graph-text.h */
#include "frontend/report/graph-text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/report/calls.h"

enum {
	NAME_MAX_LEN = 512,
	COMM_MAX = 32,
	ENTERED_DEPTH = 50, /* calls that the kernel remembers when it prints */
};

/* What is left of a line, or of one of its columns. */
struct span {
	const char *at, *end;
};

struct who {
	int32_t pid;
	char comm[COMM_MAX];
};

struct reading {
	struct calltree *tree;
	struct calls *calls;
	struct who now[CALLS_CPUS]; /* pid CALLS_NO_PID: not known */
	/*
	 * What was called last on each CPU at each depth, whatever task it was: a return that
	 * has no name is of that function. 0: nothing.
	 */
	uint32_t entered[CALLS_CPUS][ENTERED_DEPTH];
	bool switches; /* the line before says that the next one tells a change */
	struct graph_text_result result;
};

/* --- words -------------------------------------------------------------------------------- */

static bool is_empty(struct span s)
{
	return s.at == s.end;
}

static size_t length(struct span s)
{
	return (size_t)(s.end - s.at);
}

static struct span strip(struct span s)
{
	while (!is_empty(s) && *s.at == ' ')
		s.at++;
	while (!is_empty(s) && s.end[-1] == ' ')
		s.end--;
	return s;
}

static bool begins(struct span s, const char *with)
{
	size_t len = strlen(with);

	return length(s) >= len && !memcmp(s.at, with, len);
}

static const char *find(struct span s, const char *what)
{
	return is_empty(s) ? NULL : memmem(s.at, length(s), what, strlen(what));
}

/* Takes digits away. False: there is none, or they are too many. */
static bool take_number(struct span *s, uint64_t *n)
{
	const char *start = s->at;

	for (*n = 0; !is_empty(*s) && isdigit((unsigned char)*s->at); s->at++)
		*n = *n * 10 + (uint64_t)(*s->at - '0');
	return s->at > start && s->at - start < 19;
}

/* "123.456" with as many decimals as there are, in units of which a whole has `unit`. */
static bool take_decimal(struct span *s, uint64_t unit, uint64_t *n)
{
	uint64_t fraction = 0;

	if (!take_number(s, n) || *n > UINT64_MAX / unit / 2)
		return false;
	*n *= unit;
	if (is_empty(*s) || *s->at != '.')
		return true;
	for (s->at++; !is_empty(*s) && isdigit((unsigned char)*s->at); s->at++) {
		unit /= 10;
		fraction += (uint64_t)(*s->at - '0') * unit;
	}
	*n += fraction;
	return true;
}

/* "  gt-351  ": false when it is not that. */
static bool parse_task(struct span s, struct who *who)
{
	struct span digits;
	uint64_t pid;

	s = strip(s);
	digits = (struct span){s.end, s.end};
	while (digits.at > s.at && isdigit((unsigned char)digits.at[-1]))
		digits.at--;
	s.end = digits.at;
	if (is_empty(s) || s.end[-1] != '-' || !take_number(&digits, &pid) || pid > INT32_MAX)
		return false;
	s.end--;
	who->pid = (int32_t)pid;
	if (length(s) >= sizeof(who->comm))
		s.end = s.at + sizeof(who->comm) - 1;
	memcpy(who->comm, s.at, length(s));
	who->comm[length(s)] = '\0';
	return true;
}

static bool is_name(struct span s)
{
	for (const char *p = s.at; p < s.end; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return !is_empty(s) && length(s) <= NAME_MAX_LEN;
}

/* --- columns ------------------------------------------------------------------------------ */

/* A line of a graph. */
struct line {
	struct call_event ev;
	struct who who; /* pid CALLS_NO_PID: there is no such column */
	bool has_cpu, arrow;
	struct span function; /* from its indentation on */
};

/* What stands before the next bar, which is taken away too. False: there is none. */
static bool peek_column(struct span s, struct span *column, struct span *rest)
{
	const char *bar = is_empty(s) ? NULL : memchr(s.at, '|', length(s));

	if (!bar)
		return false;
	*column = strip((struct span){s.at, bar});
	*rest = (struct span){bar + 1, s.end};
	return true;
}

/* "   12.345678 |  " */
static void take_abstime(struct span *s, struct line *l)
{
	struct span column, rest;
	const char *dot;
	uint64_t ts;

	if (!peek_column(*s, &column, &rest) || is_empty(column))
		return;
	dot = memchr(column.at, '.', length(column));
	if (!dot || column.end - dot != 7 || !take_decimal(&column, 1000000000, &ts) ||
	    !is_empty(column))
		return;
	l->ev.ts = ts;
	if (begins(rest, "  "))
		rest.at += 2;
	*s = rest;
}

/* " 0) " */
static void take_cpu(struct span *s, struct line *l)
{
	struct span in = *s;
	uint64_t cpu;

	while (!is_empty(in) && *in.at == ' ')
		in.at++;
	if (!take_number(&in, &cpu) || cpu >= CALLS_CPUS || !begins(in, ") "))
		return;
	l->ev.cpu = (unsigned int)cpu;
	l->has_cpu = true;
	s->at = in.at + 2;
}

/* "   gt-351    | " */
static void take_task(struct span *s, struct line *l)
{
	struct span column, rest;

	if (!peek_column(*s, &column, &rest) || !parse_task(column, &l->who))
		return;
	*s = rest;
	if (begins(*s, " "))
		s->at++;
}

/* "d..1 | ", with one more for what newer kernels tell */
static void take_flags(struct span *s)
{
	struct span column, rest;

	if (!peek_column(*s, &column, &rest) || length(column) < 4 || length(column) > 6)
		return;
	for (const char *p = column.at; p < column.end; p++)
		if (!isalnum((unsigned char)*p) && *p != '.' && *p != '#')
			return;
	*s = rest;
	if (begins(*s, " "))
		s->at++;
}

/* "! 145.117 us  |  ", blanks, or the arrow of an interrupt. False: what stands there is neither.
 */
static bool take_duration(struct span *s, struct line *l)
{
	struct span column, rest;

	if (!peek_column(*s, &column, &rest) || find((struct span){s->at, column.end}, "/*"))
		return true;
	l->arrow = begins(column, "==") || begins(column, "<=");
	if (!is_empty(column) && strchr("+!#*@$", *column.at))
		column = strip((struct span){column.at + 1, column.end});
	if (!l->arrow && !is_empty(column) &&
	    (!take_decimal(&column, 1000, &l->ev.ns) || !begins(column, " us")))
		return false;
	if (!l->arrow && begins(rest, "  "))
		rest.at += 2;
	*s = rest;
	return true;
}

static bool split(struct span s, struct line *l)
{
	*l = (struct line){.who.pid = CALLS_NO_PID};
	take_abstime(&s, l);
	take_cpu(&s, l);
	take_task(&s, l);
	take_flags(&s);
	if (!take_duration(&s, l))
		return false;
	l->function = s;
	return true;
}

/* --- lines -------------------------------------------------------------------------------- */

static uint32_t *entered(struct reading *r, const struct line *l)
{
	return l->has_cpu && l->ev.depth < ENTERED_DEPTH ? &r->entered[l->ev.cpu][l->ev.depth]
							 : NULL;
}

static void count(struct reading *r, const struct line *l, bool returns, uint32_t name)
{
	uint32_t *known = entered(r, l);
	const struct who *who = l->who.pid == CALLS_NO_PID ? &r->now[l->ev.cpu] : &l->who;
	struct call_event ev = l->ev;

	if (known && *known && name == CALLTREE_NONE)
		name = *known;
	if (known)
		*known = returns || name == CALLTREE_NONE ? 0 : name;
	ev.returns = returns;
	ev.name = name;
	ev.pid = who->pid;
	ev.comm = who->comm;
	calls_event(r->calls, &ev);
	r->result.calls++;
}

/* A leaf is printed when it is called. */
static void count_leaf(struct reading *r, struct line *l, uint32_t name)
{
	count(r, l, false, name);
	if (l->ev.ts)
		l->ev.ts += l->ev.ns;
	count(r, l, true, name);
}

/* "} ", and a name in a comment if its entry was not printed */
static bool read_return(struct reading *r, const struct line *l, struct span s)
{
	uint32_t name = CALLTREE_NONE;

	s.at++;
	s = strip(s);
	if (begins(s, "/* ")) {
		const char *end;

		s.at += 3;
		end = find(s, " */");
		if (!end)
			return false;
		s.end = end;
		/* Newer kernels: "vfs_read ret=0x10", "ret=0x10" */
		end = find(s, "ret=");
		if (end)
			s.end = end;
		s = strip(s);
		if (!is_empty(s) && !is_name(s))
			return false;
		if (!is_empty(s))
			name = calltree_name(r->tree, s.at, length(s));
	} else if (!is_empty(s)) {
		return false;
	}
	count(r, l, true, name);
	return true;
}

/* "vfs_read() {", "vfs_read [module]();" */
static bool read_entry(struct reading *r, struct line *l, struct span s)
{
	const char *open = memchr(s.at, '(', length(s));
	struct span behind;
	const char *leaf, *nested;
	uint32_t name;

	if (!open || !is_name((struct span){s.at, open}))
		return false;
	behind = (struct span){open, s.end};
	leaf = find(behind, ");");
	nested = find(behind, ") {");
	if (!leaf && !nested)
		return false;
	name = calltree_name(r->tree, s.at, (size_t)(open - s.at));
	if (leaf && (!nested || leaf < nested))
		count_leaf(r, l, name);
	else
		count(r, l, false, name);
	return true;
}

static bool read_call(struct reading *r, struct span s)
{
	struct line l;
	struct span text;

	if (!split(s, &l))
		return false;
	text = strip(l.function);
	if (l.arrow || begins(text, "==========>") || begins(text, "<=========="))
		return true;
	if (is_empty(text))
		return false;
	r->result.has_cpus |= l.has_cpu;
	l.ev.depth = (int)((text.at - l.function.at < 2 * CALLTREE_DEPTH ? text.at - l.function.at
									 : 2 * CALLTREE_DEPTH) /
			   2);
	if (*text.at == '}')
		return read_return(r, &l, text);
	return begins(text, "/*") || read_entry(r, &l, text);
}

/* " 0)    <idle>-0    =>     gt-351    " */
static bool parse_switch(struct span s, unsigned int *cpu, struct who *from, struct who *to)
{
	struct line l = {0};
	const char *arrow;

	take_cpu(&s, &l);
	*cpu = l.ev.cpu;
	/* A task may be called so, too. */
	for (arrow = find(s, " => "); l.has_cpu && arrow;
	     arrow = find((struct span){arrow + 1, s.end}, " => "))
		if (parse_task((struct span){s.at, arrow}, from) &&
		    parse_task((struct span){arrow + 4, s.end}, to))
			return true;
	return false;
}

/* "CPU:1 [LOST 123 EVENTS]" */
static bool read_lost(struct reading *r, struct span s)
{
	const char *lost = begins(s, "CPU:") ? find(s, "[LOST ") : NULL;
	struct span in = {lost ? lost + 6 : s.end, s.end};
	uint64_t n;

	if (!lost)
		return false;
	r->tree->lost += take_number(&in, &n) ? n : 1;
	return true;
}

static void read_line(struct reading *r, struct span s)
{
	struct span text = strip(s);
	struct who from, to;
	unsigned int cpu;
	bool switches = r->switches;

	r->switches = begins(text, "----------");
	if (is_empty(text) || *s.at == '#' || r->switches || begins(text, "(Overruns: "))
		return;
	if (switches && parse_switch(s, &cpu, &from, &to)) {
		r->now[cpu] = to;
		return;
	}
	if (!read_lost(r, s) && !read_call(r, s))
		r->result.unknown++;
}

/* Whom each CPU begins with is told by its first change. */
static void read_first(struct reading *r, struct span s)
{
	struct who from, to;
	unsigned int cpu;
	bool switches = r->switches;

	r->switches = begins(strip(s), "----------");
	if (switches && parse_switch(s, &cpu, &from, &to) && r->now[cpu].pid == CALLS_NO_PID)
		r->now[cpu] = from;
}

static void each_line(struct reading *r, const char *text, size_t len,
		      void (*fn)(struct reading *r, struct span s))
{
	const char *end = text + len;

	r->switches = false;
	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		const char *stop = eol ? eol : end;

		if (stop > text && stop[-1] == '\r')
			stop--;
		fn(r, (struct span){text, stop});
		text = eol ? eol + 1 : end;
	}
}

int graph_text_read(struct calltree *t, const char *text, size_t len,
		    struct graph_text_result *result)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (r)
		r->calls = calls_new(t, 0);
	if (!r || !r->calls) {
		free(r);
		return -ENOMEM;
	}
	r->tree = t;
	for (size_t i = 0; i < CALLS_CPUS; i++)
		r->now[i].pid = CALLS_NO_PID;
	each_line(r, text, len, read_first);
	each_line(r, text, len, read_line);
	calls_end(r->calls);
	*result = r->result;
	free(r);
	return 0;
}
