// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * windows.c - how long interrupts or preemption are off, as events of preemptirq tell, or the
 * snapshot that a tracer such as irqsoff leaves: the longest window, with the functions in it and a
 * stack at its end.
 */
#include "frontend/jobs/local.h"

#include "frontend/decode/fields.h"

#include <stdlib.h>
#include <string.h>

/* common_flags and common_preempt_count: include/linux/trace_events.h of the kernel */
enum { FLAGS_AT = 2, COUNT_AT = 3, FLAG_IRQS_OFF = 1, COUNT_MASK = 15 };

struct open {
	bool open;
	uint64_t from, caller;
};

/* What all records so far would be, were it a snapshot. */
struct snapshot {
	bool broken; /* it is none */
	bool irqs, preempt, stack;
	unsigned int cpu;
	uint64_t nr, from, to, first, last;
};

struct windows {
	struct open irqs[DAT_CPUS_MAX], preempt[DAT_CPUS_MAX];
	uint64_t stext; /* what places in the events are relative to */
	bool want_irqs, want_preempt;
	struct snapshot snapshot;
	struct text stack_text;			  /* of the snapshot */
	const struct tep_event *function, *stack; /* NULL: the file has none */
	const struct tep_format_field *ip;
};

/* Where the kernel's text begins: "ffffffff81000000 T _stext". 0: the file does not say. */
static uint64_t find_stext(const struct dat_text *kallsyms)
{
	static const char name[] = " T _stext\n";
	const char *at = kallsyms->text ? strstr(kallsyms->text, name) : NULL;

	if (!at || at - kallsyms->text < 16)
		return 0;
	return strtoull(at - 16, NULL, 16);
}

static bool begin(struct work *w)
{
	struct windows *x = calloc(1, sizeof(*x));
	struct tep_handle *tep = formats_tep(w->in->formats);
	const char *kind = w->cfg->kind;
	struct tep_event *function;

	w->own = x;
	if (!x)
		return false;
	x->stext = find_stext(&dat_info(w->in->dat)->kallsyms);
	x->want_preempt = !kind || !strncmp(kind, "preempt", 7);
	x->want_irqs = !kind || strstr(kind, "irqsoff");
	function = tep_find_event_by_name(tep, "ftrace", "function");
	x->function = function;
	x->ip = function ? tep_find_field(function, "ip") : NULL;
	x->stack = tep_find_event_by_name(tep, "ftrace", "kernel_stack");
	x->snapshot.irqs = x->snapshot.preempt = true;
	return true;
}

/* --- windows ------------------------------------------------------------------------------------
 */

static struct latency_row *add_window(struct work *w, uint64_t from, uint64_t to, uint64_t ns)
{
	char one[24], other[24];
	struct latency_row *row = rows_get(&w->rows, from * UINT64_C(0x9e3779b97f4a7c15) ^ to,
					   job_function(w, from, one), job_function(w, to, other));

	w->failed |= !row;
	if (row)
		latency_add(row, ns);
	return row;
}

static uint64_t caller_of(const struct windows *x, const struct tep_format_field *field,
			  const struct decode_event *ev)
{
	struct field_bytes at;

	if (!field)
		return 0;
	at = fields_bytes(field, ev);
	return fields_is_number(at.len) ? x->stext + (uint64_t)fields_number(field, at.at, at.len)
					: 0;
}

static void opens(struct work *w, struct open *o, const struct tep_format_field *caller,
		  const struct decode_event *ev)
{
	if (o->open)
		return;
	*o = (struct open){true, ev->time, caller_of(w->own, caller, ev)};
}

static void closes(struct work *w, struct open *o, const struct tep_format_field *caller,
		   const struct decode_event *ev)
{
	w->result->unbegun += !o->open;
	if (o->open)
		add_window(w, o->caller, caller_of(w->own, caller, ev), ev->time - o->from);
	o->open = false;
}

static void on_irqs_off(struct work *w, const struct tep_format_field *const *field,
			const struct decode_event *ev)
{
	struct windows *x = w->own;

	if (x->want_irqs)
		opens(w, &x->irqs[ev->cpu], field[0], ev);
}

static void on_irqs_on(struct work *w, const struct tep_format_field *const *field,
		       const struct decode_event *ev)
{
	struct windows *x = w->own;

	if (x->want_irqs)
		closes(w, &x->irqs[ev->cpu], field[0], ev);
}

static void on_preempt_off(struct work *w, const struct tep_format_field *const *field,
			   const struct decode_event *ev)
{
	struct windows *x = w->own;

	if (x->want_preempt)
		opens(w, &x->preempt[ev->cpu], field[0], ev);
}

static void on_preempt_on(struct work *w, const struct tep_format_field *const *field,
			  const struct decode_event *ev)
{
	struct windows *x = w->own;

	if (x->want_preempt)
		closes(w, &x->preempt[ev->cpu], field[0], ev);
}

/* --- a snapshot ---------------------------------------------------------------------------------
 */

static void add_to_snapshot(const struct work *w, const struct decode_event *ev)
{
	struct windows *x = w->own;
	struct snapshot *s = &x->snapshot;
	const uint8_t *data = ev->data;
	uint64_t func;

	s->irqs &= data[FLAGS_AT] & FLAG_IRQS_OFF;
	s->preempt &= (data[COUNT_AT] & COUNT_MASK) != 0;
	if ((s->nr && ev->cpu != s->cpu) || (!s->irqs && !s->preempt) ||
	    !formats_number(x->ip, ev, &func)) {
		s->broken = true;
		return;
	}
	if (!s->nr++) {
		s->cpu = ev->cpu;
		s->from = ev->time;
		s->first = func;
	}
	s->to = ev->time;
	/* That of the end may be by no function, but by the tracer. */
	if (tep_find_function(formats_tep(w->in->formats), func))
		s->last = func;
}

/* Functions, and then one stack, and nothing else. What was lost may have ended a window. */
static void before(struct work *w, const struct decode_event *ev)
{
	struct windows *x = w->own;
	struct snapshot *s = &x->snapshot;

	if (ev->lost)
		x->irqs[ev->cpu].open = x->preempt[ev->cpu].open = false;
	if (s->broken)
		return;
	if (x->function && ev->id == x->function->id && !s->stack && ev->len > COUNT_AT)
		add_to_snapshot(w, ev);
	else if (x->stack && ev->id == x->stack->id && !s->stack && s->nr && ev->cpu == s->cpu)
		s->stack = true;
	else
		s->broken = true;
}

/* The names of a stack, innermost first, a tab between two. */
static void on_stack(struct work *w, const struct tep_format_field *const *field,
		     const struct decode_event *ev)
{
	struct windows *x = w->own;
	uint64_t func[JOB_STACK_MAX];
	size_t nr = x->snapshot.broken ? 0 : job_stack(field, ev, func);
	char buf[24];

	for (size_t i = 0; i < nr; i++) {
		if (i)
			text_putc(&x->stack_text, '\t');
		text_puts(&x->stack_text, job_function(w, func[i], buf));
	}
}

static void keep_stack(struct windows *x, struct latency_row *row)
{
	text_putc(&x->stack_text, '\0');
	if (row && x->stack_text.len > 1 && !x->stack_text.failed) {
		row->stack = x->stack_text.buf;
		x->stack_text = (struct text){0};
	}
}

static void end(struct work *w)
{
	struct windows *x = w->own;
	const struct snapshot *s = &x->snapshot;

	for (size_t i = 0; i < DAT_CPUS_MAX; i++)
		w->result->unended += x->irqs[i].open + x->preempt[i].open;
	if (s->broken || !s->stack)
		return;
	w->result->events += s->nr;
	keep_stack(x, add_window(w, s->first, s->last, s->to - s->from));
	snprintf(w->result->report.tracer, sizeof(w->result->report.tracer), "%s",
		 s->irqs && s->preempt ? "preemptirqsoff"
		 : s->irqs	       ? "irqsoff"
				       : "preemptoff");
}

static void free_own(struct work *w)
{
	struct windows *x = w->own;

	if (x)
		text_free(&x->stack_text);
	free(x);
}

static const struct job_event events[] = {
	{"preemptirq", "irq_disable", {"caller_offs"}, on_irqs_off, false},
	{"preemptirq", "irq_enable", {"caller_offs"}, on_irqs_on, false},
	{"preemptirq", "preempt_disable", {"caller_offs"}, on_preempt_off, false},
	{"preemptirq", "preempt_enable", {"caller_offs"}, on_preempt_on, false},
	{"ftrace", "kernel_stack", {"size", "caller"}, on_stack, true},
	{NULL, NULL, {NULL}, NULL, false},
};

const struct job job_windows = {
	.name = "latency",
	.words = {"windows", "pairs of a beginning and an end", "FROM -> TO", false},
	.by = {"task"},
	.needs = "those of preemptirq, or what irqsoff, preemptoff and preemptirqsoff record",
	.events = events,
	.begin = begin,
	.before = before,
	.end = end,
	.free = free_own,
};
