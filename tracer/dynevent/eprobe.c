// SPDX-License-Identifier: GPL-2.0-or-later
/* eprobe.c - see eprobe.h: which there are, and when they are at their events. */
#include "tracer/dynevent/eprobe.h"
#include "tracer/core/lock.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/events/filter/filter.h"
#include "tracer/events/trigger/trigger.h"
#include "tracer/instance/eprobe.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/view.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <stdlib.h>

#define WHERE "event_probe"

struct event_probes *event_probes_new(struct trace *t)
{
	struct event_probes *p = calloc(1, sizeof(*p));

	if (p)
		p->t = t;
	return p;
}

static void event_probe_free(struct event_probe *ep)
{
	if (!ep)
		return;
	event_filter_free(ep->filter);
	probe_def_free(ep->def);
	free(ep);
}

void event_probes_free(struct event_probes *p)
{
	if (!p)
		return;
	for (struct event_probe *ep = p->first, *next; ep; ep = next) {
		next = ep->next;
		event_probe_free(ep);
	}
	free(p);
}

bool event_probes_at(const struct event_probes *p, uint32_t event)
{
	for (const struct event_probe *ep = p->first; ep; ep = ep->next)
		if (ep->at == event)
			return true;
	return false;
}

/* --- what is wanted --------------------------------------------------------------------------- */

static bool differs(const struct instance *i, const struct event_probe *ep)
{
	const struct event_state *s = i->events ? &i->events[ep->event] : NULL;

	return s && event_wanted(s) != s->attached;
}

static bool any_differs(const struct event_probes *p)
{
	for (const struct instance *i = p->t->instances; i; i = i->next)
		for (const struct event_probe *ep = p->first; ep; ep = ep->next)
			if (differs(i, ep))
				return true;
	return false;
}

/* The writers are stopped. */
static void attach(struct instance *i, const struct event_probe *ep)
{
	struct event_state *s = &i->events[ep->event], *at = &i->events[ep->at];

	s->attached = !s->attached;
	at->probes += s->attached ? 1 : -1u;
	event_soft_mode(i, at, s->attached);
}

void event_probes_apply(struct event_probes *p)
{
	struct trace *t = p->t;

	change_lock(t);
	if (any_differs(p)) {
		trace_writers_stop(t);
		record_drain_all(t); /* by what was wanted up to now */
		for (struct instance *i = t->instances; i; i = i->next)
			for (const struct event_probe *ep = p->first; ep; ep = ep->next)
				if (differs(i, ep))
					attach(i, ep);
		trace_writers_go(t);
	}
	change_unlock(t);
}

/* --- adding ----------------------------------------------------------------------------------- */

/* Of those that have files of their own, but no probes. */
static const struct guestsym_event *find_event(void *arg, const char *system, const char *event)
{
	const struct events *events = ((struct trace *)arg)->trace_events;
	uint32_t n = events_find(events, system, event);
	const struct guestsym_event *ev = n == EVENT_NONE ? NULL : &events_list(events)->v[n];

	if (!ev || ev->flags & (GUESTSYM_EVENT_FL_IGNORE_ENABLE | GUESTSYM_EVENT_FL_KPROBE |
				GUESTSYM_EVENT_FL_UPROBE | GUESTSYM_EVENT_FL_EPROBE))
		return NULL;
	return ev;
}

static int make_filter(struct trace *t, const struct guestsym_event *event, const char *text,
		       struct event_filter **filter)
{
	const struct guestsym_event_list *list = events_list(t->trace_events);
	const struct event_format format = {event, list->common, list->nr_common};
	struct event_filter_error err;
	struct event_kernel kernel;
	int ret;

	instance_event_kernel(trace_top(t), &kernel);
	ret = event_filter_compile(&format, &kernel, text, filter, &err);
	if (err.what)
		error_log_add(trace_top(t)->errors, trace_local_ns(t), EVENT_FILTER_WHERE, err.what,
			      text, err.pos);
	return ret;
}

static int check_filter(void *arg, const struct guestsym_event *event, const char *text)
{
	struct event_filter *filter = NULL;
	int ret = make_filter(arg, event, text, &filter);

	event_filter_free(filter);
	return ret;
}

static int add_event(struct event_probes *p, struct event_probe *ep, struct probe_error *err)
{
	const struct probe_def *def = ep->def;
	struct events *events = p->t->trace_events;
	struct probe_event_made made;
	int ret = 0;

	for (unsigned int i = 0; i < def->nr_args && !ret; i++)
		ret = probe_arg_resolve(p->t, &def->arg[i]);
	if (ret)
		return ret;
	if (events_find(events, def->group, def->event) != EVENT_NONE)
		return probe_error_set(err, -EEXIST, 0, 0,
				       "Given group/event name is already used by another event");
	ep->at = events_find(events, def->at_system, def->at_event);
	if (def->filter)
		ret = make_filter(p->t, &events_list(events)->v[ep->at], def->filter, &ep->filter);
	if (!ret)
		ret = probe_event_make(&made, def, 0);
	if (ret)
		return ret;
	ret = events_add(events, &made, &ep->event);
	probe_event_unmake(&made); /* what has not been taken */
	return ret;
}

static void link_in(struct event_probes *p, struct event_probe *ep)
{
	struct event_probe **at = &p->first;

	while (*at)
		at = &(*at)->next;
	trace_writers_stop(p->t);
	*at = ep;
	trace_writers_go(p->t);
	dyn_event_add(p->t, &ep->dyn, &event_probe_ops, ep);
}

static int define(struct event_probes *p, const struct probe_words *words, struct probe_error *err)
{
	const struct probe_attach how = {
		.find = find_event,
		.check_filter = check_filter,
		.has_char = probe_kernel_has_char(p->t),
		.fields_are_variables = probe_kernel_has_meta_args(p->t),
		.arg = p->t,
	};
	struct event_probe *ep = calloc(1, sizeof(*ep));
	int ret = ep ? event_probe_def_parse(words, &how, &ep->def, err) : -ENOMEM;

	if (!ret)
		ret = add_event(p, ep, err);
	if (ret)
		event_probe_free(ep);
	else
		link_in(p, ep);
	return ret;
}

/* --- events/define/dyn-event.h
 * ------------------------------------------------------------------------------ */

static int event_probe_define(struct trace *t, const char *line)
{
	struct probe_error err = {0};
	struct probe_words words;
	int ret = probe_words_split(&words, line);

	if (ret)
		return ret;
	ret = define(t->event_probes, &words, &err);
	probe_error_log(t, WHERE, &words, &err);
	probe_words_free(&words);
	return ret;
}

static void event_probe_print(const struct dyn_event *ev, struct text *out)
{
	const struct event_probe *ep = ev->owner;

	probe_def_print(ep->def, 0, out);
}

static bool event_probe_is_busy(struct trace *t, const struct dyn_event *ev)
{
	const struct event_probe *ep = ev->owner;
	bool busy = false;

	change_lock(t);
	for (const struct instance *i = t->instances; i; i = i->next)
		busy = busy || (i->events && event_wanted(&i->events[ep->event]));
	change_unlock(t);
	return busy;
}

static bool event_probe_matches(const struct dyn_event *ev, const struct probe_removal *removal)
{
	const struct event_probe *ep = ev->owner;

	return probe_removal_takes(removal, ep->def);
}

static int event_probe_remove(struct trace *t, struct dyn_event *ev)
{
	struct event_probe *ep = ev->owner, **at = &t->event_probes->first;

	if (event_probe_is_busy(t, ev))
		return -EBUSY;
	while (*at != ep)
		at = &(*at)->next;
	trace_change_begin(t);
	trace_writers_stop(t);
	*at = ep->next;
	instances_forget_event(t, ep->event);
	trace_writers_go(t);
	events_remove(t->trace_events, ep->event);
	trace_change_end(t);
	dyn_event_remove(t, ev);
	event_probe_free(ep);
	return 0;
}

const struct dyn_event_ops event_probe_ops = {
	.syntax =
		"  e[:[GROUP/][EVENT]] SYSTEM.EVENT [[NAME=]$FIELD[:TYPE]...] [if FILTER]   behind another one",
	.define = event_probe_define,
	.print = event_probe_print,
	.is_busy = event_probe_is_busy,
	.matches = event_probe_matches,
	.remove = event_probe_remove,
};
