// SPDX-License-Identifier: GPL-2.0-or-later
/* graph.c - see graph.h */
#include "tracer/record/graph.h"
#include "tracer/events/events.h"
#include "tracer/filter/funcs.h"
#include "tracer/graph/merge.h"
#include "tracer/graph/profile.h"
#include "tracer/graph/stacks.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/instance.h"
#include "tracer/payload/event-ring.h"
#include "tracer/payload/record.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/ring/put.h"

#include <stdlib.h>
#include <string.h>

/* Clocks as they are while records are written that were made about now. */
struct graph_clock {
	bool known;
	struct clock_reading event, call;
};

/* What does not change while some records are written, and would be asked for with each. */
struct graph_run {
	const struct clock_ops *call; /* the clock of calls */
	bool exits;	 /* the tracer records returns, and how functions return is known */
	bool every_call; /* no record need be looked at to know that it is taken */
	bool unfiltered;
};

struct graph {
	struct trace *t;
	pthread_mutex_t lock; /* for traps, which hold one vCPU's lock only */
	struct graph_merge merge;
	struct pairing *pairing;
	bool stacks_known;
	bool gap[MACHINE_MAX_VCPUS]; /* records did not fit into its queue */
	struct graph_clock clock[MACHINE_MAX_VCPUS];
	struct graph_run run;
	struct record_memo memo;
	const struct clock_ops *local;
	uint64_t events;       /* written, and not counted by the trace yet */
	atomic_size_t waiting; /* bytes of struct graph_event */
	uint32_t switches;     /* finish_task_switch()'s probe, or UINT32_MAX */
};

/* --- clocks ---------------------------------------------------------------------------------- */

/* The kernel takes the times of calls from its local clock, whatever that of the trace is. */
static const struct clock_ops *call_clock(const struct graph *g, const struct instance *i)
{
	return i->clock->ns && !instance_profiles(i) ? i->clock : g->local;
}

static void clocks_begin(struct graph *g, const struct instance *i, unsigned int vcpu, uint64_t tsc)
{
	const struct clock_ops *call = g->run.call, *event = i->clock;
	struct graph_clock *c = &g->clock[vcpu];

	c->known = true;
	clock_begin(event, g->t, vcpu, tsc, &c->event);
	if (call == event)
		c->call = c->event;
	else
		clock_begin(call, g->t, vcpu, tsc, &c->call);
}

static uint64_t call_time(struct graph *g, const struct instance *i, unsigned int vcpu,
			  uint64_t tsc)
{
	if (!g->clock[vcpu].known)
		clocks_begin(g, i, vcpu, tsc);
	return clock_read(g->run.call, g->t, &g->clock[vcpu].call, tsc);
}

/* Called with g->lock held, before the first of some records. */
static void run_begin(struct graph *g)
{
	const struct instance *i = g->t->instances;

	g->run = (struct graph_run){
		.call = call_clock(g, i),
		.exits = i->tracer->exits && returns_known(g->t),
		.every_call = i->all && !pid_filter_on(&i->pids),
		.unfiltered = graph_filter_is_none(&i->graph),
	};
	for (unsigned int v = 0; v < g->t->vcpus; v++)
		g->clock[v].known = false;
}

/* --- entries --------------------------------------------------------------------------------- */

/* Counting each event by itself is only needed where their number is limited. */
static bool admit(struct graph *g)
{
	if (g->t->max_events != UINT64_MAX)
		return trace_admit(g->t, 1);
	g->events++;
	return !atomic_load_explicit(&g->t->done, memory_order_relaxed);
}

static void admitted(struct graph *g)
{
	if (g->events)
		trace_admit(g->t, g->events);
	g->events = 0;
}

/* Room for an event; `time` is what the call's clock says. */
static void *entry_reserve(struct graph *g, struct instance *i, unsigned int vcpu,
			   const struct payload_record *r, uint64_t time, uint16_t type, size_t len)
{
	struct trace_entry *e;

	if (!admit(g))
		return NULL;
	if (!i->clock->ns)
		time = clock_read(i->clock, g->t, &g->clock[vcpu].event, r->tsc);
	e = ring_put_begin(i->ring[vcpu], len, horizon_time(&i->horizon, time));
	if (!e)
		return NULL;
	record_entry_again(&g->memo, r, type, e);
	return e;
}

/* Until a guest that boots has patched its returns calls would never end. */
static bool is_on(const struct graph *g, const struct instance *i, unsigned int vcpu,
		  const struct payload_record *r)
{
	return instance_is_on_at(i, r->tsc) && g->run.exits && i->cpumask >> vcpu & 1;
}

static bool is_taken(const struct graph *g, const struct instance *i,
		     const struct payload_record *r)
{
	const struct trace *t = i->t;
	uint32_t func;

	if (g->run.every_call)
		return true;
	if (!pid_filter_traces(&i->pids, record_pid(r)))
		return false;
	if (i->all)
		return true;
	func = funcs_at(t->funcs, KERNEL_HALF | r->ip);
	return func != FUNC_NONE && instance_bit(i->takes, i->room, t->func_probe[func]);
}

static uint64_t time_from(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0; /* vCPUs' clocks may differ a little */
}

/* --- the profiler ---------------------------------------------------------------------------- */

static enum pairing_verdict profile_entry(struct graph *g, unsigned int vcpu,
					  const struct payload_record *r, struct pairing_call *call)
{
	struct instance *i = g->t->instances;

	if (!is_taken(g, i, r))
		return PAIRING_IGNORE;
	call->time = call_time(g, i, vcpu, r->tsc);
	profile_call(g->t->profile[vcpu], KERNEL_HALF | r->ip);
	return PAIRING_KEEP;
}

static void profile_exit(struct graph *g, unsigned int vcpu, const struct payload_record *r,
			 const struct pairing_call *call, struct pairing_call *outer)
{
	struct instance *i = g->t->instances;
	uint64_t ns;

	ns = time_from(call->time, call_time(g, i, vcpu, r->tsc));
	if (outer)
		outer->inner += ns;
	if (!(i->graph_options & OUTPUT_GRAPH_GRAPH_TIME))
		ns = time_from(call->inner, ns);
	profile_return(g->t->profile[vcpu], KERNEL_HALF | call->ip, ns);
}

/* --- pairs ----------------------------------------------------------------------------------- */

static uint8_t filter_call(const struct graph *g, const struct instance *i,
			   const struct payload_record *r, const struct pairing_call *call,
			   uint8_t outer)
{
	if (g->run.unfiltered && !(outer & ~GRAPH_CALL_SHOWN))
		return GRAPH_CALL_SHOWN;
	return graph_filter_call(&i->graph, KERNEL_HALF | r->ip, call->depth,
				 r->state & HARDIRQ_MASK, outer);
}

static enum pairing_verdict graph_entry(void *arg, unsigned int vcpu,
					const struct payload_record *r, struct pairing_call *call,
					const struct pairing_call *outer)
{
	struct graph *g = arg;
	struct instance *i = g->t->instances;
	struct trace_graph_entry *e;

	if (g->t->profiling)
		return profile_entry(g, vcpu, r, call);
	if (!is_on(g, i, vcpu, r) || !is_taken(g, i, r))
		return PAIRING_IGNORE;
	call->flags = filter_call(g, i, r, call, outer ? outer->flags : 0);
	if (!call->flags)
		return PAIRING_IGNORE;
	call->time = call_time(g, i, vcpu, r->tsc);
	if (!graph_filter_enters(&i->graph, call->flags))
		return PAIRING_KEEP;
	e = entry_reserve(g, i, vcpu, r, call->time, TRACE_GRAPH_ENT, sizeof(*e));
	if (!e)
		return PAIRING_KEEP;
	e->func = KERNEL_HALF | r->ip;
	e->depth = call->depth;
	ring_put_end(i->ring[vcpu]);
	return PAIRING_KEEP;
}

static void graph_exit(void *arg, unsigned int vcpu, const struct payload_record *r,
		       const struct pairing_call *call, struct pairing_call *outer,
		       uint32_t overrun)
{
	struct graph *g = arg;
	struct instance *i = g->t->instances;
	struct trace_graph_exit *e;
	uint64_t time;

	if (g->t->profiling) {
		profile_exit(g, vcpu, r, call, outer);
		return;
	}
	if (!is_on(g, i, vcpu, r))
		return;
	time = call_time(g, i, vcpu, r->tsc);
	/* Clocks of vCPUs may differ a little, and so may a payload's from that of a trap. */
	if (time < call->time)
		time = call->time;
	if (!graph_filter_leaves(&i->graph, call->flags, time - call->time))
		return;
	e = entry_reserve(g, i, vcpu, r, time, TRACE_GRAPH_RET, sizeof(*e));
	if (!e)
		return;
	e->func = KERNEL_HALF | call->ip;
	e->depth = call->depth;
	e->overrun = overrun;
	e->calltime = call->time;
	e->rettime = time;
	ring_put_end(i->ring[vcpu]);
}

/* With sleep-time off its open calls began that much later. */
static void graph_slept(void *arg, unsigned int vcpu, const struct payload_record *r, uint64_t left,
			struct pairing_call *calls, unsigned int nr)
{
	struct graph *g = arg;
	struct instance *i = g->t->instances;
	uint64_t slept;

	if (i->graph_options & OUTPUT_GRAPH_SLEEP_TIME)
		return;
	slept = time_from(call_time(g, i, vcpu, left), call_time(g, i, vcpu, r->tsc));
	for (unsigned int c = 0; c < nr; c++)
		calls[c].time += slept;
}

static const struct pairing_ops graph_pairing_ops = {
	.entry = graph_entry,
	.exit = graph_exit,
	.slept = graph_slept,
};

/* --- the guest's stacks ---------------------------------------------------------------------- */

static void stacks_learn(struct graph *g)
{
	struct pairing_stacks stacks;

	/* The first filter is set before there is a guest to ask. */
	if (g->stacks_known || !g->t->m ||
	    !pairing_stacks_read(&g->t->guest, g->t->gs, g->t->vcpus, &stacks))
		return;
	g->stacks_known = true;
	pairing_set_stacks(g->pairing, &stacks);
}

/* --- events ---------------------------------------------------------------------------------- */

/* Events wait among the calls, their data here; the record has its address instead of its place. */
struct graph_event {
	uint32_t event;
	struct event_stack *stack; /* NULL: not looked at */
	uint8_t data[];
};

#define EVENTS_MAX     ((size_t)64 << 20) /* bytes that wait at one time */
#define EVENT_SIZE_MAX (sizeof(struct graph_event) + sizeof(struct event_stack) + EVENT_MAX)

static size_t event_size(const struct payload_record *r)
{
	return sizeof(struct graph_event) + sizeof(struct event_stack) + r->event_len;
}

static void event_free(struct graph_event *e)
{
	free(e->stack);
	free(e);
}

static struct graph_event *event_new(const struct payload_record *r, uint32_t event,
				     const void *data, const struct event_stack *stack)
{
	struct graph_event *e = malloc(sizeof(*e) + r->event_len);

	if (!e)
		return NULL;
	e->event = event;
	memcpy(e->data, data, r->event_len);
	e->stack = stack ? malloc(sizeof(*stack)) : NULL;
	if (e->stack)
		*e->stack = *stack;
	return e;
}

bool graph_feed_event(struct graph *g, unsigned int vcpu, const struct payload_record *r,
		      uint32_t event, const void *data, const struct event_stack *stack)
{
	size_t size = event_size(r);
	struct payload_record own = *r;
	struct graph_event *e;

	if (atomic_load(&g->waiting) + size > EVENTS_MAX)
		return false;
	e = event_new(r, event, data, stack);
	if (!e)
		return false;
	memcpy(&own.event_at, &e, sizeof(e));
	own.state = (r->state & ~((uint32_t)STATE_TYPE_MASK << STATE_TYPE_SHIFT)) |
		    (uint32_t)GRAPH_EVENT << STATE_TYPE_SHIFT;
	if (graph_merge_add_own(&g->merge, vcpu, &own)) {
		atomic_fetch_add(&g->waiting, size);
		return true;
	}
	event_free(e);
	return false;
}

static struct graph_event *event_of(struct graph *g, const struct payload_record *r)
{
	struct graph_event *e;

	memcpy(&e, &r->event_at, sizeof(e));
	atomic_fetch_sub(&g->waiting, event_size(r));
	return e;
}

static void take_event(struct graph *g, unsigned int vcpu, const struct payload_record *r)
{
	struct graph_event *e = event_of(g, r);
	struct instance *i = g->t->instances;
	uint64_t time;

	if (i->tracer->exits) {
		if (!g->clock[vcpu].known)
			clocks_begin(g, i, vcpu, r->tsc);
		time = instance_time(i, &g->clock[vcpu].event, r->tsc);
		i->in_order = true;
		instance_collect_event(i, vcpu, r, e->event, e->data, e->stack, NULL, time);
		i->in_order = false;
	}
	event_free(e);
}

static void drop_events(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	(void)vcpu;
	for (size_t i = 0; i < n; i++)
		if (record_type(&r[i]) == GRAPH_EVENT)
			event_free(event_of(arg, &r[i]));
}

/* --- from the records ------------------------------------------------------------------------ */

/* Of all that this vCPU has recorded before that everything is in its ring. */
static void missed(struct graph *g, unsigned int vcpu)
{
	struct instance *top = g->t->instances;

	if (top->tracer->exits)
		ring_missed(top->ring[vcpu]);
}

static void take(struct graph *g, unsigned int vcpu, const struct payload_record *r)
{
	switch (record_type(r)) {
	case GRAPH_LOST:
		missed(g, vcpu);
		pairing_gap(g->pairing, vcpu, true);
		break;
	case GRAPH_FOUND:
		pairing_gap(g->pairing, vcpu, false);
		break;
	case GRAPH_EVENT:
		take_event(g, vcpu, r);
		break;
	default:
		pairing_record(g->pairing, vcpu, r);
	}
}

static void take_all(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		take(arg, vcpu, &r[i]);
}

void graph_feed(struct graph *g, unsigned int vcpu, const struct payload_record *r, size_t n,
		bool lost)
{
	/* What is not queued is missing in what comes next. */
	if (lost && !graph_merge_lost(&g->merge, vcpu))
		g->gap[vcpu] = true;
	if (n && !graph_merge_add(&g->merge, vcpu, r, n))
		g->gap[vcpu] = true;
}

/*
 * While many events wait a vCPU of which nothing is queued may feed some all the same: until it
 * does nobody knows when its next record was made, so nothing of the others' would be written. What
 * all may feed so is no more than there is room for.
 */
static size_t room_for_first(const struct graph *g, unsigned int vcpu, size_t n)
{
	size_t share = EVENTS_MAX / 2 / g->t->vcpus / EVENT_SIZE_MAX;

	if (g->merge.queue[vcpu].nr)
		return 0;
	return n < share ? n : share;
}

size_t graph_room(const struct graph *g, unsigned int vcpu, size_t n)
{
	if (graph_merge_is_full(&g->merge, vcpu, n))
		return 0;
	if (atomic_load_explicit(&g->waiting, memory_order_relaxed) <= EVENTS_MAX / 2)
		return n;
	return room_for_first(g, vcpu, n);
}

bool graph_merge(struct graph *g, bool all, size_t max, uint64_t held)
{
	bool gap = false, left;

	pthread_mutex_lock(&g->lock);
	stacks_learn(g);
	run_begin(g);
	for (unsigned int i = 0; i < g->t->vcpus; i++) {
		gap = gap || g->gap[i];
		g->gap[i] = false;
	}
	left = graph_merge_run(&g->merge, all || gap, all || gap ? SIZE_MAX : max, held, take_all,
			       g);
	if (gap)
		pairing_lost(g->pairing);
	for (unsigned int i = 0; gap && i < g->t->vcpus; i++)
		missed(g, i);
	admitted(g);
	pthread_mutex_unlock(&g->lock);
	trace_wake(g->t);
	return left;
}

/* --- from hits ------------------------------------------------------------------------------- */

static void take_now(struct graph *g, unsigned int vcpu, const struct payload_record *r)
{
	pthread_mutex_lock(&g->lock);
	stacks_learn(g);
	run_begin(g);
	take(g, vcpu, r);
	admitted(g);
	pthread_mutex_unlock(&g->lock);
}

/* Where vCPUs record by themselves too, it takes its place among theirs. */
void graph_hit(struct graph *g, const struct machine_hit *hit, bool is_exit)
{
	struct trace *t = g->t;
	struct payload_record r;

	instance_hit_record(t, hit, is_exit, &r);
	if (t->tramp)
		graph_feed(g, hit->vcpu, &r, 1, false);
	else
		take_now(g, hit->vcpu, &r);
}

void graph_hold(struct graph *g, uint64_t tsc)
{
	pthread_mutex_lock(&g->lock);
	g->merge.hold = tsc;
	pthread_mutex_unlock(&g->lock);
}

void graph_forget(struct graph *g)
{
	pthread_mutex_lock(&g->lock);
	pairing_lost(g->pairing);
	pthread_mutex_unlock(&g->lock);
}

void graph_get_counts(struct graph *g, struct pairing_counts *counts)
{
	pthread_mutex_lock(&g->lock);
	pairing_get_counts(g->pairing, counts);
	pthread_mutex_unlock(&g->lock);
}

/* --- switches of tasks ----------------------------------------------------------------------- */

/*
 * Called by each task that has been switched to, new ones too, before the task that it was switched
 * from may run elsewhere. Compilers give it a suffix.
 */
#define SWITCHED "finish_task_switch"

void graph_learn(struct graph *g)
{
	const struct probe_set *probes = &g->t->probes;
	size_t len = strlen(SWITCHED);

	for (size_t i = 0; i < probes->nr && g->switches == UINT32_MAX; i++) {
		const struct probe *p = &probes->v[i];

		if (p->flags & PROBE_FL_FUNCTION && !strncmp(p->name, SWITCHED, len) &&
		    (!p->name[len] || p->name[len] == '.'))
			g->switches = (uint32_t)i;
	}
}

uint32_t graph_switch_probe(const struct trace *t)
{
	const struct instance *top = t->instances;

	return instance_pairs_calls(top) && !(top->graph_options & OUTPUT_GRAPH_SLEEP_TIME)
		       ? t->graph->switches
		       : UINT32_MAX;
}

/* --- from beginning to end ------------------------------------------------------------------- */

struct graph *graph_new(struct trace *t)
{
	struct graph *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->t = t;
	g->switches = UINT32_MAX;
	g->local = clock_find("local");
	g->merge.vcpus = t->vcpus;
	g->merge.prefault = true;
	g->merge.waits = t->cfg.lossless;
	g->pairing = pairing_new(&graph_pairing_ops, g);
	if (!g->pairing) {
		free(g);
		return NULL;
	}
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	pairing_free(g->pairing);
	graph_merge_run(&g->merge, true, SIZE_MAX, 0, drop_events, g);
	graph_merge_exit(&g->merge);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
