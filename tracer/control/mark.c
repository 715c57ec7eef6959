// SPDX-License-Identifier: GPL-2.0-or-later
/* mark.c - records that come from the host: markers, and what is injected. */
#include "tracer/collect/collect.h"
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/events/filter/inject.h"
#include "tracer/events/strings.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/order.h"
#include "tracer/instance/view.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/ring/entry.h"

#include <errno.h>
#include <string.h>

#define MARK_MAX      (RING_PAGE_DATA / 2)
#define CATCH_UP_MS   2000
#define CATCH_UP_STEP NS_PER_MS

struct host_record {
	const void *data;
	size_t len;
	uint32_t event; /* in the list, or EVENT_OF_MARK; EVENT_NONE: it is an entry of no event */
	unsigned int uses;
};

/*
 * Whoever writes to the file is no task of the guest: the record is of its vCPU 0, and of nobody.
 * False: nothing is recorded now. *until: instance_order_last() then.
 */
static bool put_record(struct instance *i, const struct host_record *hr, uint64_t *until)
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
	*until = instance_order_last(i, 0);
	vcpu_unlock(t, 0);
	return on;
}

/*
 * Who writes one expects to read it at once. Where there is an order it comes behind what a vCPU
 * is in the middle of, which stands meanwhile if the host is busy; one that goes on standing is
 * not waited for (the collector's BEHIND_MS).
 */
static void catch_up(struct instance *i, uint64_t until)
{
	static const struct timespec step = {.tv_nsec = CATCH_UP_STEP};
	int64_t end = host_ms() + CATCH_UP_MS;
	struct trace *t = i->t;
	bool waits;

	do {
		trace_writers_stop(t);
		collect_catch_up(t);
		waits = instance_order_waits(i, 0, until);
		trace_writers_go(t);
	} while (waits && host_ms() < end && !clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL));
	record_do_deferred(t); /* what triggers have asked for */
	trace_wake(t);
}

static int mark_take(struct instance *i, const void *record, size_t len, bool event)
{
	const struct host_record hr = {record, len, event ? EVENT_OF_MARK : EVENT_NONE, 0};
	uint64_t until;
	bool on = put_record(i, &hr, &until);

	catch_up(i, until);
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
static int inject(struct instance *i, uint32_t event, const char *text, uint64_t *until)
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
		put_record(i, &hr, until);
	return 0;
}

int instance_inject(struct instance *i, uint32_t event, const char *text)
{
	struct events *events = i->t->trace_events;
	int err = events_load(events);
	uint64_t until = 0;

	if (err)
		return err;
	events_lock(events);
	err = instance_events_get(i);
	if (!err)
		err = inject(i, event, text, &until);
	events_unlock(events);
	if (!err)
		catch_up(i, until);
	return err;
}
