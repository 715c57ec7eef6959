// SPDX-License-Identifier: GPL-2.0-or-later
/* instance.c - the instances of a trace: made, held, removed, and what each records. */
#include "tracer/flag-sites.h"
#include "tracer/graph.h"
#include "tracer/instance-max.h"
#include "tracer/instance.h"
#include "tracer/latencies.h"
#include "tracer/returns.h"
#include "tracer/memory.h"
#include "tracer/tracer-events.h"
#include "tracer/trampoline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- locks ----------------------------------------------------------------------------------- */

void instance_writers_stop(struct trace *t)
{
	for (unsigned int i = 0; i < t->vcpus; i++)
		pthread_mutex_lock(&t->vcpu_lock[i]);
}

void instance_writers_go(struct trace *t)
{
	for (unsigned int i = t->vcpus; i--;)
		pthread_mutex_unlock(&t->vcpu_lock[i]);
}

void trace_change_begin(struct trace *t)
{
	if (t->m)
		machine_pause(t->m);
	pthread_mutex_lock(&t->change);
}

void trace_change_end(struct trace *t)
{
	pthread_mutex_unlock(&t->change);
	if (t->m)
		machine_resume(t->m);
}

/* --- making and removing --------------------------------------------------------------------- */

/* What the instance asks for has changed. */
int instance_repatch(struct instance *i)
{
	int ret;

	trace_change_begin(i->t);
	ret = selection_patch(i->t);
	trace_change_end(i->t);
	return ret;
}

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
		instances_tell_payload(i->t);
}

static void owner_event_pids_changed(void *arg)
{
	struct instance *i = arg;

	if (i->options & OUTPUT_EVENT_FORK)
		instance_repatch(i);
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
	instance_events_free(i);
	free(i);
}

static int instance_alloc(struct instance *i, uint64_t bytes)
{
	if (bytes > UINT64_MAX / i->t->vcpus || !memory_holds(bytes * i->t->vcpus))
		return -ENOMEM;
	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		i->ring[v] = ring_new(bytes);
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
	i->cpumask = (UINT64_C(1) << t->vcpus) - 1;
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

struct instance *trace_top(struct trace *t)
{
	return t->instances;
}

/* t->instances_lock is held. */
static struct instance **place_of(struct trace *t, const char *name)
{
	struct instance **at = &t->instances->next;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
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
	pthread_mutex_lock(&t->instances_lock);
	at = place_of(t, name);
	if (*at || !i) {
		ret = *at ? -EEXIST : -ENOMEM;
	} else {
		instance_writers_stop(t);
		*at = i;
		instance_writers_go(t);
	}
	pthread_mutex_unlock(&t->instances_lock);
	if (ret)
		instance_free(i);
	else
		func_filter_apply(i->functions);
	trace_change_end(t);
	return ret;
}

int instance_remove(struct trace *t, const char *name)
{
	struct instance *i, **at;
	bool events = false;
	int ret = 0;

	trace_change_begin(t);
	pthread_mutex_lock(&t->instances_lock);
	at = place_of(t, name);
	i = *at;
	if (!i || i->holders) {
		ret = i ? -EBUSY : -ENOENT;
	} else {
		instance_writers_stop(t);
		*at = i->next;
		instance_writers_go(t);
	}
	pthread_mutex_unlock(&t->instances_lock);
	if (!ret) {
		events = instance_wants_events(i);
		selection_patch(t);
		instance_free(i);
	}
	trace_change_end(t);
	if (events) {
		events_lock(t->trace_events);
		events_apply(t->trace_events);
		events_unlock(t->trace_events);
	}
	return ret;
}

struct instance *instance_get(struct trace *t, const char *name)
{
	struct instance *i;

	pthread_mutex_lock(&t->instances_lock);
	i = *name ? *place_of(t, name) : t->instances;
	if (i)
		i->holders++;
	pthread_mutex_unlock(&t->instances_lock);
	return i;
}

void instance_put(struct instance *i)
{
	pthread_mutex_lock(&i->t->instances_lock);
	i->holders--;
	pthread_mutex_unlock(&i->t->instances_lock);
}

bool instance_name(struct trace *t, unsigned int n, char *name, size_t len)
{
	const struct instance *i;

	pthread_mutex_lock(&t->instances_lock);
	i = t->instances->next;
	while (i && n--)
		i = i->next;
	if (i)
		snprintf(name, len, "%s", i->name);
	pthread_mutex_unlock(&t->instances_lock);
	return i;
}

/* --- what it records ------------------------------------------------------------------------- */

/* The profiler's calls go on, whatever is recorded. */
static void calls_forget(struct trace *t)
{
	if (!t->profiling)
		graph_forget(t->graph);
}

const char *instance_tracer(struct instance *i)
{
	return i->tracer->name;
}

/* What it works on is there; t->change is held. */
static int tracer_switch(struct instance *i, const struct tracer_ops *tracer,
			 const struct tracer_work *work)
{
	instance_writers_stop(i->t);
	instance_clear_stopped(i, ALL_VCPUS);
	i->tracer = tracer;
	i->tracer_data = work->data;
	memcpy(i->tracer_events, work->event, sizeof(i->tracer_events));
	if (tracer->start)
		tracer->start(i);
	if (tracer->max) {
		instance_snapshot_clear(i, ALL_VCPUS);
		i->max_latency = 0;
	}
	latencies_begin(i);
	calls_forget(i->t);
	instance_writers_go(i->t);
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
	return ret;
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

int instance_set_tracer(struct instance *i, const char *name)
{
	const struct tracer_ops *tracer = tracer_find(name), *before = NULL;
	struct events *events = i->t->trace_events;
	struct tracer_work work, old;
	int ret;

	/* One task's calls are followed once, so not for several instances, as in the kernel. */
	if (!tracer || (trace_tracer_is_top(name) && i != i->t->instances))
		return -EINVAL;
	ret = tracer->events ? events_load(events) : 0;
	if (ret)
		return ret == -ENODATA ? -EOPNOTSUPP : ret;
	ret = tracer->critical ? critical_check(i->t, tracer->critical) : 0;
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
		if (i->tracer != before)
			tracer_events_put(i, before, &old);
		if (i->tracer != tracer)
			tracer_events_put(i, tracer, &work);
	}
	if (!ret && tracer->max && !before->max)
		instance_max_begin(i);
	else if (!ret && !tracer->max && before->max)
		instance_max_end(i);
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
	instance_writers_stop(i->t);
	trampoline_drain_all(i->t);
	i->clock = clock;
	horizon_reset(&i->horizon);
	if (i->tracer->start)
		i->tracer->start(i);
	calls_forget(i->t); /* it has times of the other clock */
	instance_clear_stopped(i, ALL_VCPUS);
	instance_snapshot_clear(i, ALL_VCPUS);
	instance_writers_go(i->t);
	return 0;
}

bool instance_is_on(struct instance *i)
{
	return atomic_load(&i->on);
}

void instance_set_on(struct instance *i, bool on)
{
	instance_writers_stop(i->t);
	trampoline_drain_all(i->t);
	if (on != i->on)
		calls_forget(i->t); /* calls may end while nobody looks */
	/* All that there was has come, so the second pass is certain of it. */
	for (int pass = 0; !on && i->on && i->tracer->pass && pass < 2; pass++)
		i->tracer->pass(i, 0);
	if (!on)
		horizon_end(&i->horizon, i->ring, i->t->vcpus);
	else if (!i->on && i->tracer->start)
		i->tracer->start(i);
	atomic_store(&i->on, on);
	instance_writers_go(i->t);
	instances_tell_payload(i->t);
}

void trace_catch_up(struct trace *t)
{
	instance_writers_stop(t);
	trampoline_catch_up(t);
	instance_writers_go(t);
	instances_do_deferred(t);
}

uint64_t trace_thresh(struct trace *t)
{
	return t->thresh;
}

void trace_set_thresh(struct trace *t, uint64_t ns)
{
	instance_writers_stop(t);
	t->thresh = ns;
	t->instances->graph.thresh_ns = ns;
	instance_writers_go(t);
	instances_tell_payload(t);
}

unsigned int trace_graph_depth(struct trace *t)
{
	return __atomic_load_n(&t->instances->graph.max_depth, __ATOMIC_RELAXED);
}

void trace_set_graph_depth(struct trace *t, unsigned int depth)
{
	instance_writers_stop(t);
	__atomic_store_n(&t->instances->graph.max_depth, depth, __ATOMIC_RELAXED);
	instance_writers_go(t);
}

uint64_t instance_max_latency(struct instance *i)
{
	return i->max_latency;
}

void instance_set_max_latency(struct instance *i, uint64_t ns)
{
	i->max_latency = ns;
	instances_tell_payload(i->t);
}

uint64_t instance_cpumask(struct instance *i)
{
	return i->cpumask;
}

int instance_set_cpumask(struct instance *i, uint64_t mask)
{
	instance_writers_stop(i->t);
	i->cpumask = mask & ((UINT64_C(1) << i->t->vcpus) - 1);
	instance_writers_go(i->t);
	instances_tell_payload(i->t);
	return 0;
}

/* --- what the payload can do by itself ------------------------------------------------------- */

/* Tasks that all instances agree on; NULL: no such set. */
static void tasks_of(struct trace *t, struct text *pids, bool *only)
{
	*only = false;
	/* The task that a switch is from may be one of them, though that to which it is is not. */
	if (graph_switch_probe(t) != UINT32_MAX)
		return;
	if (t->instances->tracer->critical)
		return;
	for (const struct instance *i = t->instances; i; i = i->next) {
		if (!instance_profiles(i) && (!i->on || !instance_traces_functions(i)))
			continue;
		*only = pid_list_on(i->pids.list[PID_FILTER_TRACE]);
		if (!*only)
			return;
		pid_list_print(i->pids.list[PID_FILTER_TRACE], pids);
	}
}

/* Only the top level has such a tracer. */
static uint64_t tell_critical(struct trace *t)
{
	struct instance *top = t->instances;
	uint32_t critical = top->tracer->critical;
	uint64_t vcpus = critical && top->on ? top->cpumask : 0;

	/* To be asked for a stack at the end of each, however short, is too much for a guest. */
	if (critical && !t->latency_on)
		critical |= CRITICAL_STACK | (t->thresh ? 0 : CRITICAL_RISES);
	trampoline_set_critical(t, vcpus, critical, critical ? instance_max_ticks(top) : 0);
	return vcpus;
}

void instances_tell_payload(struct trace *t)
{
	struct text pids = {0};
	uint64_t vcpus = 0, events = 0;
	uint32_t prints;
	bool only;

	pthread_mutex_lock(&t->instances_lock);
	/* What a task enters on a vCPU that is recorded it may leave on one that is not. */
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_profiles(i) || (i->on && instance_traces_functions(i)))
			vcpus |= instance_pairs_calls(i) ? UINT64_MAX : i->cpumask;
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_events(i) && (i->on || i->triggers))
			events |= i->cpumask;
	prints = guest_prints_taken(t->instances);
	if (prints)
		events |= t->instances->cpumask;
	trampoline_set_prints(t, t->instances->cpumask, prints);
	vcpus |= tell_critical(t);
	tasks_of(t, &pids, &only);
	text_putc(&pids, '\0');
	trampoline_control(t, vcpus, events, only && !pids.failed ? pids.buf : NULL);
	pthread_mutex_unlock(&t->instances_lock);
	text_free(&pids);
}
