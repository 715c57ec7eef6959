// SPDX-License-Identifier: GPL-2.0-or-later
/* synth-events.c - see synth-events.h */
#include "tracer/synth-events.h"
#include "tracer/command-lines.h"
#include "tracer/events.h"
#include "tracer/instance.h"

#include <errno.h>
#include <stdlib.h>

#define WHERE "synthetic_events"

struct synth_events {
	struct trace *t;
	struct synth_event *first; /* in their order; with the events' lock held */
};

struct synth_events *synth_events_new(struct trace *t)
{
	struct synth_events *s = calloc(1, sizeof(*s));

	if (s)
		s->t = t;
	return s;
}

void synth_events_free(struct synth_events *s)
{
	if (!s)
		return;
	for (struct synth_event *se = s->first, *next; se; se = next) {
		next = se->next;
		synth_event_free(se);
	}
	free(s);
}

struct synth_event *synth_events_find(struct synth_events *s, const char *name)
{
	struct synth_event *se = s->first;

	while (se && strcmp(se->name, name) != 0)
		se = se->next;
	return se;
}

/* --- adding and removing ---------------------------------------------------------------------- */

static int add(struct synth_events *s, struct synth_event *se)
{
	struct events *events = s->t->trace_events;
	struct synth_event **at = &s->first;
	struct probe_event_made made;
	int ret;

	if (events_find(events, SYNTH_SYSTEM, se->name) != EVENT_NONE)
		return -EEXIST; /* one of the guest's own */
	ret = synth_event_make(&made, se);
	if (ret)
		return ret;
	ret = events_add(events, &made, &se->event);
	probe_event_unmake(&made); /* what has not been taken */
	if (ret)
		return ret;
	while (*at)
		at = &(*at)->next;
	*at = se;
	return 0;
}

/* It is on, or has triggers. t->change is held. */
static bool is_wanted(const struct trace *t, const struct synth_event *se)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (i->events && event_wanted(&i->events[se->event]))
			return true;
	return false;
}

static int take_out(struct synth_events *s, struct synth_event **at)
{
	struct synth_event *se = *at;
	struct trace *t = s->t;
	int ret = -EBUSY;

	trace_change_begin(t);
	if (!se->refs && !is_wanted(t, se)) {
		instance_writers_stop(t);
		instances_forget_event(t, se->event);
		instance_writers_go(t);
		events_remove(t->trace_events, se->event);
		ret = 0;
	}
	trace_change_end(t);
	if (ret)
		return ret;
	*at = se->next;
	synth_event_free(se);
	return 0;
}

static int take_out_named(struct synth_events *s, const char *name)
{
	struct synth_event **at = &s->first;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return *at ? take_out(s, at) : -ENOENT;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int run_line(void *arg, char *line)
{
	struct synth_events *s = arg;
	struct trace *t = s->t;
	struct synth_command command;
	struct synth_error err;
	int ret = synth_command_parse(s->first, line, &command, &err);

	if (!ret && command.gone)
		ret = take_out_named(s, command.gone);
	else if (!ret && command.event)
		ret = add(s, command.event);
	if (ret && err.what)
		error_log_add(trace_top(t)->errors, trace_local_ns(t), WHERE, err.what,
			      line + strspn(line, " \t\n\v\f\r"), err.pos);
	if (ret)
		synth_event_free(command.event);
	free(command.gone);
	return ret;
}

/* --- control.h -------------------------------------------------------------------------------- */

ssize_t trace_write_synthetic_events(struct trace *t, const char *text, size_t len)
{
	ssize_t ret = events_load(t->trace_events);

	if (ret)
		return ret;
	events_lock(t->trace_events);
	ret = command_lines_run(text, len, run_line, t->synth_events);
	events_unlock(t->trace_events);
	return ret;
}

int trace_clear_synthetic_events(struct trace *t)
{
	struct synth_events *s = t->synth_events;
	int ret = 0;

	events_lock(t->trace_events);
	for (const struct synth_event *se = s->first; se; se = se->next)
		if (se->refs)
			ret = -EBUSY;
	while (s->first && !ret)
		ret = take_out(s, &s->first);
	events_unlock(t->trace_events);
	return ret;
}

void trace_print_synthetic_events(struct trace *t, struct text *out)
{
	events_lock(t->trace_events);
	for (const struct synth_event *se = t->synth_events->first; se; se = se->next)
		synth_event_print(se, out);
	events_unlock(t->trace_events);
}
