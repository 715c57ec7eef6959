// SPDX-License-Identifier: GPL-2.0-or-later
/* prints.c - see prints.h */
#include "tracer/tracepoint/prints.h"
#include "tracer/window/detour.h"
#include "tracer/ring/entry.h"
#include "tracer/events/registry.h"
#include "tracer/instance/order.h"
#include "tracer/probe/trampoline/trampoline.h"

#include <errno.h>
#include <string.h>

#define PRINT_COOKIE (BORROW_COOKIE - 4)

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

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

_Static_assert(NR_KINDS == sizeof(((struct guest_prints *)NULL)->type) / sizeof(uint32_t),
	       "one for each");

/* --- the way into the payload ---------------------------------------------------------------- */

uint64_t guest_prints_buffer(const struct trace *t)
{
	uint64_t tr = events_runtime(t, "global_trace");
	struct guestsym_field f;

	if (!tr || guestsym_field(t->gs, "trace_array.array_buffer.buffer", &f) || f.size != 8)
		return PAYLOAD_NONE;
	return tr + f.offset;
}

static int types_learn(struct trace *t)
{
	struct guestsym_field f;
	int ret = guestsym_field(t->gs, "trace_event_call.event.type", &f);

	for (unsigned int k = 0; k < NR_KINDS && !ret; k++) {
		uint64_t call = events_runtime(t, kinds[k].call);
		uint32_t *type = &t->prints.type[k];

		ret = call ? guest_read(&t->guest, call + f.offset, type, sizeof(*type)) : -ENOENT;
		if (!ret && (!*type || *type >= 32))
			ret = -EOPNOTSUPP;
	}
	return ret;
}

/* print.S makes itself a struct trace_event_buffer. */
static bool fbuffer_fits(const struct trace *t)
{
	static const char *const members[] = {"trace_event_buffer.event",
					      "trace_event_buffer.trace_file",
					      "trace_event_buffer.entry"};
	struct guestsym_field f;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (guestsym_field(t->gs, members[i], &f) || f.offset > FBUFFER_SIZE - 8)
			return false;
	return true;
}

static int detours_place(struct trace *t)
{
	const struct payload_text *text = trampoline_text(t);
	struct payload_detour d[DETOURS_EACH] = {
		{.entry = text->event_data, .rest = text->event_data_rest},
		{.entry = text->ring_commit, .rest = text->ring_commit_rest},
	};
	uint64_t data = events_runtime(t, "ring_buffer_event_data"),
		 commit = events_runtime(t, "ring_buffer_unlock_commit");
	int ret = data && commit ? 0 : -EOPNOTSUPP;

	if (!ret)
		ret = detour_learn(&t->guest, data, &d[0]);
	if (!ret)
		ret = detour_learn(&t->guest, commit, &d[1]);
	if (!ret)
		ret = detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_PRINTS, d,
				     DETOURS_EACH, t->vcpus);
	return ret;
}

static bool are_traps(const struct trace *t)
{
	return t->engine != &trampoline_probe_ops;
}

static int trap_insert(struct trace *t)
{
	const struct machine_trap trap =
		trampoline_trap(t, trampoline_text(t)->print_trap, PRINT_COOKIE);
	int ret = machine_traps_set(t->m, &trap, 1);

	t->prints.trapped = !ret;
	return ret;
}

int guest_prints_remove(struct trace *t)
{
	uint64_t va;

	if (!t->prints.trapped)
		return 0;
	va = trampoline_trap(t, trampoline_text(t)->print_trap, PRINT_COOKIE).va;
	t->prints.placed = t->prints.trapped = false;
	return machine_traps_clear(t->m, &va, 1);
}

/* The way to the host comes first. */
static int ways_place(struct trace *t)
{
	int ret = fbuffer_fits(t) ? types_learn(t) : -EOPNOTSUPP;

	if (!ret && are_traps(t))
		ret = trap_insert(t);
	if (!ret)
		ret = detours_place(t);
	if (ret)
		guest_prints_remove(t);
	return ret;
}

void guest_prints_place(struct trace *t)
{
	events_lock(t->trace_events);
	guest_prints_place_held(t);
	events_unlock(t->trace_events);
}

void guest_prints_place_held(struct trace *t)
{
	int ret;

	if (!t->tramp || guest_prints_buffer(t) == PAYLOAD_NONE || t->trace_events->closed ||
	    t->prints.placed)
		return;
	ret = ways_place(t);
	t->prints.placed = !ret;
	if (ret)
		trace_note(t, "trace_printk() and trace_marker of the guest are not recorded: %s",
			   strerror(-ret));
	else
		instances_tell_payload(t);
}

/* --- what becomes of them -------------------------------------------------------------------- */

uint32_t guest_prints_taken(const struct instance *i)
{
	const struct trace *t = i->t;
	uint32_t types = 0;

	if (i != t->instances || !i->on || !t->prints.placed)
		return 0;
	for (unsigned int k = 0; k < NR_KINDS; k++)
		if (i->options & kinds[k].option)
			types |= UINT32_C(1) << t->prints.type[k];
	return types && t->prints.trapped ? types | PRINTS_STOP : types;
}

/* NULL: the guest has made that up. */
static const struct print_kind *kind_of(const struct trace *t, const struct payload_record *r,
					const struct trace_entry *e)
{
	for (unsigned int k = 0; k < NR_KINDS; k++)
		if (e->type == t->prints.type[k] && r->event_len >= kinds[k].len &&
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
	void *to;

	if (r->event_len < sizeof(copy.e) || r->event_len > sizeof(copy))
		return;
	memcpy(&copy.e, data, sizeof(copy.e));
	kind = kind_of(i->t, r, &copy.e);
	if (!kind || !(i->options & kind->option) || !trace_admit(i->t, 1))
		return;
	memcpy(&copy, data, r->event_len);
	copy.e.type = kind->type;
	if (instance_order_entry(i, vcpu, &copy, r->event_len, ts))
		return;
	to = ring_reserve(i->ring[vcpu], r->event_len, ts);
	if (!to)
		return;
	memcpy(to, &copy, r->event_len);
	ring_commit(i->ring[vcpu]);
}

/* %rcx bytes at %rdx, as payload/print.S has them. */
static void print_take(struct trace *t, const struct machine_hit *hit)
{
	struct instance *top = t->instances;
	struct payload_record r = {.event_len = (uint32_t)hit->regs->rcx};
	struct clock_reading now;
	uint8_t data[EVENT_MAX];

	if (!guest_prints_taken(top) || !(top->cpumask >> hit->vcpu & 1) ||
	    hit->regs->rcx > sizeof(data) ||
	    guest_read(&t->guest, hit->regs->rdx, data, r.event_len))
		return;
	clock_begin(top->clock, t, hit->vcpu, hit->tsc, &now);
	guest_prints_collect(
		top, hit->vcpu, &r, data,
		horizon_time(&top->horizon, clock_read(top->clock, t, &now, hit->tsc)));
}

bool guest_prints_hit(struct trace *t, const struct machine_hit *hit)
{
	if (hit->cookie != PRINT_COOKIE)
		return false;
	pthread_mutex_lock(&t->vcpu_lock[hit->vcpu]);
	trampoline_drain(t, hit->vcpu); /* what it has recorded before */
	trace_seen(t, hit->tsc);
	print_take(t, hit);
	pthread_mutex_unlock(&t->vcpu_lock[hit->vcpu]);
	instances_wake(t);
	return true;
}
