// SPDX-License-Identifier: GPL-2.0-or-later
/* recording.c - what an instance records: by which tracer, with which clock, and where. */
#include "tracer/collect/collect.h"
#include "tracer/control/files.h"
#include "tracer/control/tracer-events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/instance/order.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"
#include "tracer/stat/latencies.h"
#include "tracer/tracers/names.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <string.h>

const char *instance_tracer(struct instance *i)
{
	return i->tracer->name;
}

/* What it works on is there; t->change is held. */
static int tracer_switch(struct instance *i, const struct tracer_ops *tracer,
			 const struct tracer_work *work)
{
	trace_writers_stop(i->t);
	record_drain_all(i->t);
	instance_clear_stopped(i, ALL_VCPUS);
	i->tracer = tracer;
	i->tracer_data = work->data;
	memcpy(i->tracer_events, work->event, sizeof(i->tracer_events));
	memcpy(i->tracer_calls, work->call, sizeof(i->tracer_calls));
	instance_order_want(i, ORDER_TRACER, tracer->ordered);
	if (tracer->start)
		tracer->start(i);
	if (tracer->max) {
		instance_snapshot_clear(i, ALL_VCPUS);
		i->max_latency = 0;
	}
	latencies_begin(i);
	record_forget_calls(i->t);
	trace_writers_go(i->t);
	return selection_patch(i->t);
}

bool instance_lacks_exits(const struct instance *i)
{
	return i->t->placed && !returns_known(i->t);
}

/* Its trace has exits of functions in it. */
static bool shows_exits(const struct instance *i, const struct tracer_ops *tracer)
{
	return tracer->exits || (tracer->max && instance_options_ask_graph(i->options));
}

static int tracer_try(struct instance *i, const struct tracer_ops *tracer,
		      const struct tracer_work *work)
{
	static const struct tracer_work none;
	int ret;

	trace_change_begin(i->t);
	if (tracer->exits && i->t->profiling) {
		/* As in the kernel: the tracer before has gone by the time that the next one is
		 * refused. */
		tracer_switch(i, &nop_tracer_ops, &none);
		ret = -EBUSY;
	} else if (shows_exits(i, tracer) && instance_lacks_exits(i)) {
		ret = -EOPNOTSUPP;
	} else {
		ret = tracer_switch(i, tracer, work);
	}
	trace_change_end(i->t);
	return pieces_finish(i->t, ret);
}

/* Where windows of these kinds end, stacks are looked at. */
static int critical_check(struct trace *t, uint32_t critical)
{
	int ret;

	trace_change_begin(t);
	ret = flag_sites_check(t, critical);
	trace_change_end(t);
	if (!ret)
		trace_use_stacks(t);
	return ret;
}

/* A tracer of the longest latency has become the instance's, or was: its options, and the buffers.
 */

/* As start_wakeup_tracer() and its like: their trace reads best so, and keeps what came last. */
#define MAX_OPTIONS (OUTPUT_LATENCY_FORMAT | OUTPUT_OVERWRITE)

static void max_begin(struct instance *i)
{
	i->max_saved = i->options & MAX_OPTIONS;
	instance_set_option(i, OUTPUT_LATENCY_FORMAT, true);
	instance_set_option(i, OUTPUT_OVERWRITE, true);
}

static void max_end(struct instance *i)
{
	instance_set_option(i, OUTPUT_LATENCY_FORMAT, i->max_saved & OUTPUT_LATENCY_FORMAT);
	instance_set_option(i, OUTPUT_OVERWRITE, i->max_saved & OUTPUT_OVERWRITE);
	instance_snapshot_free(i);
}

/* Accesses to devices come for as long as its tracer asks for them. */
static int watch_devices(struct instance *i, bool on)
{
	char why[256];
	int ret = i->t->m ? machine_mmio_watch(i->t->m, on, why, sizeof(why)) : 0;

	if (ret)
		trace_note(i->t, "%s", why);
	return ret;
}

int instance_set_tracer(struct instance *i, const char *name)
{
	const struct tracer_ops *tracer = tracer_find(name), *before = NULL;
	struct events *events = i->t->trace_events;
	struct tracer_work work, old;
	const char *why;
	bool taken;
	int ret;

	/* One task's calls are followed once, so not for several instances, as in the kernel. */
	if (!tracer || (trace_tracer_is_top(name) && i != i->t->instances))
		return -EINVAL;
	why = tracer_refused(i->t, tracer);
	if (why) {
		trace_note(i->t, "%s", why);
		return -EOPNOTSUPP;
	}
	ret = tracer->events ? events_load(events) : 0;
	if (ret)
		return ret == -ENODATA ? -EOPNOTSUPP : ret;
	ret = tracer->critical ? critical_check(i->t, tracer->critical) : 0;
	if (!ret && tracer->mmio)
		ret = watch_devices(i, true);
	if (ret)
		return ret;
	/* Taken for all tracers, so that they change one after the other. */
	events_lock(events);
	ret = tracer_events_get(i, tracer, &work);
	if (!ret) {
		before = i->tracer;
		old.data = i->tracer_data;
		memcpy(old.event, i->tracer_events, sizeof(old.event));
		ret = tracer_try(i, tracer, &work);
		/* It may be the same one as before, and then only its data tells. */
		taken = i->tracer == tracer && i->tracer_data == work.data;
		if (taken || i->tracer != before)
			tracer_events_put(i, before, &old);
		if (!taken)
			tracer_events_put(i, tracer, &work);
	}
	if (!i->tracer->mmio && (tracer->mmio || (before && before->mmio)))
		watch_devices(i, false);
	if (!ret && before && tracer->max && !before->max)
		max_begin(i);
	else if (!ret && before && !tracer->max && before->max)
		max_end(i);
	events_unlock(events);
	return ret;
}

const char *instance_clock(struct instance *i)
{
	return i->clock->name;
}

int instance_set_clock(struct instance *i, const char *name)
{
	const struct clock_ops *clock = clock_find(name);

	if (!clock)
		return -EINVAL;
	trace_writers_stop(i->t);
	record_drain_all(i->t);
	i->clock = clock;
	instance_order_want(i, ORDER_CLOCK, clock->counts);
	horizon_reset(&i->horizon);
	if (i->tracer->start)
		i->tracer->start(i);
	record_forget_calls(i->t); /* it has times of the other clock */
	instance_clear_stopped(i, ALL_VCPUS);
	instance_snapshot_clear(i, ALL_VCPUS);
	trace_writers_go(i->t);
	return 0;
}

void instance_clear(struct instance *i, int vcpu)
{
	if (i->tracer->max) {
		instance_snapshot_clear(i, vcpu);
		return;
	}
	trace_writers_stop(i->t);
	record_drain_all(i->t);
	instance_clear_stopped(i, vcpu);
	trace_writers_go(i->t);
}

void trace_catch_up(struct trace *t)
{
	trace_writers_stop(t);
	collect_catch_up(t);
	trace_writers_go(t);
	record_do_deferred(t);
}

unsigned int trace_graph_depth(struct trace *t)
{
	return __atomic_load_n(&t->instances->graph.max_depth, __ATOMIC_RELAXED);
}

void trace_set_graph_depth(struct trace *t, unsigned int depth)
{
	trace_writers_stop(t);
	__atomic_store_n(&t->instances->graph.max_depth, depth, __ATOMIC_RELAXED);
	trace_writers_go(t);
}

uint64_t instance_max_latency(struct instance *i)
{
	return i->max_latency;
}

void instance_set_max_latency(struct instance *i, uint64_t ns)
{
	i->max_latency = ns;
	payload_control(i->t);
}

uint64_t instance_cpumask(struct instance *i)
{
	return i->cpumask;
}

int instance_set_cpumask(struct instance *i, uint64_t mask)
{
	trace_writers_stop(i->t);
	i->cpumask = mask & trace_all_vcpus(i->t);
	trace_writers_go(i->t);
	payload_control(i->t);
	return 0;
}
