// SPDX-License-Identifier: GPL-2.0-or-later
/* tracer-events.c - see tracer-events.h */
#include "tracer/control/tracer-events.h"
#include "tracer/events/events.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t find_event(const struct guestsym_event_list *list, const char *name)
{
	const char *colon = strchr(name, ':');

	for (uint32_t k = 0; k < list->n; k++) {
		const char *system = list->v[k].system;

		if (!strncmp(system, name, (size_t)(colon - name)) && !system[colon - name] &&
		    !strcmp(list->v[k].name, colon + 1))
			return k;
	}
	return EVENT_NONE;
}

static int find_events(struct instance *i, const struct tracer_ops *tracer,
		       struct tracer_work *work)
{
	const struct guestsym_event_list *list = events_list(i->t->trace_events);

	for (unsigned int k = 0; tracer->events[k]; k++) {
		work->event[k] = find_event(list, tracer->events[k]);
		if (work->event[k] != EVENT_NONE && event_is_recordable(&list->v[work->event[k]]))
			continue;
		if (tracer->optional >> k & 1) {
			work->event[k] = EVENT_NONE;
			continue;
		}
		trace_note(i->t, "%s: this kernel has no trace event %s", tracer->name,
			   tracer->events[k]);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int find_calls(struct instance *i, const struct tracer_ops *tracer, struct tracer_work *work)
{
	memset(work->call, 0xff, sizeof(work->call));
	for (unsigned int k = 0; tracer->calls && tracer->calls[k]; k++) {
		work->call[k] = probe_named(&i->t->probes, tracer->calls[k]);
		if (work->call[k] != UINT32_MAX)
			continue;
		trace_note(i->t, "%s: calls of %s() cannot be traced in this kernel", tracer->name,
			   tracer->calls[k]);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int want(struct instance *i, const struct tracer_ops *tracer, const struct tracer_work *work,
		bool on)
{
	trace_writers_stop(i->t);
	record_drain_all(i->t); /* by what was wanted up to now */
	for (unsigned int k = 0; tracer->events[k]; k++) {
		if (work->event[k] == EVENT_NONE)
			continue;
		i->events[work->event[k]].tracers += on ? 1 : -1u;
		if (tracer->stacks >> k & 1)
			i->events[work->event[k]].copies += on ? 1 : -1u;
	}
	instance_count_events(i);
	trace_writers_go(i->t);
	return events_apply(i->t->trace_events);
}

int tracer_events_get(struct instance *i, const struct tracer_ops *tracer, struct tracer_work *work)
{
	int ret;

	memset(work, 0, sizeof(*work));
	ret = find_calls(i, tracer, work);
	if (ret)
		return ret;
	if (!tracer->events)
		return tracer->init ? tracer->init(i, &work->data, work->event) : 0;
	ret = find_events(i, tracer, work);
	if (!ret)
		ret = instance_events_get(i);
	if (!ret)
		ret = tracer->init(i, &work->data, work->event);
	if (ret)
		return ret;
	ret = want(i, tracer, work, true);
	if (ret)
		tracer_events_put(i, tracer, work);
	return ret;
}

void tracer_events_put(struct instance *i, const struct tracer_ops *tracer,
		       struct tracer_work *work)
{
	/* What fails has been noted; records that still come have nobody who takes them. */
	if (tracer->events)
		want(i, tracer, work, false);
	if (tracer->exit)
		tracer->exit(work->data);
}
