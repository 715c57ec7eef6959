// SPDX-License-Identifier: GPL-2.0-or-later
/* mark.c - records that come from the host: markers, and what filter commands leave. */
#include "tracer/collect/collect.h"
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
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

/*
 * Whoever writes to the file is no task of the guest: the entry is of its vCPU 0, and of nobody.
 * Who writes one expects to read it at once.
 */
static int mark_take(struct instance *i, const void *record, size_t len, bool event)
{
	struct entry e = {.data = record, .len = len};
	struct event_view view;
	struct trace *t = i->t;
	bool on;

	vcpu_lock(t, 0);
	on = i->on;
	if (on) {
		collect_drain(t, 0); /* it comes behind what the vCPU has recorded */
		e.ts = instance_time_now(i, 0, &e.tsc);
		if (event) {
			event_view_init(&view, i, 0, record, len, e.ts, NULL);
			view.tsc = e.tsc;
			instance_take_event(i, EVENT_OF_MARK, &view);
		} else {
			instance_take_entry(i, 0, &e);
		}
	}
	vcpu_unlock(t, 0);
	trace_writers_stop(t);
	collect_catch_up(t);
	trace_writers_go(t);
	record_do_deferred(t); /* what triggers have asked for */
	trace_wake(t);
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
