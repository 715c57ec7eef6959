// SPDX-License-Identifier: GPL-2.0-or-later
/* prints.c - see prints.h */
#include "tracer/instance/prints.h"
#include "tracer/instance/entry.h"
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

void guest_prints_collect(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			  const void *data, uint64_t ts)
{
	const struct print_kind *kind;
	union {
		struct trace_entry e;
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
}
