// SPDX-License-Identifier: GPL-2.0-or-later
/* options.c - the options of an instance, and what follows when one is switched. */
#include "tracer/control/files.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/follow.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/branch.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/tracepoint/tracepoint.h"

#include <errno.h>
#include <string.h>

const struct output_options *trace_option_rows(void)
{
	return &output_trace_options;
}

const struct output_options *trace_branch_option_rows(const struct trace *t)
{
	return guest_branches_known(t) ? &output_branch_options : output_tracer_options("");
}

const struct output_options *tracer_option_rows(const char *tracer)
{
	return output_tracer_options(tracer);
}

uint32_t instance_options(struct instance *i)
{
	return i->options;
}

/* Whether records of events are to come with their stacks. */
static int instance_stacks_changed(struct instance *i)
{
	struct events *events = i->t->trace_events;
	int ret;

	events_lock(events);
	ret = i == i->t->instances ? guest_prints_stacks_apply(i->t) : 0;
	if (!ret && instance_wants_events(i))
		ret = events_apply(events);
	events_unlock(events);
	return ret;
}

/* The window that is looked for begins anew: wakeup_display_graph() and its like. */
static void max_restart(struct instance *i)
{
	trace_writers_stop(i->t);
	record_drain_all(i->t);
	instance_clear_stopped(i, ALL_VCPUS);
	instance_snapshot_clear(i, ALL_VCPUS);
	i->max_latency = 0;
	i->tracer->start(i);
	trace_writers_go(i->t);
}

/* Others may be switching other options. */
static uint32_t option_set(struct instance *i, uint32_t flag, bool on)
{
	return on ? atomic_fetch_or(&i->options, flag) : atomic_fetch_and(&i->options, ~flag);
}

static int max_switch_option(struct instance *i, uint32_t flag, bool on)
{
	uint32_t before = option_set(i, flag, on);

	if (flag & OUTPUT_DISPLAY_GRAPH && !(before & flag) == on)
		max_restart(i);
	return selection_patch(i->t);
}

/* It was `before`, and could not be changed. */
static void max_restore_option(struct instance *i, uint32_t flag, uint32_t before)
{
	trace_change_begin(i->t);
	option_set(i, flag, before & flag);
	selection_patch(i->t);
	trace_change_end(i->t);
	pieces_finish(i->t, 0);
}

/* What the trace of a latency consists of: all or nothing. */
static int max_set_option(struct instance *i, uint32_t flag, bool on)
{
	uint32_t before, options;
	int ret = 0;
	bool lacks;

	trace_change_begin(i->t);
	before = i->options;
	options = on ? before | flag : before & ~flag;
	lacks = instance_options_ask_graph(options) && instance_lacks_exits(i);
	if (!lacks)
		ret = max_switch_option(i, flag, on);
	trace_change_end(i->t);
	if (lacks) {
		trace_note(i->t, "display-graph: how functions return is not known (yet) of this "
				 "guest's kernel; function-trace 0 does without them");
		return -EOPNOTSUPP;
	}
	ret = pieces_finish(i->t, ret);
	if (ret)
		max_restore_option(i, flag, before);
	return ret;
}

/* Records of likely() and unlikely() beside the tracer's. */
static int branches_set_option(struct instance *i, bool on)
{
	struct trace *t = i->t;
	int ret;

	events_lock(t->trace_events);
	ret = on ? guest_branches_place(t) : 0;
	if (!ret) {
		trace_writers_stop(t);
		record_drain_all(t); /* by what it was up to now */
		option_set(i, OUTPUT_BRANCH, on);
		trace_writers_go(t);
		payload_control(t);
		guest_branches_settle(t);
	}
	events_unlock(t->trace_events);
	return ret;
}

int instance_set_option(struct instance *i, uint32_t flag, bool on)
{
	bool forks = flag & (OUTPUT_FUNCTION_FORK | OUTPUT_EVENT_FORK);

	if (on && forks && !i->t->follow->known) {
		trace_note(i->t, "%s-fork: this kernel does not tell when tasks come and go",
			   flag & OUTPUT_EVENT_FORK ? "event" : "function");
		return -EOPNOTSUPP;
	}
	if (flag & OUTPUT_BRANCH)
		return branches_set_option(i, on);
	if (i->tracer->max && flag & (OUTPUT_FUNCTION_TRACE | OUTPUT_DISPLAY_GRAPH))
		return max_set_option(i, flag, on);
	option_set(i, flag, on);
	if (flag & OUTPUT_OVERWRITE)
		for (unsigned int v = 0; v < i->t->vcpus; v++)
			ring_set_overwrite(ring_now(i->ring, v), on);
	if (flag & (OUTPUT_PRINTK | OUTPUT_MARKERS))
		payload_control(i->t);
	if (flag & (OUTPUT_STACKTRACE | OUTPUT_USER_STACKTRACE))
		return instance_stacks_changed(i);
	return forks ? instance_repatch(i) : 0;
}

/* NULL: that tracer has none. */
static _Atomic uint32_t *tracer_options_of(struct instance *i, const char *tracer)
{
	if (!strcmp(tracer, "function"))
		return &i->function_options;
	if (!strcmp(tracer, "function_graph"))
		return &i->graph_options;
	if (!strcmp(tracer, "blk"))
		return &i->blk_options;
	return strcmp(tracer, "nop") ? NULL : &i->nop_options;
}

uint32_t instance_tracer_options(struct instance *i, const char *tracer)
{
	_Atomic uint32_t *options = tracer_options_of(i, tracer);

	return options ? *options : 0;
}

/* What of the options decides what is recorded. */
static void graph_options_changed(struct instance *i)
{
	trace_writers_stop(i->t);
	i->graph.no_irqs = !(i->graph_options & OUTPUT_GRAPH_IRQS);
	trace_writers_go(i->t);
}

int instance_set_tracer_option(struct instance *i, const char *tracer, uint32_t flag, bool on)
{
	_Atomic uint32_t *options = tracer_options_of(i, tracer);
	bool stacks = options == &i->function_options && flag & OUTPUT_FUNC_STACK_TRACE;
	bool switches = options == &i->graph_options && flag & OUTPUT_GRAPH_SLEEP_TIME;

	if (!options || (options == &i->nop_options && flag & OUTPUT_NOP_REFUSE))
		return -EINVAL;
	if (on && stacks && i->t->m)
		trace_use_stacks(i->t);
	trace_writers_stop(i->t);
	record_drain_vcpus(i->t); /* what was recorded before goes by what was set then */
	if (on)
		atomic_fetch_or(options, flag);
	else
		atomic_fetch_and(options, ~flag);
	trace_writers_go(i->t);
	if (options == &i->graph_options)
		graph_options_changed(i);
	/* Its lines have columns of their own (blk_tracer_set_flag()). */
	if (options == &i->blk_options)
		option_set(i, OUTPUT_CONTEXT_INFO, !on);
	return stacks || switches ? instance_repatch(i) : 0;
}

struct func_filter *instance_functions(struct instance *i)
{
	return i->functions;
}

struct pid_filter *instance_pids(struct instance *i)
{
	return &i->pids;
}

struct pid_filter *instance_event_pids(struct instance *i)
{
	return &i->event_pids;
}

struct error_log *instance_errors(struct instance *i)
{
	return i->errors;
}

bool instance_options_ask_graph(uint32_t options)
{
	const uint32_t both = OUTPUT_FUNCTION_TRACE | OUTPUT_DISPLAY_GRAPH;

	return (options & both) == both;
}
