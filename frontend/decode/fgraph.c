// SPDX-License-Identifier: GPL-2.0-or-later
/* fgraph.c - see fgraph.h: the same text as libtracecmd's, which trace-cmd report prints. */
#include "frontend/decode/fgraph.h"

#include <stdio.h>
#include <string.h>

enum {
	INDENT = 2,
	DEPTH_MAX = 1024, /* deeper than any stack; what says more lies */
	TIME_DIGITS = 7,  /* a duration takes so many; a longer one has no fraction */
};

/* --- parts of a line ---------------------------------------------------------------------------
 */

static void put_overhead(struct trace_seq *s, uint64_t ns)
{
	static const struct {
		uint64_t above;
		const char *mark;
	} marks[] = {{1000000000, "$ "}, {1000000, "# "}, {100000, "! "}, {10000, "+ "}};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		if (ns <= marks[i].above)
			continue;
		trace_seq_puts(s, marks[i].mark);
		return;
	}
	trace_seq_puts(s, "  ");
}

static void put_duration(struct trace_seq *s, uint64_t ns)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)(ns / 1000));

	if (len < TIME_DIGITS)
		len += snprintf(text + len, sizeof(text) - (size_t)len, ".%03u",
				(unsigned int)(ns % 1000));
	trace_seq_printf(s, "%s us %*s|  ", text, len < TIME_DIGITS ? TIME_DIGITS - len : 0, "");
}

static void put_indent(struct trace_seq *s, uint64_t depth)
{
	trace_seq_printf(s, "%*s", (int)(depth < DEPTH_MAX ? depth : DEPTH_MAX) * INDENT, "");
}

static void put_function(const struct fgraph *g, struct trace_seq *s, uint64_t addr,
			 const char *what)
{
	const char *name = tep_find_function(formats_tep(g->formats), addr);

	if (name)
		trace_seq_puts(s, name);
	else
		trace_seq_printf(s, "%llx", (unsigned long long)addr);
	trace_seq_puts(s, what);
}

static void put_depth(const struct fgraph *g, struct trace_seq *s, uint64_t depth)
{
	if (g->depth)
		trace_seq_printf(s, " (%lld)", (long long)depth);
}

/* --- events ------------------------------------------------------------------------------------
 */

/* How long a call took. False: the record does not tell. */
static bool duration_of(const struct fgraph *g, const struct decode_event *exit, uint64_t *ns)
{
	uint64_t calltime, rettime;

	if (!formats_number(g->exit_calltime, exit, &calltime) ||
	    !formats_number(g->exit_rettime, exit, &rettime))
		return false;
	*ns = rettime - calltime;
	return true;
}

/* Whether the next record is the end of the call that is printed: then it is taken. */
static bool take_exit(const struct fgraph *g, int pid, uint64_t func, uint64_t *ns)
{
	const struct decode_event *next = records_peek(g->events);
	uint64_t of;

	if (!next || next->id != g->exit_id || next->pid != pid ||
	    !formats_number(g->exit_func, next, &of) || of != func || !duration_of(g, next, ns))
		return false;
	records_take(g->events);
	return true;
}

static int print_entry(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		       void *context)
{
	const struct fgraph *g = context;
	uint64_t func, depth, ns;

	(void)record;
	(void)event;
	if (!formats_number(g->entry_func, g->now, &func) ||
	    !formats_number(g->entry_depth, g->now, &depth))
		return trace_seq_putc(s, '!');
	if (take_exit(g, g->now->pid, func, &ns)) {
		put_overhead(s, ns);
		put_duration(s, ns);
		put_indent(s, depth);
		put_function(g, s, func, "();");
	} else {
		trace_seq_puts(s, "             |  ");
		put_indent(s, depth);
		put_function(g, s, func, "() {");
	}
	put_depth(g, s, depth);
	return 0;
}

static int print_exit(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		      void *context)
{
	const struct fgraph *g = context;
	uint64_t func, depth, ns;
	const char *name;

	(void)record;
	(void)event;
	if (!duration_of(g, g->now, &ns) || !formats_number(g->exit_depth, g->now, &depth))
		return trace_seq_putc(s, '!');
	put_overhead(s, ns);
	put_duration(s, ns);
	put_indent(s, depth);
	trace_seq_putc(s, '}');
	if (g->tail) {
		if (!formats_number(g->exit_func, g->now, &func))
			return 0;
		name = tep_find_function(formats_tep(g->formats), func);
		if (!name)
			return 0;
		trace_seq_printf(s, " /* %s */", name);
	}
	put_depth(g, s, depth);
	return 0;
}

/* Where there is no plugin for it. */
static void put_address(struct trace_seq *s, struct tep_event *event,
			const struct decode_event *now, const char *field, const char *what)
{
	const char *name;
	uint64_t addr;

	if (!formats_number(tep_find_field(event, field), now, &addr)) {
		trace_seq_putc(s, '!');
		return;
	}
	name = tep_find_function(event->tep, addr);
	if (name)
		trace_seq_printf(s, "%s%s", name, what);
	else
		trace_seq_printf(s, "0x%llx", (unsigned long long)addr);
}

static int print_function(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
			  void *context)
{
	const struct fgraph *g = context;

	(void)record;
	put_address(s, event, g->now, "ip", " <-- ");
	put_address(s, event, g->now, "parent_ip", "");
	return 0;
}

static const char ftrace[] = "ftrace", entry_name[] = "funcgraph_entry";
static const char exit_name[] = "funcgraph_exit", function_name[] = "function";

void fgraph_register(struct fgraph *g)
{
	struct tep_handle *tep = formats_tep(g->formats);
	struct tep_event *entry = tep_find_event_by_name(tep, ftrace, entry_name);
	struct tep_event *exit = tep_find_event_by_name(tep, ftrace, exit_name);
	struct tep_event *function = tep_find_event_by_name(tep, ftrace, function_name);

	if (function && !function->handler)
		tep_register_event_handler(tep, -1, ftrace, function_name, print_function, g);
	if (!entry || !exit)
		return;
	g->exit_id = exit->id;
	g->entry_func = tep_find_field(entry, "func");
	g->entry_depth = tep_find_field(entry, "depth");
	g->exit_func = tep_find_field(exit, "func");
	g->exit_depth = tep_find_field(exit, "depth");
	g->exit_calltime = tep_find_field(exit, "calltime");
	g->exit_rettime = tep_find_field(exit, "rettime");
	tep_register_event_handler(tep, -1, ftrace, entry_name, print_entry, g);
	tep_register_event_handler(tep, -1, ftrace, exit_name, print_exit, g);
}

void fgraph_unregister(struct fgraph *g)
{
	struct tep_handle *tep = formats_tep(g->formats);

	tep_unregister_event_handler(tep, -1, ftrace, function_name, print_function, g);
	tep_unregister_event_handler(tep, -1, ftrace, entry_name, print_entry, g);
	tep_unregister_event_handler(tep, -1, ftrace, exit_name, print_exit, g);
}
