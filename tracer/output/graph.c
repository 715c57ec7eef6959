// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * graph.c - prints events in the form of the tracer function_graph, a call tree for each CPU
 * (kernel/trace/trace_functions_graph.c, 6.1).
 */
#include "tracer/output/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	DEPTH_MAX = 50,	    /* FTRACE_RETFUNC_DEPTH: the calls that are remembered */
	DEPTH_SHOWN = 1000, /* deeper ones stand no further to the right */
	COLUMNS_MAX = 128,  /* bytes: all that is left of a function */
	TASK_NAME = 7,
	TASK_COLUMNS = 14,
	DURATION_DIGITS = 7,
};

/* What has been printed of a CPU. */
struct graph_cpu {
	int32_t pid;		     /* of the event printed last; -1: none */
	int depth;		     /* of the call that comments are in */
	int irq_depth;		     /* of the interrupt that is not printed, or -1 */
	uint64_t entered[DEPTH_MAX]; /* functions whose return is to come; 0: none */
};

struct output_graph {
	unsigned int nr;
	struct graph_cpu cpu[];
};

struct output_graph *output_graph_new(unsigned int cpus)
{
	struct output_graph *g = calloc(1, sizeof(*g) + cpus * sizeof(g->cpu[0]));

	if (!g)
		return NULL;
	g->nr = cpus;
	for (unsigned int i = 0; i < cpus; i++)
		g->cpu[i].pid = g->cpu[i].irq_depth = -1;
	return g;
}

void output_graph_free(struct output_graph *graph)
{
	free(graph);
}

/* NULL: events of it are printed as if each were the first. */
static struct graph_cpu *graph_cpu(const struct output *o)
{
	return o->graph && o->cpu < o->graph->nr ? &o->graph->cpu[o->cpu] : NULL;
}

static bool graph_option(const struct output *o, enum output_graph_option option)
{
	return o->cfg.graph_options & option;
}

/* --- columns ------------------------------------------------------------------------------ */

static char *put_blanks(char *at, int nr)
{
	if (nr <= 0)
		return at;
	return (char *)memset(at, ' ', (size_t)nr) + nr;
}

static char *put_bytes(char *at, const char *bytes, size_t len)
{
	return (char *)memcpy(at, bytes, len) + len;
}

static char *put_cpu(char *at, const struct output *o)
{
	unsigned int width = 1;

	for (unsigned int last = o->cfg.cpus ? o->cfg.cpus - 1 : 0; last > 9; last /= 10)
		width++;
	*at++ = ' ';
	at = text_put_dec(at, o->cpu, width, ' ');
	return put_bytes(at, ") ", 2);
}

/* "  rcu_pre-15   ": in the middle of its column, the odd blank behind it */
static char *put_task(char *at, const struct output *o, int32_t pid)
{
	char comm[COMM_LEN], task[TASK_NAME + 16], *end = task;
	int blanks;

	comms_find(o->cfg.comms, pid, comm);
	end = put_bytes(end, comm, strnlen(comm, TASK_NAME));
	*end++ = '-';
	if (pid < 0)
		*end++ = '-';
	end = text_put_dec(end, pid < 0 ? -(uint64_t)pid : (uint64_t)pid, 0, ' ');
	blanks = TASK_COLUMNS - (int)(end - task);
	if (blanks < 0)
		blanks = 0;
	at = put_blanks(at, blanks / 2);
	at = put_bytes(at, task, (size_t)(end - task));
	return put_blanks(at, blanks - blanks / 2);
}

static char *put_abstime(char *at, uint64_t ts)
{
	at = text_put_dec(at, ts / 1000000000, 5, ' ');
	*at++ = '.';
	at = text_put_dec(at, ts % 1000000000 / 1000, 6, '0');
	return put_bytes(at, " |  ", 4);
}

static char *put_reltime(char *at, const struct output *o, uint64_t ts)
{
	at = text_put_dec(at, (ts - o->cfg.time_start) / 1000, 9, ' ');
	return put_bytes(at, " us |  ", 7);
}

static char *put_flags(char *at, const struct trace_entry *ent)
{
	*at++ = ' ';
	at = output_put_flags(at, ent);
	return put_bytes(at, " | ", 3);
}

/* All that is left of the duration. */
static char *put_context(char *at, const struct output *o, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;

	if (!output_option(o, OUTPUT_CONTEXT_INFO))
		return at;
	if (graph_option(o, OUTPUT_GRAPH_ABSTIME))
		at = put_abstime(at, ev->ts);
	if (graph_option(o, OUTPUT_GRAPH_RELTIME))
		at = put_reltime(at, o, ev->ts);
	if (graph_option(o, OUTPUT_GRAPH_CPU))
		at = put_cpu(at, o);
	if (graph_option(o, OUTPUT_GRAPH_PROC)) {
		at = put_task(at, o, ent->pid);
		at = put_bytes(at, " | ", 3);
	}
	if (o->options & OUTPUT_LATENCY_FORMAT)
		at = put_flags(at, ent);
	return at;
}

char *output_put_usecs(char *at, uint64_t ns)
{
	char *start = at, digits[8];
	int len, fraction;

	at = text_put_dec(at, ns / 1000, 0, ' ');
	len = (int)(at - start);
	fraction = DURATION_DIGITS - len;
	if (fraction > 0) {
		text_put_dec(digits, ns % 1000, 3, '0');
		if (fraction > 3)
			fraction = 3;
		*at++ = '.';
		at = put_bytes(at, digits, (size_t)fraction);
		len += fraction + 1;
	}
	at = put_bytes(at, " us ", 4);
	return put_blanks(at, DURATION_DIGITS + 1 - len);
}

static bool has_duration(const struct output *o)
{
	return graph_option(o, OUTPUT_GRAPH_DURATION) && output_option(o, OUTPUT_CONTEXT_INFO);
}

static char *put_duration(char *at, const struct output *o, uint64_t ns)
{
	if (!has_duration(o))
		return at;
	*at++ = graph_option(o, OUTPUT_GRAPH_OVERHEAD) ? output_delay_mark(ns) : ' ';
	*at++ = ' ';
	at = output_put_usecs(at, ns);
	return put_bytes(at, "|  ", 3);
}

static char *put_no_duration(char *at, const struct output *o)
{
	static const char blank[] = "              |  ";

	return has_duration(o) ? put_bytes(at, blank, sizeof(blank) - 1) : at;
}

static int indent_of(int depth)
{
	if (depth > DEPTH_SHOWN)
		depth = DEPTH_SHOWN;
	return depth > 0 ? depth * 2 : 0;
}

/* Everything before a function; ns NULL: without a duration. */
static void print_columns(struct output *o, const struct ring_event *ev, const uint64_t *ns,
			  int depth)
{
	int indent = indent_of(depth);
	char *at = text_begin(o->text, COLUMNS_MAX + (size_t)indent);

	if (!at)
		return;
	at = put_context(at, o, ev);
	at = ns ? put_duration(at, o, *ns) : put_no_duration(at, o);
	text_end(o->text, put_blanks(at, indent));
}

/* --- what stands between calls ------------------------------------------------------------ */

/* Another task than that of the event before. */
static void print_switch(struct output *o, int32_t pid)
{
	static const char line[] = " ------------------------------------------\n";
	struct graph_cpu *c = graph_cpu(o);
	int32_t before;
	char *at;

	if (!c || c->pid == pid)
		return;
	before = c->pid;
	c->pid = pid;
	if (before == -1)
		return;
	at = text_begin(o->text, 2 * sizeof(line) + COLUMNS_MAX);
	if (!at)
		return;
	at = put_bytes(at, line, sizeof(line) - 1);
	at = put_cpu(at, o);
	at = put_task(at, o, before);
	at = put_bytes(at, " => ", 4);
	at = put_task(at, o, pid);
	*at++ = '\n';
	at = put_bytes(at, line, sizeof(line) - 1);
	*at++ = '\n';
	text_end(o->text, at);
}

static bool is_irq_entry(const struct output *o, uint64_t func)
{
	uint64_t start = o->cfg.irqentry_start;

	return start && func >= start && func < o->cfg.irqentry_end;
}

/* The way into an interrupt, or back from it. */
static void print_arrow(struct output *o, const struct ring_event *ev, uint64_t func,
			const char *arrow)
{
	bool wide = has_duration(o);
	char *at;

	if (!is_irq_entry(o, func))
		return;
	at = text_begin(o->text, COLUMNS_MAX);
	if (!at)
		return;
	at = put_context(at, o, ev);
	at = put_blanks(at, wide ? 2 : 0);
	at = put_bytes(at, arrow, strlen(arrow));
	at = put_bytes(at, " |", wide ? 2 : 0);
	*at++ = '\n';
	text_end(o->text, at);
}

/* --- interrupts that are not to be seen --------------------------------------------------- */

static bool skips_irqs(const struct output *o, const struct graph_cpu *c)
{
	return c && !graph_option(o, OUTPUT_GRAPH_IRQS);
}

/* This call is an interrupt, or in one. */
static bool skip_entry(const struct output *o, struct graph_cpu *c, uint64_t func, int depth)
{
	if (!skips_irqs(o, c))
		return false;
	if (c->irq_depth < 0 && is_irq_entry(o, func))
		c->irq_depth = depth > 0 ? depth : 0;
	return c->irq_depth >= 0;
}

static bool skip_return(const struct output *o, struct graph_cpu *c, int depth)
{
	if (!skips_irqs(o, c) || c->irq_depth < 0)
		return false;
	/* The interrupt's own return, or one around it whose return was lost. */
	if (c->irq_depth >= depth)
		c->irq_depth = -1;
	return true;
}

/* --- calls -------------------------------------------------------------------------------- */

static bool is_remembered(int depth)
{
	return depth >= 0 && depth < DEPTH_MAX;
}

static void note_entry(struct graph_cpu *c, const struct trace_graph_entry *e)
{
	c->depth = e->depth;
	if (is_remembered(e->depth))
		c->entered[e->depth] = e->func;
}

/* Also of a leaf. Whether its entry was printed; it is not known of deep ones. */
static bool note_return(struct graph_cpu *c, int depth, uint64_t func)
{
	bool entered = true;

	c->depth = depth > 0 ? depth - 1 : 0; /* comments stand where the brace does */
	if (is_remembered(depth)) {
		entered = c->entered[depth] == func;
		c->entered[depth] = 0;
	}
	return entered;
}

static void print_nested(struct output *o, const struct ring_event *ev)
{
	const struct trace_graph_entry *e = ev->data;
	struct graph_cpu *c = graph_cpu(o);

	if (c)
		note_entry(c, e);
	print_columns(o, ev, NULL, e->depth);
	output_name(o, e->func);
	text_add(o->text, "() {\n", 5);
}

static void print_leaf(struct output *o, const struct ring_event *ev,
		       const struct trace_graph_exit *ret)
{
	const struct trace_graph_entry *e = ev->data;
	uint64_t ns = ret->rettime - ret->calltime;
	struct graph_cpu *c = graph_cpu(o);

	if (c)
		note_return(c, e->depth, e->func);
	print_columns(o, ev, &ns, e->depth);
	output_name(o, e->func);
	text_add(o->text, "();\n", 4);
	print_arrow(o, ev, ret->func, "<==========");
}

static void print_return(struct output *o, const struct ring_event *ev);

static void print_entry(struct output *o, const struct ring_event *ev)
{
	const struct trace_graph_entry *e = ev->data;

	if (skip_entry(o, graph_cpu(o), e->func, e->depth)) {
		if (o->ret)
			print_return(o, o->ret);
		return;
	}
	print_switch(o, e->ent.pid);
	print_arrow(o, ev, e->func, "==========>");
	if (o->ret)
		print_leaf(o, ev, o->ret->data);
	else
		print_nested(o, ev);
}

static void print_return(struct output *o, const struct ring_event *ev)
{
	const struct trace_graph_exit *e = ev->data;
	uint64_t ns = e->rettime - e->calltime;
	struct graph_cpu *c = graph_cpu(o);
	bool entered;

	if (skip_return(o, c, e->depth))
		return;
	entered = !c || note_return(c, e->depth, e->func);
	print_switch(o, e->ent.pid);
	print_columns(o, ev, &ns, e->depth);
	if (entered && !graph_option(o, OUTPUT_GRAPH_TAIL)) {
		text_add(o->text, "}\n", 2);
	} else {
		/* Its entry was lost, or is somewhere else. */
		text_puts(o->text, "} /* ");
		output_name(o, e->func);
		text_puts(o->text, " */\n");
	}
	if (graph_option(o, OUTPUT_GRAPH_OVERRUN))
		text_printf(o->text, " (Overruns: %u)\n", e->overrun);
	print_arrow(o, ev, e->func, "<==========");
}

const struct entry_ops graph_entry_ops = {
	.len = sizeof(struct trace_graph_entry),
	.trace = print_entry,
};

const struct entry_ops graph_exit_ops = {
	.len = sizeof(struct trace_graph_exit),
	.trace = print_return,
};

/* --- other events ------------------------------------------------------------------------- */

static void strip_newline(struct text *t)
{
	if (t->len && t->buf[t->len - 1] == '\n')
		t->len--;
}

static int comment_depth(const struct graph_cpu *c)
{
	return c->depth > 0 && c->depth < DEPTH_SHOWN ? c->depth + 1 : c->depth;
}

/* One of an unknown type is begun, and then goes on in the common form: so does the kernel. */
static bool print_comment(struct output *o, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = output_entry_find(o, ev);
	const struct graph_cpu *c = graph_cpu(o);

	print_switch(o, ent->pid);
	print_columns(o, ev, NULL, c ? comment_depth(c) : 0);
	text_puts(o->text, "/* ");
	if (!ops)
		return false;
	if (ops->msg_only)
		ops->msg_only(o, ev);
	else
		ops->trace(o, ev);
	strip_newline(o->text);
	text_puts(o->text, " */\n");
	return true;
}

bool output_graph_event(struct output *o, const struct ring_event *ev)
{
	const struct entry_ops *ops = output_entry_find(o, ev);

	switch (((const struct trace_entry *)ev->data)->type) {
	case TRACE_GRAPH_ENT:
	case TRACE_GRAPH_RET:
		if (!ops)
			return false;
		ops->trace(o, ev);
		return true;
	case TRACE_STACK:
	case TRACE_FN:
		return false;
	default:
		return print_comment(o, ev);
	}
}
