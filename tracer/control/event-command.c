// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * event-command.c - enable_event and disable_event of set_ftrace_filter: what they ask of
 * an instance, and how its file is written when they may be in it.
 *
 * A command is set with the guest paused and t->change held, when the guest cannot be asked to
 * register anything: that is done once it runs on, with the events' lock held all the while. A
 * command that goes with its module's functions leaves the event registered until somebody changes
 * something the next time; nobody keeps its records.
 */
#include "tracer/control/internal.h"
#include "tracer/control/files.h"
#include "tracer/events/events.h"
#include "tracer/events/select.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/tracepoint.h"

#include <errno.h>
#include <string.h>

#define MENTION "able_event:" /* enable_event:, disable_event: */

static const struct guestsym_event *event_of(const struct instance *i,
					     const struct event_state *state)
{
	return &events_list(i->t->trace_events)->v[state - i->events];
}

/* The states are there when the word is one of ours, unless the guest tells of no events. */
static void *find(void *arg, const char *system, const char *name)
{
	struct instance *i = arg;
	const struct guestsym_event_list *list = events_list(i->t->trace_events);

	for (size_t k = 0; i->events && k < list->n; k++)
		if (event_has_enable(&list->v[k]) && !strcmp(list->v[k].name, name) &&
		    !strcmp(list->v[k].system, system))
			return &i->events[k];
	return NULL;
}

static void print(void *arg, void *event, struct text *out)
{
	const struct guestsym_event *ev = event_of(arg, event);

	text_printf(out, "%s:%s", ev->system, ev->name);
}

static int soft_mode(void *arg, void *event, bool on)
{
	struct instance *i = arg;
	int ret = on ? events_check(i->t->trace_events) : 0;

	if (!ret && on && !event_is_recordable(event_of(i, event)))
		ret = -EOPNOTSUPP;
	if (ret)
		return ret;
	trace_writers_stop(i->t);
	record_drain_all(i->t); /* by what was wanted up to now */
	event_soft_mode(i, event, on);
	trace_writers_go(i->t);
	return 0;
}

static bool soft_disabled(void *arg, void *event)
{
	(void)arg;
	return __atomic_load_n(&((struct event_state *)event)->soft_off, __ATOMIC_RELAXED);
}

/* On a hit: what was recorded before it goes by what was set then. */
static void soft_disable(void *arg, void *event, bool disable)
{
	struct instance *i = arg;

	trace_writers_stop(i->t);
	record_drain_all(i->t);
	__atomic_store_n(&((struct event_state *)event)->soft_off, disable, __ATOMIC_RELAXED);
	trace_writers_go(i->t);
}

const struct func_event_ops instance_event_commands = {
	.find = find,
	.print = print,
	.soft_mode = soft_mode,
	.soft_disabled = soft_disabled,
	.soft_disable = soft_disable,
};

/* --- files.h --------------------------------------------------------------------------------- */

/* Whether what is about to be taken may have to do with events; their lock is held then. */
static bool begin(struct instance *i, struct func_file *file, const char *text, size_t len)
{
	struct events *events = i->t->trace_events;
	bool ours = func_file_mentions(file, text, len, MENTION) && !events_load(events);

	if (ours) {
		events_lock(events);
		instance_events_get(i); /* without memory for them there are no events to name */
	}
	trace_change_begin(i->t);
	return ours;
}

static int end(struct instance *i, bool ours)
{
	struct events *events = i->t->trace_events;
	int ret, error = 0;

	trace_change_end(i->t);
	ret = pieces_finish(i->t, 0);
	if (ours) {
		error = events_apply(events);
		events_unlock(events);
	}
	return ret ? ret : error;
}

ssize_t instance_write_functions(struct instance *i, struct func_file *file, const char *text,
				 size_t len)
{
	bool ours = begin(i, file, text, len);
	ssize_t taken = func_file_write(file, text, len);
	int ret = end(i, ours);

	return taken < 0 || !ret ? taken : ret;
}

void instance_close_functions(struct instance *i, struct func_file *file)
{
	bool ours = begin(i, file, "", 0);

	func_file_close(file);
	end(i, ours);
}
