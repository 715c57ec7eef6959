// SPDX-License-Identifier: GPL-2.0-or-later
/* mark.c - records that come from the host: markers, and what filter commands leave. */
#include "tracer/collect/collect.h"
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/ring/entry.h"

#include <errno.h>
#include <string.h>

#define MARK_MAX (RING_PAGE_DATA / 2)

/*
 * Whoever writes to the file is no task of the guest: the entry is of its vCPU 0, and of nobody.
 * vcpu_lock[0] is held.
 */
static void *mark_reserve(struct instance *i, uint16_t type, size_t len)
{
	struct trace_entry *e;

	if (!i->on)
		return NULL;
	collect_drain(i->t, 0); /* it comes behind what the vCPU has recorded */
	e = ring_reserve(i->ring[0], len, horizon_time(&i->horizon, instance_now(i, 0)));
	if (e)
		*e = (struct trace_entry){.type = type};
	return e;
}

/* Who writes one expects to read it at once. */
static void mark_tell(struct trace *t)
{
	trace_writers_stop(t);
	collect_catch_up(t);
	trace_writers_go(t);
	trace_wake(t);
}

int instance_mark(struct instance *i, const char *text, size_t len)
{
	struct trace_print_entry *e;
	bool line_end = len && text[len - 1] == '\n';
	int ret = 0;

	if (!(i->options & OUTPUT_MARKERS))
		return -EINVAL;
	if (len > MARK_MAX)
		len = MARK_MAX;
	vcpu_lock(i->t, 0);
	e = mark_reserve(i, TRACE_PRINT, sizeof(*e) + len + 2);
	if (e) {
		uint64_t ip = guestsym_addr(i->t->gs, "tracing_mark_write");

		e->ip = ip ? ip + i->t->guest.slide : 0;
		memcpy(e->buf, text, len);
		memcpy(e->buf + len, line_end ? "\0" : "\n", 2);
		ring_commit(i->ring[0]);
	} else {
		ret = -EBADF; /* tracing_mark_write() (kernel/trace/trace.c, 6.1) */
	}
	vcpu_unlock(i->t, 0);
	mark_tell(i->t);
	return ret;
}

int instance_mark_raw(struct instance *i, const void *data, size_t len)
{
	struct trace_raw_data_entry *e;
	int ret = 0;

	if (!(i->options & OUTPUT_MARKERS) || len < sizeof(e->id) || len > MARK_MAX)
		return -EINVAL;
	vcpu_lock(i->t, 0);
	e = mark_reserve(i, TRACE_RAW_DATA, sizeof(e->ent) + len);
	if (e) {
		memcpy(&e->id, data, len);
		ring_commit(i->ring[0]);
	} else {
		ret = -EBADF;
	}
	vcpu_unlock(i->t, 0);
	mark_tell(i->t);
	return ret;
}
