// SPDX-License-Identifier: GPL-2.0-or-later
/* mark.c - records that come from the host: markers, and what is injected. */
#include "tracer/collect/collect.h"
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/events/filter/inject.h"
#include "tracer/events/strings.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/view.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/ring/entry.h"

#include <errno.h>
#include <string.h>

#define MARK_MAX (RING_PAGE_DATA / 2)

struct host_record {
	const void *data;
	size_t len;
	uint32_t event; /* in the list, or EVENT_OF_MARK; EVENT_NONE: it is an entry of no event */
	unsigned int uses;
};

/*
 * Whoever writes to the file is no task of the guest: the record is of its vCPU 0, and of nobody.
 * False: nothing is recorded now.
 */
static bool put_record(struct instance *i, const struct host_record *hr)
{
	struct entry e = {.data = hr->data, .len = hr->len};
	struct event_view view;
	struct trace *t = i->t;
	bool on;

	vcpu_lock(t, 0);
	on = i->on;
	if (on || hr->uses & EVENT_USE_INJECTED) {
		collect_drain(t, 0); /* it comes behind what the vCPU has recorded */
		e.ts = instance_time_now(i, 0, &e.tsc);
		if (hr->event == EVENT_NONE) {
			instance_take_entry(i, 0, &e);
		} else {
			event_view_init(&view, i, 0, hr->data, hr->len, e.ts, NULL);
			view.tsc = e.tsc;
			view.uses |= hr->uses;
			instance_take_event(i, hr->event, &view);
		}
	}
	vcpu_unlock(t, 0);
	return on;
}

/* Who writes one expects to read it at once. */
static void catch_up(struct trace *t)
{
	trace_writers_stop(t);
	collect_catch_up(t);
	trace_writers_go(t);
	record_do_deferred(t); /* what triggers have asked for */
	trace_wake(t);
}

static int mark_take(struct instance *i, const void *record, size_t len, bool event)
{
	const struct host_record hr = {record, len, event ? EVENT_OF_MARK : EVENT_NONE, 0};
	bool on = put_record(i, &hr);

	catch_up(i->t);
	return on ? 0 : -EBADF; /* tracing_mark_write() (kernel/trace/trace.c, 6.1) */
}

int instance_mark(struct instance *i, const char *text, size_t len)
{
	union {
		struct trace_print_entry e;
		char bytes[sizeof(struct trace_print_entry) + MARK_MAX + 2];
	} record = {.e.ent.type = TRACE_PRINT};
	uint64_t ip;

	if (!(i->options & OUTPUT_MARKERS))
		return -EINVAL;
	if (len > MARK_MAX)
		len = MARK_MAX;
	ip = guestsym_addr(i->t->gs, "tracing_mark_write");
	record.e.ip = ip ? ip + i->t->guest.slide : 0;
	memcpy(record.e.buf, text, len);
	record.e.buf[len] = '\0';
	return mark_take(i, &record, sizeof(record.e) + len + 1, true);
}

int instance_mark_raw(struct instance *i, const void *data, size_t len)
{
	union {
		struct trace_raw_data_entry e;
		char bytes[sizeof(struct trace_raw_data_entry) + MARK_MAX];
	} record = {.e.ent.type = TRACE_RAW_DATA};

	if (!(i->options & OUTPUT_MARKERS) || len < sizeof(record.e.id) || len > MARK_MAX)
		return -EINVAL;
	memcpy(&record.e.id, data, len);
	return mark_take(i, &record, sizeof(record.e.ent) + len, false);
}

/* --- inject ---------------------------------------------------------------------------------- */

/* The events' lock is held. What the kernel would not record of its task it does not say either. */
static int inject(struct instance *i, uint32_t event, const char *text)
{
	static const struct event_inject_strings strings = {EVENT_STRING_INJECTED,
							    EVENT_STRING_EMPTY};
	const struct guestsym_event_list *list = events_list(i->t->trace_events);
	const struct event_format format = {&list->v[event], list->common, list->nr_common};
	struct event_injection in;
	struct host_record hr = {in.record, 0, event, EVENT_USE_INJECTED};
	struct trace_entry e;
	int err = guestsym_event_is_gone(format.event)
			  ? -ENODEV
			  : event_inject_parse(&format, &strings, text, &in);

	if (err)
		return err;
	hr.len = in.len;
	memcpy(&e, in.record, sizeof(e));
	if (i->cpumask & 1 && pid_filter_traces(&i->event_pids, e.pid))
		put_record(i, &hr);
	return 0;
}

int instance_inject(struct instance *i, uint32_t event, const char *text)
{
	struct events *events = i->t->trace_events;
	int err = events_load(events);

	if (err)
		return err;
	events_lock(events);
	err = instance_events_get(i);
	if (!err)
		err = inject(i, event, text);
	events_unlock(events);
	if (!err)
		catch_up(i->t);
	return err;
}
