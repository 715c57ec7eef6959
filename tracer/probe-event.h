/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe-event.h - probe events of the host's own: kprobe_events and kprobe_profile.
 *
 * The guest's kprobes have no part in them. A probe is a trap at a function's fentry site, where
 * the host has all registers: it reads what the definition asks for and writes the record itself,
 * into the ring of each instance that has the event on.
 */
#ifndef HVTRACE_TRACER_PROBE_EVENT_H
#define HVTRACE_TRACER_PROBE_EVENT_H

#include "tracer/internal.h"
#include "tracer/probe-event-parse.h"

struct probe_events;

struct probe_events *probe_events_new(struct trace *t); /* NULL: no memory */
void probe_events_free(struct probe_events *p);		/* NULL is allowed */

/*
 * What instances want has changed: have a trap where an event is that one of them has on, and none
 * elsewhere. The events' lock is held, the machine runs.
 */
int probe_events_apply(struct probe_events *p);
/* Whether a probe (its index) is where such an event is. t->change is held. */
bool probe_events_want(const struct probe_events *p, uint32_t probe);
/* The guest is there; on the vCPU's thread. */
void probe_events_hit(struct probe_events *p, uint32_t probe, const struct machine_hit *hit);

/* --- for the files of it alone ---------------------------------------------------------------- */

/* A line of kprobe_events. Several may be of one event. */
struct probe_event {
	struct probe_event *next;
	struct probe_def *def;
	uint32_t event; /* in the list of events */
	uint32_t probe; /* where it is: index into t->probes */
	uint64_t ip;	/* run-time address */
	bool wanted;	/* some instance has the event on */
	_Atomic uint64_t hits, missed;
};

struct probe_events {
	struct trace *t;
	/* In their order; changed with the events' lock held and all writers stopped. */
	struct probe_event *first;
};

/* The run-time address of a symbol ("name", "module:name"), 0: there is none. */
uint64_t probe_symbol_address(struct trace *t, const char *name);
unsigned int probe_symbol_count(void *arg, const char *name);
int probe_symbol_entry(void *arg, const char *name, uint64_t offset);
/*
 * Where a definition's probe is to be, and the addresses of its symbols. -ENOENT, -EILSEQ (in the
 * midst of an instruction), -EINVAL as the kernel; -EOPNOTSUPP and a note: not with us.
 */
int probe_event_place(struct trace *t, struct probe_event *pe);

#endif
