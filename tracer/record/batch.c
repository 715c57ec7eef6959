// SPDX-License-Identifier: GPL-2.0-or-later
/* batch.c - which instance wants which records, and what it makes of them. */
#include "tracer/collect/collect.h"
#include "tracer/instance/branch.h"
#include "tracer/instance/call.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/instance/order.h"
#include "tracer/instance/prints.h"
#include "tracer/instance/view.h"
#include "tracer/payload/event-ring.h"
#include "tracer/payload/record.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"
#include "tracer/record/switch.h"
#include "tracer/ring/entry.h"

/* what: instances_note() */
static void collect_comm(struct trace *t, const struct payload_record *r, uint32_t what)
{
	comms_note(t->comms, (int32_t)r->comm_pid,
		   what & OUTPUT_RECORD_TGID ? (int32_t)r->comm_tgid : 0,
		   what & OUTPUT_RECORD_CMD ? r->comm : NULL);
}

/* What there is in a batch. */
struct batch {
	unsigned int vcpu;
	const struct payload_record *r;
	size_t n;
	struct event_ring *er;
	uint64_t functions, events, windows, copies, branches;
	bool missed; /* the data of some events */
	const struct payload_record *last;
};

/* Task names first: a record may be printed as soon as it is in the ring. */
static void batch_look(struct trace *t, struct batch *b)
{
	uint32_t what = instances_note(t);

	for (size_t i = 0; i < b->n; i++) {
		const struct payload_record *r = &b->r[i];
		unsigned int type = record_type(r);

		/* Nearly all of them are. */
		if (type == PAYLOAD_FUNCTION || type == PAYLOAD_EXIT) {
			b->functions += type == PAYLOAD_FUNCTION;
			b->last = r;
			continue;
		}
		switch (type) {
		case PAYLOAD_EVENT:
			b->events++;
			b->last = r;
			break;
		case PAYLOAD_BRANCH:
			b->branches++;
			b->last = r;
			break;
		case PAYLOAD_IRQS_OFF:
		case PAYLOAD_IRQS_ON:
		case PAYLOAD_PREEMPT_OFF:
		case PAYLOAD_PREEMPT_ON:
			b->windows++;
			b->copies += record_has_copy(r);
			break;
		case PAYLOAD_COMM:
			collect_comm(t, r, what);
		}
	}
}

/* Those whose data cannot be had are lost. */
static void batch_load(struct trace *t, struct batch *b)
{
	int ret = event_ring_load(b->er, b->r, b->n);

	if (ret)
		trace_fail(t, ret);
	for (size_t i = 0; i < b->n; i++) {
		if (!record_is_event(&b->r[i]) || event_ring_data(b->er, &b->r[i]))
			continue;
		b->er->lost++;
		b->missed = true;
	}
}

/*
 * Records are missing before the batch's first, or among them. With function_graph calls and events
 * wait for their turn, and so does this: graph.c tells it.
 * What waits for its turn otherwise comes behind the mark.
 */
static void batch_missed(struct trace *t, unsigned int vcpu)
{
	for (struct instance *i = t->instances; i; i = i->next)
		if (!i->tracer->exits && i->cpumask >> vcpu & 1)
			ring_missed(i->ring[vcpu]);
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
	return pid_filter_traces(&i->pids, record_pid(r)) &&
	       (i->all || instance_bit(i->takes, i->room, record_probe(i->t, r)));
}

/* What waits for its turn is counted then. */
static void collect_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			 uint64_t ts)
{
	if (instance_is_ordered(i))
		instance_take_call(i, vcpu, r, ts);
	else
		instance_put_call(i, vcpu, r, ts);
}

/* Each of them goes into the ring as it is: millions of a second may. */
static bool calls_are_plain(const struct instance *i)
{
	return !instance_is_ordered(i) && !instance_counts(i) &&
	       !instance_function_option(i, OUTPUT_FUNC_NO_REPEATS);
}

/* Its index, when the instance takes it. */
static uint32_t event_taken(const struct instance *i, unsigned int vcpu,
			    const struct payload_record *r)
{
	uint32_t file = record_event_file(r), event;

	if (file == EVENT_FILE_PRINTS)
		return guest_prints_taken(i) ? EVENT_OF_GUEST_PRINT : EVENT_NONE;
	event = events_at_file(i->t->trace_events, file);
	return event != EVENT_NONE && instance_takes_event(i, vcpu, event) ? event : EVENT_NONE;
}

static inline uint64_t record_time(struct instance *i, const struct clock_reading *now,
				   const struct payload_record *r)
{
	return instance_time(i, now, r->tsc);
}

/*
 * The calls and returns of vCPU b->vcpu, from which the trace of a latency is made when there is
 * one; a return whose call is not taken has no match there.
 */
static void calls_log(struct instance *i, const struct batch *b, const struct clock_reading *now,
		      uint64_t left)
{
	bool every = takes_every_call(i);

	for (size_t k = 0; k < b->n; k++) {
		const struct payload_record *r = &b->r[k];
		unsigned int type = record_type(r);

		if (type == PAYLOAD_FUNCTION && left && (every || record_taken(i, r)))
			left--;
		else if (type != PAYLOAD_EXIT)
			continue;
		call_log_add(i->calls, b->vcpu, r, record_time(i, now, r));
	}
}

static void branch_collect(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			   const struct clock_reading *now)
{
	struct trace_branch_entry branch;

	branch_entry(i->t, r, &branch);
	instance_take_branch(i, vcpu, r, &branch, record_time(i, now, r));
}

/* The records of vCPU b->vcpu in their order; `left` is how many calls it may take. */
static void records_collect(struct instance *i, const struct batch *b,
			    const struct clock_reading *now, uint64_t left)
{
	bool every = takes_every_call(i), plain = calls_are_plain(i);
	bool branches = b->branches && instance_takes_branches(i, b->vcpu);
	uint64_t until = atomic_load_explicit(&i->until, memory_order_relaxed);
	struct record_memo memo = {0};

	for (size_t k = 0; k < b->n; k++) {
		const struct payload_record *r = &b->r[k];
		unsigned int type = record_type(r);

		if (type == PAYLOAD_FUNCTION && left && r->tsc <= until &&
		    (every || record_taken(i, r))) {
			uint64_t ts = record_time(i, now, r);

			if (plain)
				instance_put_function(i->ring[b->vcpu], r, ts, &memo);
			else
				collect_call(i, b->vcpu, r, ts);
			left--;
		} else if (type == PAYLOAD_EVENT) {
			uint32_t event = event_taken(i, b->vcpu, r);
			const void *data = event == EVENT_NONE ? NULL : event_ring_data(b->er, r);

			if (data)
				instance_collect_event(i, b->vcpu, r, event, data,
						       event_ring_stack(b->er, r), b->er,
						       record_time(i, now, r));
		} else if (type == PAYLOAD_BRANCH && branches) {
			branch_collect(i, b->vcpu, r, now);
		}
	}
}

static void instance_collect(struct instance *i, const struct batch *b, uint64_t left)
{
	struct clock_reading now;

	/* With function_graph, events take their place among calls and returns: graph_feed(). */
	if (i->tracer->exits || !(i->cpumask >> b->vcpu & 1))
		return;
	if (!instance_collects(i) || !instance_traces_functions(i))
		left = 0;
	if (!left && !i->calls && !(b->branches && instance_takes_branches(i, b->vcpu)) &&
	    !(b->events && (instance_wants_events(i) || guest_prints_taken(i))))
		return;
	clock_begin(i->clock, i->t, b->vcpu, b->last->tsc, &now);
	if (i->calls && instance_collects(i))
		calls_log(i, b, &now, left);
	records_collect(i, b, &now, i->calls ? 0 : left);
}

/* How many of these the top level takes, as far as the number of events is limited. */
static uint64_t top_admits(struct trace *t, unsigned int vcpu, const struct payload_record *r,
			   size_t n, uint64_t functions)
{
	const struct instance *top = t->instances;
	uint64_t taken = functions;

	if (!instance_collects(top) || !instance_traces_functions(top) || top->tracer->exits ||
	    !(top->cpumask >> vcpu & 1))
		return 0;
	if (instance_is_ordered(top) && !top->calls)
		return n;
	if (!takes_every_call(top)) {
		taken = 0;
		for (size_t i = 0; i < n; i++)
			taken += record_type(&r[i]) == PAYLOAD_FUNCTION && record_taken(top, &r[i]);
	}
	return trace_admit(t, taken);
}

/* Where the kernel's own text is that the record was made in the place of. */
static void record_home(const struct trace *t, struct payload_record *r)
{
	r->ip = (uint32_t)guest_home(&t->guest, KERNEL_HALF | r->ip);
}

/* The stack where a window has ended, when it is of interest. */
static const struct event_stack *window_stack(struct trace *t, const struct batch *b,
					      const struct payload_record *end,
					      const struct critical_window *w,
					      struct event_stack *room)
{
	struct payload_stack copy;
	uint64_t end_of_site;

	if (!record_has_copy(end))
		return event_ring_stack(b->er, end);
	if (!t->instances->tracer->wants_stack(t->instances, w) ||
	    !event_ring_copy(b->er, end, &copy) || !copy.n)
		return NULL;
	end_of_site = copy.word[0];
	room->has_user = false;
	room->n = stack_copy_unwind(t, end_of_site - SITE_SIZE, &copy, room->ip, EVENT_STACK_DEPTH);
	return room;
}

static void batch_windows(struct trace *t, const struct batch *b, bool lost)
{
	struct instance *top = t->instances;
	struct critical *c = &t->critical[b->vcpu];

	if (lost && top->tracer->critical) {
		critical_lost(c);
		top->tracer->lost(top);
		/* It may have been the longest one. */
		trampoline_set_critical_min(t, instance_max_ticks(top));
	}
	for (size_t k = 0; b->windows && k < b->n; k++) {
		struct critical_window w = {.vcpu = b->vcpu};
		struct event_stack stack;

		if (!critical_step(c, &b->r[k], &w) || !top->tracer->window ||
		    !instance_is_on_at(top, w.on.tsc))
			continue;
		record_home(t, &w.off);
		record_home(t, &w.on);
		w.on.parent &= WINDOW_END_USER;
		w.stack = window_stack(t, b, &b->r[k], &w, &stack);
		trace_seen(t, w.on.tsc);
		top->tracer->window(top, &w);
	}
}

/* One that is not of a call or a return, to take its place among them. False: it has none. */
static bool batch_feed_other(struct trace *t, const struct batch *b, const struct payload_record *r)
{
	const struct instance *top = t->instances;
	struct payload_record own = *r;
	struct trace_branch_entry branch;
	uint32_t event;
	const void *data;

	if (record_type(r) == PAYLOAD_BRANCH) {
		if (!instance_takes_branches(top, b->vcpu))
			return true;
		branch_entry(t, r, &branch);
		own.event_len = sizeof(branch);
		return graph_feed_event(t->graph, b->vcpu, &own, EVENT_OF_BRANCH, &branch, NULL);
	}
	event = event_taken(top, b->vcpu, r);
	data = event == EVENT_NONE ? NULL : event_ring_data(b->er, r);
	return !data ||
	       graph_feed_event(t->graph, b->vcpu, r, event, data, event_ring_stack(b->er, r));
}

/* Records of calls and returns as they are, those of events with their data. */
static void batch_feed(struct trace *t, const struct batch *b, bool lost)
{
	bool others = (b->events || b->branches) && t->instances->tracer->exits;
	size_t from = 0;

	for (size_t k = 0; others && k < b->n; k++) {
		const struct payload_record *r = &b->r[k];

		if (!record_is_event(r) && record_type(r) != PAYLOAD_BRANCH)
			continue;
		graph_feed(t->graph, b->vcpu, b->r + from, k - from, lost);
		lost = false;
		from = k + 1;
		if (!batch_feed_other(t, b, r))
			b->er->lost++;
	}
	graph_feed(t->graph, b->vcpu, b->r + from, b->n - from, lost);
}

void record_batch(struct trace *t, unsigned int vcpu, const struct payload_record *r, size_t n,
		  struct event_ring *er, bool lost)
{
	struct batch b = {.vcpu = vcpu, .r = r, .n = n, .er = er};
	bool done = atomic_load(&t->done);
	uint64_t left;

	record_switch_look(t);
	batch_look(t, &b);
	if (b.events || b.copies)
		batch_load(t, &b);
	if (instance_pairs_calls(t->instances))
		batch_feed(t, &b, lost);
	if (lost || b.missed)
		batch_missed(t, vcpu);
	if (t->instances->calls && lost)
		call_log_clear(t->instances->calls, vcpu);
	batch_windows(t, &b, lost);
	if (!b.last)
		return;
	trace_seen(t, b.last->tsc);
	left = top_admits(t, vcpu, r, n, b.functions);
	for (struct instance *i = t->instances; i; i = i->next)
		instance_collect(i, &b, i == t->instances ? left : done ? 0 : n);
	if (record_type(b.last) == PAYLOAD_FUNCTION || record_type(b.last) == PAYLOAD_EXIT)
		atomic_store_explicit(&t->at_ip[vcpu], KERNEL_HALF | b.last->ip,
				      memory_order_relaxed);
	trace_wake(t);
}
