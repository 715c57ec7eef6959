// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * event-trigger.c - what an instance's events set off: joins events/trigger/trigger.h and the
 * instance.
 *
 * Triggers are hit when their record's turn comes in the order of all vCPUs (instance/order.h),
 * whose locks are held; by those that are hit at once a vCPU's lock is held. What needs more than
 * that, or none, is done once there is none: record_do_deferred().
 */
#include "tracer/control/internal.h"
#include "tracer/control/files.h"
#include "tracer/dynevent/synth.h"
#include "tracer/events/events.h"
#include "tracer/events/hist/commands.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/max.h"
#include "tracer/instance/order.h"
#include "tracer/instance/view.h"
#include "tracer/output/output.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/files.h"
#include "tracer/record/record.h"
#include "tracer/ring/entry.h"
#include "tracer/tracepoint/tracepoint.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct instance_triggers {
	struct instance *i;
	struct event_trigger_owner owner;
	char clock[32]; /* that a histogram being added asks for; "": none */
};

/* --- what triggers ask of their instance ----------------------------------------------------- */

static bool owner_is_on(void *arg)
{
	return instance_is_on(((struct instance_triggers *)arg)->i);
}

static void owner_set_on(void *arg, bool on)
{
	struct instance *i = ((struct instance_triggers *)arg)->i;

	if (i->in_order) {
		record_turn(i, on);
	} else {
		if (on)
			atomic_store(&i->until, UINT64_MAX);
		atomic_store(&i->on, on);
	}
	instance_defer(i, DEFERRED_ON_OFF);
}

/* It has been allocated before the writers were stopped. */
static int owner_snapshot_ready(void *arg)
{
	return instance_has_snapshot(((struct instance_triggers *)arg)->i) ? 0 : -ENOMEM;
}

static void owner_snapshot(void *arg, const struct event_data *data)
{
	(void)data;
	instance_defer(((struct instance_triggers *)arg)->i, DEFERRED_SNAPSHOT);
}

static void owner_stacktrace(void *arg, const struct event_data *data)
{
	(void)arg;
	event_view_record_stack((const struct event_view *)data->arg);
}

static struct event_state *state_of(const struct instance_triggers *it, void *event)
{
	return &it->i->events[(uintptr_t)event];
}

/* The writers are stopped; what follows from it is done once they go on. */
static int owner_soft_mode(void *arg, void *event, bool on)
{
	struct instance_triggers *it = arg;

	if ((uintptr_t)event != EVENT_OF_MARK) /* which needs nobody to want it */
		event_soft_mode(it->i, state_of(it, event), on);
	return 0;
}

static bool owner_soft_disabled(void *arg, void *event)
{
	return __atomic_load_n(&state_of(arg, event)->soft_off, __ATOMIC_RELAXED);
}

static void owner_soft_disable(void *arg, void *event, bool disable)
{
	__atomic_store_n(&state_of(arg, event)->soft_off, disable, __ATOMIC_RELAXED);
}

static bool owner_has_stacks(void *arg)
{
	return events_possible(((struct instance_triggers *)arg)->i->t->trace_events);
}

static int owner_set_clock(void *arg, const char *clock)
{
	struct instance_triggers *it = arg;

	if (!clock_find(clock))
		return -EINVAL;
	snprintf(it->clock, sizeof(it->clock), "%s", clock);
	return 0;
}

/* Ring buffers hold all that time stamps of histograms are made from, whatever their form. */
static void owner_timestamps(void *arg, bool on)
{
	(void)arg, (void)on;
}

static bool owner_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	return trace_find_symbol(((struct instance_triggers *)arg)->i->t, addr, sym);
}

static const char *owner_syscall_name(void *arg, uint64_t nr)
{
	return events_syscall_name(((struct instance_triggers *)arg)->i->t->trace_events, nr);
}

static struct synth_event *owner_synth_find(void *arg, const char *name)
{
	return synth_events_find(((struct instance_triggers *)arg)->i->t->synth_events, name);
}

/* The kernel's ring_buffer_nest_start() adds one to that of the record that is under way. */
#define SYNTH_PREEMPT 2

/* Into each instance that has the event on. */
static void owner_synth(void *arg, const struct synth_event *se, void *record, size_t len,
			const struct event_data *data)
{
	struct instance *own = ((struct instance_triggers *)arg)->i;
	const struct event_view *from = data->arg;
	struct trace_entry *e = record;

	if (from->depth == EVENT_VIEW_DEPTH || data->len < sizeof(*e))
		return;
	event_view_entry(from, se->event, SYNTH_PREEMPT, e);
	for (struct instance *i = own->t->instances; i; i = i->next) {
		struct event_view view;
		bool same = i->clock == own->clock;

		if (!instance_takes_event(i, data->cpu, se->event) ||
		    (i != own && !pid_filter_traces(&i->event_pids, e->pid)))
			continue;
		event_view_init(&view, i, data->cpu, record, len,
				same ? data->time : instance_time_now(i, data->cpu, NULL),
				from->stack);
		view.tsc = from->tsc;
		view.depth = from->depth + 1;
		if (i == own)
			instance_put_event(i, se->event, &view);
		else
			instance_take_event(i, se->event, &view);
	}
}

static void owner_error(void *arg, const char *where, const char *what, const char *command,
			uint16_t pos)
{
	struct instance *i = ((struct instance_triggers *)arg)->i;

	error_log_add(i->errors, trace_local_ns(i->t), where, what, command, pos);
}

/* --- an event's triggers --------------------------------------------------------------------- */

/* ftrace:print as it is in the ring buffer, whatever the guest's kernel has. */
static const struct guestsym_event_field mark_fields[] = {
	{.type = "unsigned long",
	 .name = "ip",
	 .offset = offsetof(struct trace_print_entry, ip),
	 .size = 8,
	 .kind = GUESTSYM_EVENT_NUMBER},
	{.type = "char[]",
	 .name = "buf",
	 .offset = offsetof(struct trace_print_entry, buf),
	 .is_signed = true,
	 .kind = GUESTSYM_EVENT_STRING},
};
static const struct guestsym_event mark_event = {
	.system = "ftrace",
	.name = "print",
	.id = TRACE_PRINT,
	.source = GUESTSYM_EVENT_FTRACE,
	.flags = GUESTSYM_EVENT_FL_IGNORE_ENABLE,
	.syscall_nr = -1,
	.fields = mark_fields,
	.nr_fields = sizeof(mark_fields) / sizeof(mark_fields[0]),
};

/* NULL: there are none, or may be none. */
static struct event_triggers *triggers_of(const struct instance *i, uint32_t event)
{
	if (event == EVENT_OF_MARK)
		return i->mark_triggers;
	return i->events ? i->events[event].triggers : NULL;
}

/* The events' lock is held, the instance has states. NULL: no memory. */
static struct event_triggers *triggers_get(struct instance_triggers *it, uint32_t event)
{
	const struct guestsym_event_list *list = events_list(it->i->t->trace_events);
	bool mark = event == EVENT_OF_MARK;
	const struct event_format format = {mark ? &mark_event : &list->v[event], list->common,
					    list->nr_common};
	struct event_triggers **at = mark ? &it->i->mark_triggers : &it->i->events[event].triggers;

	if (!*at)
		*at = event_triggers_new(&it->owner, events_hist_names(it->i->t->trace_events),
					 &format, (void *)(uintptr_t)event);
	return *at;
}

static struct event_triggers *owner_find(void *arg, const char *system, const char *name)
{
	struct instance_triggers *it = arg;
	const struct guestsym_event_list *list = events_list(it->i->t->trace_events);

	for (uint32_t e = 0; e < list->n; e++)
		if (!guestsym_event_is_gone(&list->v[e]) && !strcmp(list->v[e].name, name) &&
		    !strcmp(list->v[e].system, system))
			return triggers_get(it, e);
	return NULL;
}

static struct instance_triggers *instance_triggers_get(struct instance *i)
{
	struct instance_triggers *it = i->triggers ? NULL : calloc(1, sizeof(*it));

	if (!it)
		return i->triggers;
	it->i = i;
	it->owner = (struct event_trigger_owner){
		.commands = event_commands,
		.tracing_is_on = owner_is_on,
		.tracing_set = owner_set_on,
		.snapshot_ready = owner_snapshot_ready,
		.snapshot = owner_snapshot,
		.stacktrace = owner_stacktrace,
		.find = owner_find,
		.soft_mode = owner_soft_mode,
		.soft_disabled = owner_soft_disabled,
		.soft_disable = owner_soft_disable,
		.has_stacks = owner_has_stacks,
		.set_clock = owner_set_clock,
		.timestamps = owner_timestamps,
		.symbol = owner_symbol,
		.syscall_name = owner_syscall_name,
		.synth_find = owner_synth_find,
		.synth = owner_synth,
		.vars = event_hist_vars_new(),
		.error = owner_error,
		.arg = it,
	};
	if (!it->owner.vars) {
		free(it);
		return NULL;
	}
	instance_event_kernel(i, &it->owner.kernel);
	i->triggers = it;
	return it;
}

void instance_triggers_free(struct instance *i)
{
	const struct guestsym_event_list *list = events_list(i->t->trace_events);

	for (size_t k = 0; i->events && k < list->n; k++)
		if (i->events[k].triggers)
			event_triggers_clear(i->events[k].triggers);
	if (i->mark_triggers)
		event_triggers_clear(i->mark_triggers);
	for (size_t k = 0; i->events && k < list->n; k++)
		event_triggers_free(i->events[k].triggers);
	event_triggers_free(i->mark_triggers);
	if (i->triggers)
		event_hist_vars_free(i->triggers->owner.vars);
	free(i->triggers);
}

/* Some of its histograms have variables, or refer to some. */
static bool has_vars(const struct instance *i)
{
	return i->triggers && event_hist_vars_any(i->triggers->owner.vars);
}

/* Whether it needs what is recorded in the order of all vCPUs; all writers are stopped. */
static void order_update(struct instance *i)
{
	const struct guestsym_event_list *list = events_list(i->t->trace_events);
	const struct event_triggers *mark = i->mark_triggers;
	bool orders = mark && event_triggers_order(mark);
	bool turns_on = mark && event_triggers_turn_on(mark);

	for (size_t k = 0; k < list->n; k++) {
		const struct event_triggers *triggers = i->events[k].triggers;

		orders = orders || (triggers && event_triggers_order(triggers));
		turns_on = turns_on || (triggers && event_triggers_turn_on(triggers));
	}
	instance_order_want(i, ORDER_HISTS, has_vars(i));
	instance_order_want(i, ORDER_TRIGGERS, orders);
	instance_order_want(i, ORDER_TRIGGER_ON, turns_on);
}

/* --- files.h --------------------------------------------------------------------------------- */

static ssize_t write_stopped(struct instance *i, uint32_t event, const char *text, size_t len)
{
	struct instance_triggers *it = instance_triggers_get(i);
	struct event_triggers *triggers = it ? triggers_get(it, event) : NULL;
	ssize_t ret;

	if (!triggers)
		return -ENOMEM;
	it->clock[0] = '\0';
	trace_writers_stop(i->t);
	record_drain_all(i->t); /* by what there was up to now */
	ret = event_triggers_write(triggers, text, len);
	order_update(i);
	trace_writers_go(i->t);
	if (ret >= 0 && *it->clock)
		instance_set_clock(i, it->clock);
	return ret;
}

ssize_t instance_write_event_trigger(struct instance *i, uint32_t event, const char *text,
				     size_t len)
{
	struct events *events = i->t->trace_events;
	bool snapshot = memmem(text, len, "snapshot", strlen("snapshot"));
	ssize_t ret = events_load(events);
	int error;

	if (ret)
		return ret;
	/* It cannot be done with the writers stopped. */
	if (snapshot && *text != '!')
		instance_snapshot_reserve(i);
	events_lock(events);
	ret = instance_events_get(i);
	if (!ret)
		ret = write_stopped(i, event, text, len);
	error = events_apply(events);
	events_unlock(events);
	payload_control(i->t);
	return ret < 0 ? ret : error ? error : ret;
}

void instance_truncate_event_triggers(struct instance *i, uint32_t event)
{
	struct events *events = i->t->trace_events;

	if (events_load(events))
		return;
	events_lock(events);
	if (triggers_of(i, event)) {
		trace_writers_stop(i->t);
		record_drain_all(i->t); /* by what there was up to now */
		event_triggers_truncate(triggers_of(i, event));
		order_update(i);
		trace_writers_go(i->t);
		events_apply(events);
	}
	events_unlock(events);
}

static void print(struct instance *i, uint32_t event, struct text *out,
		  void (*what)(struct event_triggers *t, struct text *out))
{
	struct events *events = i->t->trace_events;
	struct instance_triggers *it;
	struct event_triggers *triggers = NULL;

	if (events_load(events))
		return;
	events_lock(events);
	if (!instance_events_get(i)) {
		it = instance_triggers_get(i);
		triggers = it ? triggers_get(it, event) : NULL;
	}
	if (triggers)
		what(triggers, out);
	events_unlock(events);
}

void instance_print_event_triggers(struct instance *i, uint32_t event, struct text *out)
{
	print(i, event, out, event_triggers_print);
}

void instance_print_event_hist(struct instance *i, uint32_t event, struct text *out)
{
	print(i, event, out, event_triggers_print_hist);
}

void instance_print_event_hist_debug(struct instance *i, uint32_t event, struct text *out)
{
	print(i, event, out, event_triggers_print_hist_debug);
}

ssize_t instance_write_mark_trigger(struct instance *i, const char *text, size_t len)
{
	return instance_write_event_trigger(i, EVENT_OF_MARK, text, len);
}

void instance_truncate_mark_triggers(struct instance *i)
{
	instance_truncate_event_triggers(i, EVENT_OF_MARK);
}

void instance_print_mark_triggers(struct instance *i, struct text *out)
{
	instance_print_event_triggers(i, EVENT_OF_MARK, out);
}

void instance_print_mark_hist(struct instance *i, struct text *out)
{
	instance_print_event_hist(i, EVENT_OF_MARK, out);
}

void instance_print_mark_hist_debug(struct instance *i, struct text *out)
{
	instance_print_event_hist_debug(i, EVENT_OF_MARK, out);
}
