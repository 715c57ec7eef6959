// SPDX-License-Identifier: GPL-2.0-or-later
/* instance.c - the instances of a trace: made, held and removed, and the locks of all. */
#include "tracer/instance/instance.h"
#include "tracer/lib/memory.h"

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
