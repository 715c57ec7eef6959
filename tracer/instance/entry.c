// SPDX-License-Identifier: GPL-2.0-or-later
/* entry.c - see entry.h */
#include "tracer/instance/entry.h"
#include "tracer/instance/order.h"
#include "tracer/ring/entry.h"

#include <string.h>

uint64_t instance_time_now(struct instance *i, unsigned int vcpu, uint64_t *tsc)
{
	uint64_t now = clock_tsc(i->t);

	if (tsc)
		*tsc = now;
	return instance_counts(i) ? now : horizon_time(&i->horizon, instance_now(i, vcpu));
}

void *instance_room(struct instance *i, unsigned int vcpu, uint64_t ts, size_t len)
{
	return ring_reserve(i->ring[vcpu], len, instance_stamp(i, ts));
}

bool instance_admits(struct instance *i)
{
	return i == i->t->instances ? trace_admit(i->t, 1) : !atomic_load(&i->t->done);
}

void instance_take_entry(struct instance *i, unsigned int vcpu, const struct entry *e)
{
	if (!instance_order_entry(i, vcpu, e))
		instance_put_entry(i, vcpu, e);
}

void instance_put_entry(struct instance *i, unsigned int vcpu, const struct entry *e)
{
	void *to;

	if (!instance_is_on_at(i, e->tsc) || (e->uses & ENTRY_OF_CALL && !i->repeats[vcpu].told) ||
	    (e->uses & ENTRY_COUNTED && !instance_admits(i)))
		return;
	to = instance_room(i, vcpu, e->ts, e->len);
	if (!to)
		return;
	memcpy(to, e->data, e->len);
	ring_commit(i->ring[vcpu]);
}

static void describe(struct instance *i, const struct machine_hit *hit,
		     const struct guest_state *st, uint16_t type, struct trace_entry *ent,
		     struct entry *e)
{
	struct clock_reading now;

	clock_begin(i->clock, i->t, hit->vcpu, hit->tsc, &now);
	*ent = (struct trace_entry){
		.type = type,
		.flags = st->flags,
		.preempt_count = st->preempt_count,
		.pid = st->pid,
	};
	*e = (struct entry){.tsc = hit->tsc, .ts = instance_time(i, &now, hit->tsc)};
	if (hit->regs)
		instances_note_task(i->t, st);
}

bool instance_describe(struct instance *i, const struct machine_hit *hit, uint16_t type,
		       struct trace_entry *ent, struct entry *e)
{
	struct guest_state st;

	guest_get_state(&i->t->guest, hit->vcpu, hit->regs, &st);
	if (!pid_filter_traces(&i->pids, st.pid))
		return false;
	describe(i, hit, &st, type, ent, e);
	return true;
}

void instance_describe_any(struct instance *i, const struct machine_hit *hit, uint16_t type,
			   struct trace_entry *ent, struct entry *e)
{
	struct guest_state st = {0};

	if (hit->regs)
		guest_get_state(&i->t->guest, hit->vcpu, hit->regs, &st);
	describe(i, hit, &st, type, ent, e);
}
