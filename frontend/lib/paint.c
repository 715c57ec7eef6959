// SPDX-License-Identifier: GPL-2.0-or-later
/* paint.c - see paint.h */
#include "frontend/lib/paint.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "frontend/lib/color.h"

/* The rest of a line, of which the beginning is painted. */
struct piece {
	const char *at;
	size_t len;
};

static void take(struct piece *p, size_t len, enum color color, struct text *out)
{
	len = len < p->len ? len : p->len;
	color_add(out, color, p->at, len);
	p->at += len;
	p->len -= len;
}

static void take_rest(struct piece *p, enum color color, struct text *out)
{
	take(p, p->len, color, out);
}

static bool begins(const struct piece *p, const char *with)
{
	return p->len >= strlen(with) && !memcmp(p->at, with, strlen(with));
}

/* How many of the characters before the first of these. */
static size_t until(const struct piece *p, const char *stop)
{
	size_t n = 0;

	while (n < p->len && !strchr(stop, p->at[n]))
		n++;
	return n;
}

static size_t spaces(const struct piece *p)
{
	size_t n = 0;

	while (n < p->len && p->at[n] == ' ')
		n++;
	return n;
}

/* Where it is in there; SIZE_MAX: nowhere. */
static size_t find(const struct piece *p, const char *what)
{
	const char *at = p->len ? memmem(p->at, p->len, what, strlen(what)) : NULL;

	return at ? (size_t)(at - p->at) : SIZE_MAX;
}

/* --- messages ----------------------------------------------------------------------------- */

static void paint_message(struct piece p, struct text *out)
{
	if (begins(&p, "hvtrace: ")) {
		take(&p, strlen("hvtrace:"), COLOR_HEADING, out);
		take(&p, 1, COLOR_NONE, out);
		if (begins(&p, "warning:"))
			take(&p, strlen("warning:"), COLOR_WARN, out);
	}
	take_rest(&p, COLOR_NONE, out);
}

/* --- the text of a trace ------------------------------------------------------------------ */

/* What function_graph and the tracers of latencies put before or behind a long time. */
static enum color mark_color(char mark)
{
	switch (mark) {
	case '+': /* more than 10 us */
	case '!': /* 100 us */
		return COLOR_WARN;
	case '#': /* 1 ms */
	case '*':
	case '@':
	case '$': /* 1 s */
		return COLOR_BAD;
	default:
		return COLOR_NONE;
	}
}

/* As deep as it is: "vfs_read() {", "}", or in a comment an event. */
static void paint_call(struct piece p, struct text *out)
{
	take(&p, spaces(&p), COLOR_NONE, out);
	if (begins(&p, "}")) {
		take_rest(&p, COLOR_FAINT, out);
	} else if (begins(&p, "/* ")) {
		take(&p, 3, COLOR_FAINT, out);
		take(&p, until(&p, ": "), COLOR_EVENT, out);
	} else {
		take(&p, until(&p, "( ;"), COLOR_FUNCTION, out);
	}
	take_rest(&p, COLOR_NONE, out);
}

/* "+ 10.123 us   " with what stands before it. */
static void paint_duration(struct piece p, struct text *out)
{
	size_t us = find(&p, " us"), begin = us == SIZE_MAX ? 0 : us;
	enum color color = COLOR_NONE;

	while (begin && (isdigit((unsigned char)p.at[begin - 1]) || p.at[begin - 1] == '.'))
		begin--;
	if (begin >= 2 && p.at[begin - 1] == ' ')
		color = mark_color(p.at[begin - 2]);
	if (color != COLOR_NONE)
		begin -= 2;
	take(&p, begin, COLOR_NONE, out);
	take(&p, us == SIZE_MAX ? 0 : us + strlen(" us") - begin, color, out);
	take_rest(&p, COLOR_NONE, out);
}

/* The bar before the call: behind the one that is found there may be the duration, and one more. */
static size_t last_bar(const struct piece *p, size_t bar)
{
	size_t next = bar + 1;

	while (next < p->len && strchr(" .us+!#*@$0123456789", p->at[next]))
		next++;
	return next < p->len && p->at[next] == '|' ? next : bar;
}

static void paint_graph(struct piece p, size_t bar, struct text *out)
{
	struct piece call;

	bar = last_bar(&p, bar);
	call = (struct piece){p.at + bar + 1, p.len - bar - 1};
	paint_duration((struct piece){p.at, bar}, out);
	color_add(out, COLOR_FAINT, "|", 1);
	paint_call(call, out);
}

/* Behind "12.345678: ": an event and what it says, or a function and who has called it. */
static void paint_entry(struct piece p, struct text *out)
{
	size_t name = until(&p, ": "), bar, arrow;

	if (name < p.len && p.at[name] == ':') {
		take(&p, name + 1, COLOR_EVENT, out);
		bar = find(&p, " |  ");
		if (bar != SIZE_MAX)
			paint_graph(p, bar + 1, out);
		else
			take_rest(&p, COLOR_NONE, out);
		return;
	}
	take(&p, name, COLOR_FUNCTION, out);
	arrow = find(&p, " <-");
	take(&p, arrow == SIZE_MAX ? 0 : arrow, COLOR_NONE, out);
	take_rest(&p, arrow == SIZE_MAX ? COLOR_NONE : COLOR_FAINT, out);
}

/* Where the time "12.345678: " ends that stands behind a CPU in brackets; 0: there is none. */
static size_t time_end(const struct piece *p)
{
	size_t cpu = find(p, "] ");

	for (size_t i = cpu == SIZE_MAX ? p->len : cpu + 2; i + 1 < p->len; i++)
		if (p->at[i] == ':' && p->at[i + 1] == ' ' && isdigit((unsigned char)p->at[i - 1]))
			return i + 2;
	return 0;
}

/* "   12us+: " of the tracers of latencies: where the mark is; 0: it is none of their lines. */
static size_t delay_mark(const struct piece *p)
{
	size_t us = find(p, "us");

	return us != SIZE_MAX && us && us + 3 < p->len && isdigit((unsigned char)p->at[us - 1]) &&
			       p->at[us + 3] == ':'
		       ? us + 2
		       : 0;
}

static void paint_delay(struct piece p, size_t mark, struct text *out)
{
	size_t begin = mark - 2;

	while (begin && isdigit((unsigned char)p.at[begin - 1]))
		begin--;
	take(&p, begin, COLOR_NONE, out);
	take(&p, mark + 1 - begin, mark_color(p.at[mark - begin]), out);
	take(&p, 1 + (p.len > 1 && p.at[1] == ' '), COLOR_NONE, out);
	paint_entry(p, out);
}

/* "=> vfs_read" of a stack. False: it is no such line. */
static bool paint_frame(struct piece *p, struct text *out)
{
	size_t indent = spaces(p);

	if (find(p, "=> ") != indent)
		return false;
	take(p, indent + 3, COLOR_FAINT, out);
	take_rest(p, COLOR_FUNCTION, out);
	return true;
}

static void paint_trace(struct piece p, struct text *out)
{
	size_t end = time_end(&p), mark = delay_mark(&p), bar = find(&p, "|  ");

	if (begins(&p, "#")) {
		take_rest(&p, COLOR_FAINT, out);
	} else if (paint_frame(&p, out)) {
		return;
	} else if (end) {
		take(&p, end, COLOR_NONE, out);
		paint_entry(p, out);
	} else if (mark) {
		paint_delay(p, mark, out);
	} else if (bar != SIZE_MAX) {
		paint_graph(p, bar, out);
	} else {
		take_rest(&p, COLOR_NONE, out);
	}
}

/* --- tables ------------------------------------------------------------------------------- */

/* What is not of a table's rows: rows begin with a number, or "-". False: it is one. */
static bool paint_heading(struct piece *p, struct text *out)
{
	size_t indent = spaces(p);

	if (begins(p, "#"))
		take_rest(p, COLOR_FAINT, out);
	else if (indent < p->len && isupper((unsigned char)p->at[indent]))
		take_rest(p, COLOR_HEADING, out);
	else
		return false;
	return true;
}

static void paint_calls(struct piece p, struct text *out)
{
	size_t indent = spaces(&p), name = p.len;

	if (paint_heading(&p, out))
		return;
	while (name && !strchr(" -|`", p.at[name - 1]))
		name--;
	if (indent == p.len || !isdigit((unsigned char)p.at[indent]))
		name = p.len;
	take(&p, name, COLOR_NONE, out);
	take_rest(&p, COLOR_FUNCTION, out);
}

static void paint_windows(struct piece p, struct text *out)
{
	size_t arrow, begin;

	if (paint_heading(&p, out) || paint_frame(&p, out))
		return;
	arrow = find(&p, " -> ");
	for (begin = arrow == SIZE_MAX ? 0 : arrow; begin && p.at[begin - 1] != ' '; begin--)
		;
	take(&p, begin, COLOR_NONE, out);
	if (arrow != SIZE_MAX) {
		take(&p, arrow - begin, COLOR_FUNCTION, out);
		take(&p, strlen(" -> "), COLOR_FAINT, out);
	}
	take_rest(&p, arrow == SIZE_MAX ? COLOR_NONE : COLOR_FUNCTION, out);
}

/* ID, NAME, STATE, ... */
static void paint_guests(struct piece p, struct text *out)
{
	if (paint_heading(&p, out))
		return;
	take(&p, until(&p, " "), COLOR_NONE, out);
	take(&p, spaces(&p), COLOR_NONE, out);
	take(&p, until(&p, " "), COLOR_FUNCTION, out);
	take(&p, spaces(&p), COLOR_NONE, out);
	take(&p, until(&p, " "), begins(&p, "traced") ? COLOR_GOOD : COLOR_NONE, out);
	take_rest(&p, COLOR_NONE, out);
}

/* "sched:sched_switch", or with its kind in brackets, as functions have it, too. */
static void paint_events(struct piece p, struct text *out)
{
	size_t name = until(&p, " "), colon = until(&p, ":");
	bool alone = name == p.len, kind = !alone && p.at[p.len - 1] == ']';

	if (p.len && (alone || kind) && colon + 1 < name) {
		take(&p, colon + 1, COLOR_FAINT, out);
		take(&p, name - colon - 1, COLOR_EVENT, out);
	} else if (kind && colon > name) {
		take(&p, name, COLOR_FUNCTION, out);
	}
	take_rest(&p, kind ? COLOR_FAINT : COLOR_NONE, out);
}

/* "NAME", as wide as it is, " verdict", "  text"; the last line of all is none. */
static void paint_checks(struct piece p, struct text *out)
{
	static const struct {
		const char *word;
		enum color color;
	} verdicts[] = {{" ok", COLOR_GOOD}, {" FAILED", COLOR_BAD}, {" not tried", COLOR_WARN}};
	enum { NAME = 24 };
	bool row = p.len > NAME && p.at[NAME] == ' ';

	take(&p, row ? NAME : 0, COLOR_NONE, out);
	for (size_t i = 0; row && i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (begins(&p, verdicts[i].word))
			take(&p, strlen(verdicts[i].word), verdicts[i].color, out);
	take_rest(&p, row ? COLOR_NONE : COLOR_HEADING, out);
}

void paint_line(enum paint as, const char *line, size_t len, struct text *out)
{
	static void (*const painters[])(struct piece, struct text *) = {
		[PAINT_MESSAGE] = paint_message, [PAINT_TRACE] = paint_trace,
		[PAINT_CALLS] = paint_calls,	 [PAINT_WINDOWS] = paint_windows,
		[PAINT_GUESTS] = paint_guests,	 [PAINT_EVENTS] = paint_events,
		[PAINT_CHECKS] = paint_checks,
	};

	if (as == PAINT_NOTHING)
		text_add(out, line, len);
	else
		painters[as]((struct piece){line, len}, out);
}
