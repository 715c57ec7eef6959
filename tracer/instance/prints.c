// SPDX-License-Identifier: GPL-2.0-or-later
/* prints.c - see prints.h */
#include "tracer/instance/prints.h"
#include "tracer/instance/entry.h"
#include "tracer/payload/event-ring.h"
#include "tracer/ring/entry.h"

#include <string.h>

/* By the order of struct guest_prints. */
static const struct print_kind {
	const char
		*call; /* the kernel's own struct trace_event_call, which says how it is numbered */
	uint16_t type; /* in our ring buffer */
	uint16_t len;  /* bytes, at least */
	uint32_t option; /* any of these */
} kinds[] = {
	/* trace_marker, and trace_printk() that has no place for its format */
	{"event_print", TRACE_PRINT, sizeof(struct trace_print_entry),
	 OUTPUT_PRINTK | OUTPUT_MARKERS},
	{"event_bprint", TRACE_BPRINT, sizeof(struct trace_bprint_entry), OUTPUT_PRINTK},
	{"event_bputs", TRACE_BPUTS, sizeof(struct trace_bputs_entry), OUTPUT_PRINTK},
	{"event_raw_data", TRACE_RAW_DATA, sizeof(struct trace_raw_data_entry), OUTPUT_MARKERS},
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == GUEST_PRINT_KINDS, "one for each");

const char *guest_print_call(unsigned int k)
{
	return kinds[k].call;
}

uint32_t guest_prints_taken(const struct instance *i)
{
	const struct trace *t = i->t;
	uint32_t types = 0;

	if (i != t->instances || !instance_collects(i) || !t->prints->placed)
		return 0;
	for (unsigned int k = 0; k < GUEST_PRINT_KINDS; k++)
		if (i->options & kinds[k].option)
			types |= UINT32_C(1) << t->prints->type[k];
	return types && t->prints->trapped ? types | PRINTS_STOP : types;
}

/* NULL: the guest has made that up. */
static const struct print_kind *kind_of(const struct trace *t, const struct payload_record *r,
					const struct trace_entry *e)
{
	for (unsigned int k = 0; k < GUEST_PRINT_KINDS; k++)
		if (e->type == t->prints->type[k] && r->event_len >= kinds[k].len &&
		    r->event_len <= EVENT_MAX)
			return &kinds[k];
	return NULL;
}

/* --- stacks ---------------------------------------------------------------------------------- */

bool guest_prints_want_stacks(const struct instance *i)
{
	return i->t->prints->placed && i->options & OUTPUT_STACKTRACE;
}

/* It is the function called name, or a part of it: "name.constprop.0". */
static bool is_function(struct trace *t, uint64_t addr, const char *const *names, size_t n)
{
	struct output_symbol sym = {0};
	size_t len;

	if (!trace_find_symbol(t, addr, &sym) || !sym.name)
		return false;
	len = strcspn(sym.name, ".");
	for (size_t k = 0; k < n; k++)
		if (!strncmp(sym.name, names[k], len) && !names[k][len])
			return true;
	return false;
}

/* The kernel leaves out so many frames as are its own where nothing is inlined. */
static bool is_writer(struct trace *t, uint64_t addr)
{
	static const char *const names[] = {
		"__buffer_unlock_commit", "trace_buffer_unlock_commit_nostack",
		"__trace_bprintk",	  "__ftrace_vbprintk",
		"trace_vbprintk",	  "__trace_printk",
		"__ftrace_vprintk",	  "trace_vprintk",
		"trace_array_vprintk",	  "__trace_array_vprintk",
		"trace_array_printk",	  "__trace_bputs",
		"__trace_puts",		  "__trace_array_puts",
	};

	return is_function(t, addr, names, sizeof(names) / sizeof(names[0]));
}

/* What is written to trace_marker has none, and is of the type of trace_printk(). */
static bool has_stack(struct trace *t, const struct print_kind *kind,
		      const struct trace_print_entry *e)
{
	static const char *const names[] = {"tracing_mark_write", "write_marker_to_buffer"};

	if (kind->type == TRACE_PRINT)
		return !is_function(t, e->ip, names, sizeof(names) / sizeof(names[0]));
	return kind->type != TRACE_RAW_DATA;
}

/* Behind the entry of what was written. */
static void stack_collect(struct instance *i, unsigned int vcpu, const struct entry *print,
			  const struct event_stack *stack)
{
	union {
		struct trace_stack_entry e;
		uint8_t bytes[sizeof(struct trace_stack_entry) + sizeof(stack->ip)];
	} record;
	struct entry e = {.tsc = print->tsc, .ts = print->ts, .data = &record};
	unsigned int from = 0;

	while (from < stack->n && is_writer(i->t, stack->ip[from]))
		from++;
	if (from == stack->n) /* where the kernel cannot be followed they are all there is */
		from = 0;
	memset(&record.e, 0, sizeof(record.e));
	memcpy(&record.e.ent, print->data, sizeof(record.e.ent));
	record.e.ent.type = TRACE_STACK;
	record.e.size = (int32_t)(stack->n - from);
	memcpy(record.e.caller, stack->ip + from, (stack->n - from) * sizeof(stack->ip[0]));
	e.len = sizeof(record.e) + (stack->n - from) * sizeof(stack->ip[0]);
	instance_take_entry(i, vcpu, &e);
}

/* -----------------------------------------------------------------------------------------------
 */

void guest_prints_collect(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			  const void *data, const struct event_stack *stack, uint64_t ts)
{
	const struct print_kind *kind;
	union {
		struct trace_entry e;
		struct trace_print_entry print;
		uint8_t bytes[EVENT_MAX];
	} copy;
	struct entry e = {
		.tsc = r->tsc, .ts = ts, .data = &copy, .len = r->event_len, .uses = ENTRY_COUNTED};

	if (r->event_len < sizeof(copy.e) || r->event_len > sizeof(copy))
		return;
	memcpy(&copy.e, data, sizeof(copy.e));
	kind = kind_of(i->t, r, &copy.e);
	if (!kind || !(i->options & kind->option))
		return;
	memcpy(&copy, data, r->event_len);
	copy.e.type = kind->type;
	instance_take_entry(i, vcpu, &e);
	if (stack && stack->n && i->options & OUTPUT_STACKTRACE &&
	    has_stack(i->t, kind, &copy.print))
		stack_collect(i, vcpu, &e, stack);
}
