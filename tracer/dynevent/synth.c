// SPDX-License-Identifier: GPL-2.0-or-later
/* synth.c - see synth.h */
#include "tracer/dynevent/synth.h"
#include "tracer/dynevent/eprobe.h"
#include "tracer/dynevent/files.h"
#include "tracer/events/events.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/command-lines.h"

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
	dyn_event_add(s->t, &se->dyn, &synth_event_ops, se);
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

static int synth_event_remove(struct trace *t, struct dyn_event *ev)
{
	struct synth_event *se = ev->owner, **at = &t->synth_events->first;
	int ret = -EBUSY;

	trace_change_begin(t);
	if (!se->refs && !is_wanted(t, se) && !event_probes_at(t->event_probes, se->event)) {
		trace_writers_stop(t);
		instances_forget_event(t, se->event);
		trace_writers_go(t);
		events_remove(t->trace_events, se->event);
		ret = 0;
	}
	trace_change_end(t);
	if (ret)
		return ret;
	while (*at != se)
		at = &(*at)->next;
	*at = se->next;
	dyn_event_remove(t, ev);
	synth_event_free(se);
	return 0;
}

static int remove_named(struct synth_events *s, const char *name)
{
	struct synth_event *se = synth_events_find(s, name);

	return se ? synth_event_remove(s->t, &se->dyn) : -ENOENT;
}

/* --- lines ------------------------------------------------------------------------------------ */

typedef int parse_fn(const struct synth_event *others, const char *line,
		     struct synth_command *command, struct synth_error *err);

static int run(struct synth_events *s, parse_fn *parse, const char *line)
{
	struct trace *t = s->t;
	struct synth_command command;
	struct synth_error err;
	int ret = parse(s->first, line, &command, &err);

	if (!ret && command.gone)
		ret = remove_named(s, command.gone);
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

static int run_line(void *arg, char *line)
{
	return run(arg, synth_command_parse, line);
}

/* --- events/define/dyn-event.h
 * ------------------------------------------------------------------------------ */

static int synth_event_define(struct trace *t, const char *line)
{
	return run(t->synth_events, synth_definition_parse, line);
}

static void print_definition(const struct dyn_event *ev, struct text *out)
{
	text_puts(out, SYNTH_PREFIX);
	synth_event_print(ev->owner, out);
}

static bool synth_event_is_busy(struct trace *t, const struct dyn_event *ev)
{
	const struct synth_event *se = ev->owner;

	(void)t;
	return se->refs;
}

static bool synth_event_matches(const struct dyn_event *ev, const struct probe_removal *removal)
{
	const struct synth_event *se = ev->owner;

	return !strcmp(se->name, removal->event) &&
	       probe_removal_names_group(removal, SYNTH_SYSTEM);
}

const struct dyn_event_ops synth_event_ops = {
	.syntax = "  s:[synthetic/]EVENT TYPE FIELD[; ...]   a histogram's onmatch() writes it",
	.define = synth_event_define,
	.print = print_definition,
	.is_busy = synth_event_is_busy,
	.matches = synth_event_matches,
	.remove = synth_event_remove,
};

/* --- files.h ---------------------------------------------------------------------------------- */

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

void trace_print_synthetic_events(struct trace *t, struct text *out)
{
	events_lock(t->trace_events);
	for (const struct synth_event *se = t->synth_events->first; se; se = se->next)
		synth_event_print(se, out);
	events_unlock(t->trace_events);
}
