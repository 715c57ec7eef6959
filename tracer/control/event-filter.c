// SPDX-License-Identifier: GPL-2.0-or-later
/* event-filter.c - the filters of an instance's trace events: set, shown, asked. */
#include "tracer/control/files.h"
#include "tracer/events/events.h"
#include "tracer/events/filter/filter.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/view.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- files.h --------------------------------------------------------------------------------- */

static void log_error(struct instance *i, const struct event_filter_error *err, const char *text)
{
	if (err->what)
		error_log_add(i->errors, trace_local_ns(i->t), EVENT_FILTER_WHERE, err->what, text,
			      err->pos);
}

/* Filters as they are to be, one for each of `which`, and then as they were. */
static void filters_swap(struct instance *i, const uint32_t *which, size_t n,
			 struct event_filter **filter)
{
	trace_writers_stop(i->t);
	record_drain_all(i->t); /* by what it was up to now */
	for (size_t k = 0; k < n; k++) {
		struct event_filter *old = i->events[which[k]].filter;

		i->events[which[k]].filter = filter[k];
		filter[k] = old;
	}
	trace_writers_go(i->t);
}

struct filter_request {
	const struct guestsym_event_list *list;
	struct event_kernel kernel;
	const char *text;
	bool subsystem;
	struct event_filter_error err; /* the latest */
	int ret;
};

static int filter_make(struct filter_request *req, uint32_t event, struct event_filter **filter)
{
	const struct event_format format = {&req->list->v[event], req->list->common,
					    req->list->nr_common};
	struct event_filter_error err = {0};
	int ret = (req->subsystem ? event_filter_new_subsystem : event_filter_new)(
		&format, &req->kernel, req->text, filter, &err);

	if (err.what)
		req->err = err;
	return ret;
}

/* The events' lock is held. Even a filter with an error takes the place of the one before. */
static int filters_set(struct instance *i, struct filter_request *req, const uint32_t *which,
		       size_t n)
{
	struct event_filter **filter = calloc(n, sizeof(struct event_filter *));
	int ret = filter ? instance_events_get(i) : -ENOMEM;
	size_t made = 0;

	for (; made < n && !ret; made++) {
		req->ret = filter_make(req, which[made], &filter[made]);
		if (req->ret == -ENOMEM)
			ret = -ENOMEM;
	}
	if (!ret)
		filters_swap(i, which, n, filter);
	for (size_t k = 0; filter && k < made; k++)
		event_filter_free(filter[k]);
	free(filter);
	return ret;
}

static int filter_request(struct instance *i, const uint32_t *which, size_t n, const char *text,
			  bool subsystem)
{
	struct events *events = i->t->trace_events;
	struct filter_request req = {
		.text = text,
		.subsystem = subsystem,
	};
	int ret = events_load(events);

	if (ret)
		return ret;
	instance_event_kernel(i, &req.kernel);
	req.list = events_list(events);
	events_lock(events);
	ret = filters_set(i, &req, which, n);
	events_unlock(events);
	if (ret)
		return ret;
	log_error(i, &req.err, text);
	return subsystem ? 0 : req.ret;
}

int instance_set_event_filter(struct instance *i, uint32_t event, const char *text)
{
	return filter_request(i, &event, 1, text, false);
}

int instance_set_system_filter(struct instance *i, const uint32_t *which, size_t n,
			       const char *text)
{
	return n ? filter_request(i, which, n, text, true) : -ENODEV;
}

void instance_print_event_filter(struct instance *i, uint32_t event, struct text *out)
{
	struct events *events = i->t->trace_events;

	events_lock(events);
	event_filter_print(i->events ? i->events[event].filter : NULL, out);
	events_unlock(events);
}

void instance_print_system_filter(struct text *out)
{
	event_filter_print_subsystem(out);
}
