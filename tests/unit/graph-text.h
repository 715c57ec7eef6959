/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph-text.h - understands what the kernel's function_graph has printed: its lines are made into
 * the entries that it had recorded.
 *
 * Which task a line is of is seen from where tasks change; a brace without a name closes what this
 * CPU has open at its depth.
 */
#ifndef HVTRACE_TESTS_GRAPH_TEXT_H
#define HVTRACE_TESTS_GRAPH_TEXT_H

#include "tests/unit/output-world.h"

#include <inttypes.h>

enum { GRAPH_CPUS = 2, GRAPH_DEPTH = 50 };

/* What REL TIME counts from. */
#define GRAPH_TIME_START UINT64_C(1000000000)

struct graph_line {
	unsigned int cpu;
	uint64_t ts;
	union {
		struct trace_entry ent;
		struct trace_graph_entry entry;
		struct trace_graph_exit exit;
		struct trace_print_entry print;
		struct trace_stack_entry stack;
		uint8_t bytes[512];
	};
	size_t len;
};

struct graph_text {
	struct world *w;
	uint32_t options, graph_options;
	struct graph_line line[256];
	size_t nr;
	int32_t pid[GRAPH_CPUS];
	uint64_t open[GRAPH_CPUS][GRAPH_DEPTH];
};

static inline uint64_t graph_symbol(struct world *w, const char *name, size_t len)
{
	for (size_t i = 0; i < w->nr; i++)
		if (strlen(w->sym[i].name) == len && !memcmp(w->sym[i].name, name, len))
			return w->sym[i].addr;
	world_add(w, UINT64_C(0xffffffff90000000) + w->nr * 0x100, 0x100, "");
	assert_true(len < sizeof(w->sym[0].name));
	memcpy(w->sym[w->nr - 1].name, name, len);
	return w->sym[w->nr - 1].addr;
}

/* "   gt-351    "; returns its pid. */
static inline int32_t graph_task(struct world *w, const char *at)
{
	const char *name = at + strspn(at, " "), *dash = name;
	char comm[COMM_LEN] = "", known[COMM_LEN];
	int32_t pid;

	for (size_t i = 0; name[i] && name[i] != ' '; i++)
		if (name[i] == '-')
			dash = name + i;
	memcpy(comm, name, (size_t)(dash - name));
	pid = atoi(dash + 1);
	comms_find(w->comms, pid, known);
	/* Another line may have room for more of it. */
	if (pid && strncmp(known, comm, strlen(comm)))
		world_note(w, pid, pid, comm);
	return pid;
}

/* " 0)    <idle>-0    =>     gt-351    ": false when the line is not one of those. */
static inline bool graph_switch(struct world *w, const char *line, unsigned int *cpu, int32_t *from,
				int32_t *to)
{
	const char *arrow = memmem(line, (size_t)(next_line(line) - line), " => ", 4);

	if (!arrow)
		return false;
	*cpu = (unsigned int)atoi(line);
	assert_true(*cpu < GRAPH_CPUS);
	*from = graph_task(w, strchr(line, ')') + 1);
	*to = graph_task(w, arrow + 4);
	return true;
}

/* Whom each CPU begins with: the first change tells. */
static inline void graph_first_tasks(struct graph_text *g, const char *text)
{
	bool known[GRAPH_CPUS] = {false};
	unsigned int cpu;
	int32_t from, to;

	for (; *text; text = next_line(text))
		if (strncmp(text, " => ", 4) && graph_switch(g->w, text, &cpu, &from, &to) &&
		    !known[cpu]) {
			g->pid[cpu] = from;
			known[cpu] = true;
		}
}

/* "! 145.117 us  |" or blanks; returns what is behind the column. */
static inline const char *graph_duration(const char *at, uint64_t *ns)
{
	unsigned long us;
	char fraction[8] = "";
	int n = sscanf(at, "%*[+!#*@$]%lu.%7[0-9]", &us, fraction);

	if (n <= 0)
		n = sscanf(at, " %*[+!#*@$ ] %lu.%7[0-9]", &us, fraction);
	if (n <= 0)
		n = sscanf(at, "%*[+!#*@$ ]%lu.%7[0-9]", &us, fraction);
	*ns = 0;
	if (n > 0) {
		memcpy(fraction + strlen(fraction), "000", 4);
		fraction[3] = '\0';
		*ns = us * 1000 + strtoul(fraction, NULL, 10);
	}
	return strstr(at, "|  ") + 3;
}

/* The columns; returns where the function stands, without its indentation. */
static inline const char *graph_columns(struct graph_text *g, struct graph_line *l,
					const char *line, uint64_t *ns, int *depth)
{
	unsigned long secs, usecs;
	const char *at = line;

	if (g->graph_options & OUTPUT_GRAPH_ABSTIME) {
		assert_int_equal(sscanf(at, "%lu.%lu", &secs, &usecs), 2);
		l->ts = (secs * 1000000 + usecs) * 1000;
		at = strchr(at, '|') + 1;
	}
	if (g->graph_options & OUTPUT_GRAPH_RELTIME) {
		assert_int_equal(sscanf(at, "%lu us |", &usecs), 1);
		l->ts = GRAPH_TIME_START + usecs * 1000;
		at = strchr(at, '|') + 1;
	}
	l->cpu = (unsigned int)atoi(at);
	assert_true(l->cpu < GRAPH_CPUS);
	at = strchr(at, ')') + 2;
	l->ent.pid = g->pid[l->cpu];
	if (g->graph_options & OUTPUT_GRAPH_PROC) {
		l->ent.pid = graph_task(g->w, at);
		at = strchr(at, '|') + 2;
	}
	if (g->options & OUTPUT_LATENCY_FORMAT) {
		world_flags(at + 1, &l->ent);
		at = strchr(at, '|') + 2;
	}
	at = graph_duration(at, ns);
	*depth = (int)strspn(at, " ") / 2;
	return at + strspn(at, " ");
}

static inline struct graph_line *graph_add(struct graph_text *g, const struct graph_line *like,
					   uint16_t type, size_t len)
{
	struct graph_line *l = &g->line[g->nr++];

	assert_true(g->nr <= sizeof(g->line) / sizeof(g->line[0]));
	*l = *like;
	l->ent.type = type;
	l->len = len;
	/* In the order of the lines, whatever is rounded off. */
	l->ts += like->ts ? g->nr : g->nr * 1000;
	return l;
}

static inline void graph_add_entry(struct graph_text *g, const struct graph_line *like,
				   uint64_t func, int depth)
{
	struct graph_line *l = graph_add(g, like, TRACE_GRAPH_ENT, sizeof(l->entry));

	l->entry.func = func;
	l->entry.depth = depth;
}

static inline void graph_add_exit(struct graph_text *g, const struct graph_line *like,
				  uint64_t func, int depth, uint64_t ns)
{
	struct graph_line *l = graph_add(g, like, TRACE_GRAPH_RET, sizeof(l->exit));

	l->exit.func = func;
	l->exit.depth = depth;
	l->exit.calltime = l->ts;
	l->exit.rettime = l->ts + ns;
}

/* A brace with a comment that names the function, or alone. */
static inline void graph_close(struct graph_text *g, const struct graph_line *like, const char *at,
			       int depth, uint64_t ns)
{
	uint64_t *opened = &g->open[like->cpu][depth], func = *opened;

	if (at[1] != '\n')
		func = graph_symbol(g->w, at + 5, strcspn(at + 5, " "));
	*opened = 0;
	graph_add_exit(g, like, func, depth, ns);
}

static inline void graph_comment(struct graph_text *g, const struct graph_line *like,
				 const char *at)
{
	size_t len = (size_t)(next_line(at) - at) - strlen("/*  */\n");
	struct graph_line *l = graph_add(g, like, TRACE_PRINT, sizeof(l->print) + len + 2);

	assert_true(l->len <= sizeof(l->bytes));
	l->print.ip = 0;
	memcpy(l->print.buf, at + 3, len);
	memcpy(l->print.buf + len, "\n", 2);
}

static inline void graph_parse_line(struct graph_text *g, const char *line)
{
	struct graph_line like = {0};
	uint64_t ns, func;
	const char *at;
	size_t name;
	int depth;

	at = graph_columns(g, &like, line, &ns, &depth);
	name = strcspn(at, "(\n");
	if (*at == '}') {
		graph_close(g, &like, at, depth, ns);
	} else if (*at == '/') {
		graph_comment(g, &like, at);
	} else {
		func = graph_symbol(g->w, at, name);
		g->open[like.cpu][depth] = at[name + 2] == ';' ? 0 : func;
		graph_add_entry(g, &like, func, depth);
		if (at[name + 2] == ';')
			graph_add_exit(g, &like, func, depth, ns);
	}
}

/*
 * "rcu_pree-13        0d..1. 29763us : <stack trace>", of latency-format, and the places below it.
 * False: there is none here. Otherwise *text is its last line.
 */
static inline bool graph_stack(struct graph_text *g, const char **text)
{
	const char *line = *text, *next = next_line(line);
	struct graph_line like = {0}, *l;
	unsigned long usecs;
	char flags[8];

	if (!memmem(line, (size_t)(next - line), "<stack trace>", 13))
		return false;
	assert_int_equal(sscanf(line, "%*s %u%5[^ ] %luus", &like.cpu, flags, &usecs), 3);
	assert_true(like.cpu < GRAPH_CPUS);
	like.ent.pid = graph_task(g->w, line);
	world_flags(flags, &like.ent);
	like.ts = GRAPH_TIME_START + usecs * 1000;
	l = graph_add(g, &like, TRACE_STACK, sizeof(l->stack));
	for (; !strncmp(next, " => ", 4); next = next_line(next)) {
		uint64_t caller = graph_symbol(g->w, next + 4, strcspn(next + 4, "\n"));

		assert_true(l->len + sizeof(caller) <= sizeof(l->bytes));
		memcpy(l->bytes + l->len, &caller, sizeof(caller));
		l->len += sizeof(caller);
		l->stack.size++;
		*text = next;
	}
	return true;
}

/* All of a text, behind its header. */
static inline void graph_parse(struct graph_text *g, const char *text)
{
	unsigned int cpu;
	int32_t from, to;

	graph_first_tasks(g, text);
	for (; *text; text = next_line(text)) {
		if (*text == '\n' || !strncmp(text, " ---", 4) || graph_stack(g, &text))
			continue;
		if (graph_switch(g->w, text, &cpu, &from, &to)) {
			assert_int_equal(g->pid[cpu], from);
			g->pid[cpu] = to;
		} else {
			graph_parse_line(g, text);
		}
	}
}

#endif
