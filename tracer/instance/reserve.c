// SPDX-License-Identifier: GPL-2.0-or-later
/* reserve.c - a record that a hit makes: what it says of the task, its time, its room. */
#include "tracer/instance/instance.h"
#include "tracer/ring/entry.h"

bool instance_describe(struct instance *i, const struct machine_hit *hit, uint16_t type,
		       struct trace_entry *ent, uint64_t *ts)
{
	struct clock_reading now;
	struct trace *t = i->t;
	struct guest_state st;

	guest_get_state(&t->guest, hit->vcpu, hit->regs, &st);
	if (!pid_filter_traces(&i->pids, st.pid))
		return false;
	/* Only the top level counts what --max-events asks for. */
	if (i == t->instances ? !trace_admit(t, 1) : atomic_load(&t->done))
		return false;
	clock_begin(i->clock, t, hit->vcpu, hit->tsc, &now);
	*ts = horizon_time(&i->horizon, clock_read(i->clock, t, &now, hit->tsc));
	*ent = (struct trace_entry){
		.type = type,
		.flags = st.flags,
		.preempt_count = st.preempt_count,
		.pid = st.pid,
	};
	if (i->options & OUTPUT_RECORD_CMD)
		comms_note(t->comms, st.pid, st.tgid, st.comm);
	return true;
}

void *instance_reserve(struct instance *i, const struct machine_hit *hit, uint16_t type, size_t len)
{
	struct trace_entry ent, *e;
	uint64_t ts;

	if (!instance_describe(i, hit, type, &ent, &ts))
		return NULL;
	e = ring_reserve(i->ring[hit->vcpu], len, ts);
	if (e)
		*e = ent;
	return e;
}
