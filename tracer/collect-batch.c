// SPDX-License-Identifier: GPL-2.0-or-later
/* collect-batch.c - which instance wants which records, and what it makes of them. */
#include "tracer/collect-internal.h"
#include "tracer/entry.h"
#include "tracer/graph.h"
#include "tracer/instance.h"
#include "tracer/preempt.h"

static unsigned int record_type(const struct payload_record *r)
{
	return r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;
}

static void collect_comm(struct trace *t, const struct payload_record *r)
{
	comms_note(t->comms, (int32_t)r->comm_pid, (int32_t)r->comm_tgid, r->comm);
}

static uint8_t entry_flags(uint32_t state)
{
	return preempt_flags(state) | (state & STATE_IRQS_OFF ? TRACE_FLAG_IRQS_OFF : 0) |
	       (state & STATE_NEED_RESCHED ? TRACE_FLAG_NEED_RESCHED : 0);
}

static void entry_init(struct trace_entry *ent, const struct payload_record *r)
{
	ent->type = TRACE_FN;
	ent->flags = entry_flags(r->state);
	ent->preempt_count = preempt_nibble(r->state & PREEMPT_MASK) |
			     (uint8_t)(preempt_nibble(r->task >> RECORD_MIGRATE_SHIFT) << 4);
	ent->pid = (int32_t)(r->task & RECORD_PID_MASK);
}

static void collect_function(struct ring *ring, const struct payload_record *r, uint64_t ts)
{
	struct trace_function_entry *e = ring_reserve(ring, sizeof(*e), ts);

	if (!e)
		return;
	entry_init(&e->ent, r);
	e->ip = KERNEL_HALF | r->ip;
	e->parent_ip = KERNEL_HALF | r->parent;
	ring_commit(ring);
}

/* With func-no-repeats: true when that is all there is to say of this call. */
static bool collect_repeat(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			   uint64_t ts)
{
	uint64_t ip = KERNEL_HALF | r->ip, parent_ip = KERNEL_HALF | r->parent;
	struct trace_entry ent;

	if (repeats_count(&i->repeats[vcpu], ip, parent_ip, ts))
		return true;
	entry_init(&ent, r);
	repeats_end(&i->repeats[vcpu], i->ring[vcpu], &ent, ip, parent_ip, ts);
	return false;
}

/* Task names first: a record may be printed as soon as it is in the ring. Gives the last one. */
static const struct payload_record *batch_look(struct trace *t, const struct payload_record *r,
					       size_t n, uint64_t *functions)
{
	bool comms = t->instances->options & OUTPUT_RECORD_CMD;
	const struct payload_record *last = NULL;

	*functions = 0;
	for (size_t i = 0; i < n; i++) {
		if (record_type(&r[i]) == PAYLOAD_FUNCTION) {
			(*functions)++;
			last = &r[i];
		} else if (record_type(&r[i]) == PAYLOAD_EXIT) {
			last = &r[i];
		} else if (comms && record_type(&r[i]) == PAYLOAD_COMM) {
			collect_comm(t, &r[i]);
		}
	}
	return last;
}

/* No record need be looked at to know that it is taken. */
static bool takes_every_call(const struct instance *i)
{
	return i->all && !pid_filter_on(&i->pids);
}

static uint32_t record_probe(const struct trace *t, const struct payload_record *r)
{
	uint32_t func = funcs_at(t->funcs, KERNEL_HALF | r->ip);

	return func == FUNC_NONE ? UINT32_MAX : t->func_probe[func];
}

static bool record_taken(const struct instance *i, const struct payload_record *r)
{
	return pid_filter_traces(&i->pids, (int32_t)(r->task & RECORD_PID_MASK)) &&
	       (i->all || instance_bit(i->takes, i->room, record_probe(i->t, r)));
}

/* `left` is how many it may take. */
static void instance_collect(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			     size_t n, uint64_t tsc, uint64_t left)
{
	bool no_repeats = instance_function_option(i, OUTPUT_FUNC_NO_REPEATS);
	bool every = takes_every_call(i);
	struct clock_reading now;
	struct trace *t = i->t;
	uint64_t ts;

	if (!i->on || !i->tracer->functions || i->tracer->exits || !(i->cpumask >> vcpu & 1) ||
	    !left)
		return;
	if (i->clock->begin)
		i->clock->begin(t, vcpu, tsc, &now);
	for (size_t k = 0; k < n && left; k++) {
		if (record_type(&r[k]) != PAYLOAD_FUNCTION || (!every && !record_taken(i, &r[k])))
			continue;
		ts = horizon_time(&i->horizon, i->clock->read(t, &now, r[k].tsc));
		if (!no_repeats || !collect_repeat(i, vcpu, &r[k], ts))
			collect_function(i->ring[vcpu], &r[k], ts);
		left--;
	}
}

/* How many of these the top level takes, as far as the number of events is limited. */
static uint64_t top_admits(struct trace *t, unsigned int vcpu, const struct payload_record *r,
			   size_t n, uint64_t functions)
{
	const struct instance *top = t->instances;
	uint64_t taken = functions;

	if (!top->on || !top->tracer->functions || top->tracer->exits ||
	    !(top->cpumask >> vcpu & 1))
		return 0;
	if (!takes_every_call(top)) {
		taken = 0;
		for (size_t i = 0; i < n; i++)
			taken += record_type(&r[i]) == PAYLOAD_FUNCTION && record_taken(top, &r[i]);
	}
	return trace_admit(t, taken);
}

void collect_batch(struct trace *t, unsigned int vcpu, const struct payload_record *r, size_t n,
		   bool lost)
{
	uint64_t functions, left;
	const struct payload_record *last = batch_look(t, r, n, &functions);
	bool done = atomic_load(&t->done);

	if (instance_wants_exits(t->instances))
		graph_feed(t->graph, vcpu, r, n, lost);
	if (!last)
		return;
	trace_seen(t, last->tsc);
	left = top_admits(t, vcpu, r, n, functions);
	for (struct instance *i = t->instances; i; i = i->next)
		instance_collect(i, vcpu, r, n, last->tsc, i == t->instances ? left : done ? 0 : n);
	atomic_store_explicit(&t->at_ip[vcpu], KERNEL_HALF | last->ip, memory_order_relaxed);
	instances_wake(t);
}
