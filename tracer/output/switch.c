// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * switch.c - prints task switches and wakeups as the wakeup tracers record them
 * (trace_ctxwake_* of kernel/trace/trace_output.c, 6.1).
 */
#include "tracer/output/internal.h"

static char state_char(uint8_t state)
{
	static const char chars[] = "RSDTtXZPI";

	return state < sizeof(chars) - 1 ? chars[state] : '?';
}

static void switch_trace(struct output *o, const struct trace_switch_entry *e, const char *arrow)
{
	char comm[COMM_LEN];

	comms_find(o->cfg.comms, (int32_t)e->next_pid, comm);
	text_printf(o->text, " %7d:%3d:%c %s [%03d] %7d:%3d:%c %s\n", (int)e->prev_pid,
		    e->prev_prio, state_char(e->prev_state), arrow, (int)e->next_cpu,
		    (int)e->next_pid, e->next_prio, state_char(e->next_state), comm);
}

static void switch_raw(struct output *o, const struct trace_switch_entry *e, char state)
{
	text_printf(o->text, "%d %d %c %d %d %d %c\n", (int)e->prev_pid, e->prev_prio, state,
		    (int)e->next_cpu, (int)e->next_pid, e->next_prio, state_char(e->next_state));
}

/* The kernel gives the next state as an int and the previous one, or the '+', as a char. */
static void switch_hex(struct output *o, const struct trace_switch_entry *e, char state)
{
	output_hex(o, e->prev_pid, sizeof(e->prev_pid));
	output_hex(o, e->prev_prio, sizeof(e->prev_prio));
	output_hex(o, (uint8_t)state, sizeof(state));
	output_hex(o, e->next_cpu, sizeof(e->next_cpu));
	output_hex(o, e->next_pid, sizeof(e->next_pid));
	output_hex(o, e->next_prio, sizeof(e->next_prio));
	output_hex(o, (uint8_t)state_char(e->next_state), sizeof(int));
}

static void switch_bin(struct output *o, const struct ring_event *ev)
{
	const struct trace_switch_entry *e = ev->data;

	text_add(o->text, &e->prev_pid, sizeof(e->prev_pid));
	text_add(o->text, &e->prev_prio, sizeof(e->prev_prio));
	text_add(o->text, &e->prev_state, sizeof(e->prev_state));
	text_add(o->text, &e->next_cpu, sizeof(e->next_cpu));
	text_add(o->text, &e->next_pid, sizeof(e->next_pid));
	text_add(o->text, &e->next_prio, sizeof(e->next_prio));
	text_add(o->text, &e->next_state, sizeof(e->next_state));
}

static void context_switch_trace(struct output *o, const struct ring_event *ev)
{
	switch_trace(o, ev->data, "==>");
}

static void context_switch_raw(struct output *o, const struct ring_event *ev)
{
	const struct trace_switch_entry *e = ev->data;

	switch_raw(o, e, state_char(e->prev_state));
}

static void context_switch_hex(struct output *o, const struct ring_event *ev)
{
	const struct trace_switch_entry *e = ev->data;

	switch_hex(o, e, state_char(e->prev_state));
}

const struct entry_ops context_switch_entry_ops = {
	.len = sizeof(struct trace_switch_entry),
	.trace = context_switch_trace,
	.raw = context_switch_raw,
	.hex = context_switch_hex,
	.bin = switch_bin,
};

static void wakeup_trace(struct output *o, const struct ring_event *ev)
{
	switch_trace(o, ev->data, "  +");
}

static void wakeup_raw(struct output *o, const struct ring_event *ev)
{
	switch_raw(o, ev->data, '+');
}

static void wakeup_hex(struct output *o, const struct ring_event *ev)
{
	switch_hex(o, ev->data, '+');
}

const struct entry_ops wakeup_entry_ops = {
	.len = sizeof(struct trace_switch_entry),
	.trace = wakeup_trace,
	.raw = wakeup_raw,
	.hex = wakeup_hex,
	.bin = switch_bin,
};
