// SPDX-License-Identifier: GPL-2.0-or-later
/* instances.c - instances made and removed, and what their filters ask of them. */
#include "tracer/control/instances.h"
#include "tracer/control/files.h"
#include "tracer/control/internal.h"
#include "tracer/core/lock.h"
#include "tracer/events/events.h"
#include "tracer/events/filter/filter.h"
#include "tracer/instance/branch.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/order.h"
#include "tracer/lib/memory.h"
#include "tracer/probe/pieces.h"
#include "tracer/record/files.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/branch.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool owner_is_on(void *arg)
{
	return instance_is_on(arg);
}

static void owner_set_on(void *arg, bool on)
{
	instance_set_on(arg, on);
}

static int owner_snapshot_ready(void *arg)
{
	return instance_snapshot_reserve(arg);
}

static void owner_snapshot(void *arg, const struct func_hit *hit)
{
	(void)hit;
	instance_snapshot(arg, ALL_VCPUS);
}

/* Tasks are followed while there is a list of some. */
static void owner_pids_changed(void *arg)
{
	struct instance *i = arg;

	if (i->options & OUTPUT_FUNCTION_FORK)
		instance_repatch(i);
	else
		payload_control(i->t);
}

static void owner_event_pids_changed(void *arg)
{
	struct instance *i = arg;

	if (i->options & OUTPUT_EVENT_FORK)
		instance_repatch(i);
}

static void events_free_of(struct instance *i)
{
	const struct guestsym_event_list *list = events_list(i->t->trace_events);

	instance_triggers_free(i);
	instance_order_free(i);
	for (size_t k = 0; i->events && k < list->n; k++)
		event_filter_free(i->events[k].filter);
	free(i->events);
}

static void instance_free(struct instance *i)
{
	if (!i)
		return;
	func_filter_free(i->functions);
	graph_filter_exit(&i->graph);
	pid_filter_exit(&i->pids);
	pid_filter_exit(&i->event_pids);
	error_log_free(i->errors);
	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		ring_free(i->ring[v]);
		ring_free(i->spare[v]);
	}
	free(i->takes);
	free(i->commands);
	call_log_free(i->calls);
	if (i->tracer->exit)
		i->tracer->exit(i->tracer_data);
	events_free_of(i);
	free(i);
}

static int instance_alloc(struct instance *i, uint64_t bytes)
{
	if (bytes > UINT64_MAX / i->t->vcpus || !memory_holds(i->t->memory, bytes * i->t->vcpus))
		return -ENOMEM;
	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		i->ring[v] = i->t->cfg.hurry ? ring_new_lazy(bytes) : ring_new(bytes);
		if (!i->ring[v])
			return -ENOMEM;
	}
	i->owner = (struct func_owner){
		.apply = selection_apply,
		.tracing_is_on = owner_is_on,
		.tracing_set = owner_set_on,
		.snapshot_ready = owner_snapshot_ready,
		.snapshot = owner_snapshot,
		.stacktrace = instance_stacktrace,
		.dump = instance_dump,
		.events = &instance_event_commands,
		.arg = i,
	};
	i->functions = func_filter_new(&i->owner, i->t->funcs);
	i->errors = error_log_new();
	if (!i->functions || !i->errors)
		return -ENOMEM;
	if (pid_filter_init(&i->event_pids, owner_event_pids_changed, i))
		return -ENOMEM;
	i->event_pids.none = "";
	return pid_filter_init(&i->pids, owner_pids_changed, i);
}

#define BUFFER_PERCENT_DEFAULT 50

static struct instance *instance_make(struct trace *t, const char *name, uint64_t bytes)
{
	struct instance *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->t = t;
	i->on = true;
	i->until = UINT64_MAX;
	i->cpumask = trace_all_vcpus(t);
	i->tracer = tracer_find("nop");
	i->clock = clock_find(NULL);
	i->options = output_trace_options.defaults;
	i->percent = BUFFER_PERCENT_DEFAULT;
	i->graph_options = OUTPUT_GRAPH_DEFAULT;
	snprintf(i->name, sizeof(i->name), "%s", name);
	if (!instance_alloc(i, bytes))
		return i;
	instance_free(i);
	return NULL;
}

static int top_pids(struct instance *i, char *err, size_t errlen)
{
	const struct trace_config *cfg = &i->t->cfg;

	for (size_t p = 0; p < cfg->nr_pids; p++) {
		size_t len = strlen(cfg->pids[p]);

		if (!len || strspn(cfg->pids[p], "0123456789") != len ||
		    pid_filter_write(&i->pids, PID_FILTER_TRACE, cfg->pids[p], len) < 0) {
			snprintf(err, errlen, "pid '%s': not the number of a task", cfg->pids[p]);
			return -EINVAL;
		}
	}
	return 0;
}

int instance_init_top(struct trace *t, char *err, size_t errlen)
{
	struct instance *i = instance_make(t, "", t->cfg.buffer_bytes);

	if (!i) {
		snprintf(err, errlen,
			 "no memory for %u ring buffers of %llu KB each; try a smaller one (-b)",
			 t->vcpus, (unsigned long long)(t->cfg.buffer_bytes >> 10));
		return -ENOMEM;
	}
	t->instances = i;
	/* One that needs more than the image comes when there is a guest: attach.c */
	if (!tracer_find(t->cfg.tracer)->init)
		i->tracer = tracer_find(t->cfg.tracer);
	i->clock = clock_find(t->cfg.clock);
	instance_order_want(i, ORDER_CLOCK, i->clock->counts);
	i->on = !t->cfg.from;
	t->thresh = i->graph.thresh_ns = t->cfg.min_ns;
	i->graph.max_ns = t->cfg.max_ns;
	return top_pids(i, err, errlen);
}

void instances_free(struct trace *t)
{
	struct instance *i = t->instances;

	while (i) {
		struct instance *next = i->next;

		instance_free(i);
		i = next;
	}
}

/* A new instance has what the kernel gives one: small buffers, nop, the options of the top level.
 */
#define NEW_BUFFER_BYTES (UINT64_C(1408) << 10)

int instance_new(struct trace *t, const char *name)
{
	struct instance *i, **at;
	int ret = 0;

	if (!*name || strlen(name) >= INSTANCE_NAME_MAX || strchr(name, '/'))
		return -EINVAL;
	trace_change_begin(t);
	i = instance_make(t, name, NEW_BUFFER_BYTES);
	if (i)
		i->options = t->instances->options & (uint32_t)~OUTPUT_NOT_INHERITED;
	instances_lock(t);
	at = instance_place(t, name);
	if (*at || !i) {
		ret = *at ? -EEXIST : -ENOMEM;
	} else {
		trace_writers_stop(t);
		*at = i;
		trace_writers_go(t);
	}
	instances_unlock(t);
	if (ret)
		instance_free(i);
	else
		func_filter_apply(i->functions);
	trace_change_end(t);
	return pieces_finish(t, ret);
}

int instance_remove(struct trace *t, const char *name)
{
	struct instance *i, **at;
	bool events = false;
	int ret = 0;

	trace_change_begin(t);
	instances_lock(t);
	at = instance_place(t, name);
	i = *at;
	if (!i || i->holders) {
		ret = i ? -EBUSY : -ENOENT;
	} else {
		trace_writers_stop(t);
		*at = i->next;
		trace_writers_go(t);
	}
	instances_unlock(t);
	if (!ret) {
		events = instance_wants_events(i) || instance_wants_branches(i);
		selection_patch(t);
		instance_free(i);
	}
	trace_change_end(t);
	pieces_finish(t, 0);
	if (events) {
		events_lock(t->trace_events);
		events_apply(t->trace_events);
		guest_branches_settle(t);
		events_unlock(t->trace_events);
	}
	return ret;
}
