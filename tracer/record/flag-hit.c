// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flag-hit.c - windows in which interrupts are off, where their sites are traps.
 *
 * What the payload does with a window in the guest (payload/flags.S) is done here from the hit's
 * registers. The way to the host and back is not to be measured, as far as that is possible: a
 * window begins when its hit has been dealt with, and ends when the vCPU has left the guest. What
 * is within are the way back into the guest from the one, and the way out at the other.
 */
#include "tracer/core/lock.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/payload/event-ring.h"
#include "tracer/payload/record.h"
#include "tracer/probe/critical/traps.h"
#include "tracer/record/record.h"
#include "tracer/unwind/unwind.h"

static void record_make(struct trace *t, const struct machine_hit *hit, unsigned int type,
			struct payload_record *r)
{
	struct guest_state st;

	record_of_hit(&t->guest, hit, type, r, &st);
	r->state |= STATE_IRQS_OFF;
	instances_note_task(t, &st);
}

static void stack_look(struct trace *t, const struct machine_hit *hit, struct event_stack *stack)
{
	stack->has_user = false;
	stack->n = unwind_entry(trace_unwind(t), &t->guest, hit->va, hit->regs->rsp, hit->regs->rbp,
				stack->ip, NULL, EVENT_STACK_DEPTH);
}

/* It may be one that is kept. */
static void window_found(struct instance *top, const struct machine_hit *hit,
			 struct critical_window *w)
{
	struct event_stack stack;

	if (!top->t->latency_on || top->tracer->wants_stack(top, w)) {
		stack_look(top->t, hit, &stack);
		w->stack = &stack;
	}
	top->tracer->window(top, w);
	w->stack = NULL;
}

/* True: one was found that is long enough. The vCPU's lock is held. */
static bool window_end(struct trace *t, const struct machine_hit *hit, uint64_t user)
{
	struct critical *c = &t->critical[hit->vcpu];
	struct instance *top = t->instances;
	struct critical_window w = {.vcpu = hit->vcpu, .off = c->off};
	bool open = c->open;

	c->open = false;
	if (!open || !top->on || !top->tracer->window)
		return false;
	w.on.tsc = hit->tsc;
	if (critical_ticks(&w) < instance_max_ticks(top))
		return false;
	record_make(t, hit, PAYLOAD_IRQS_ON, &w.on);
	w.on.parent = (uint32_t)user;
	window_found(top, hit, &w);
	return true;
}

/* The vCPU's lock is held. */
static void window_begin(struct trace *t, const struct machine_hit *hit)
{
	const struct instance *top = t->instances;
	struct critical *c = &t->critical[hit->vcpu];

	c->open = top->tracer->critical & CRITICAL_IRQS && top->on && top->cpumask >> hit->vcpu & 1;
	if (!c->open)
		return;
	record_make(t, hit, PAYLOAD_IRQS_OFF, &c->off);
	c->off.tsc = machine_get_tsc(t->m, hit->vcpu);
}

/* There is no collector whose passes end. */
static void windows_keep(struct trace *t)
{
	struct instance *top = t->instances;

	trace_writers_stop(t);
	if (top->tracer->critical)
		top->tracer->pass(top, 0);
	trace_writers_go(t);
	trace_wake(t);
}

void record_flag_hit(struct trace *t, const struct machine_hit *hit)
{
	bool found = false;
	struct flag_step s;
	int ret = flag_traps_step(t, hit, &s);

	if (ret) {
		trace_note(t, "the guest cannot go on behind a place where interrupts change");
		trace_fail(t, ret);
	}
	vcpu_lock(t, hit->vcpu);
	trace_seen(t, hit->tsc);
	if (s.on)
		found = window_end(t, hit, s.user);
	if (s.off)
		window_begin(t, hit);
	vcpu_unlock(t, hit->vcpu);
	if (found)
		windows_keep(t);
}
