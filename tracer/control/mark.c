// SPDX-License-Identifier: GPL-2.0-or-later
/* mark.c - records that come from the host: markers, and what filter commands leave. */
#include "tracer/lib/host-time.h"
#include "tracer/ring/entry.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/trampoline/trampoline.h"

#include <errno.h>
#include <string.h>

#define MARK_MAX (RING_PAGE_DATA / 2)

/* The guest's TSC was seen some time ago, and has gone on like the host's clock since. */
static uint64_t tsc_now(struct trace *t)
{
	uint64_t tsc = atomic_load(&t->seen_tsc), ns = atomic_load(&t->seen_ns),
		 now = (uint64_t)host_ns();
	struct machine_info info;

	if (!t->m || !tsc || now < ns)
		return tsc;
	machine_get_info(t->m, &info);
	return tsc + (uint64_t)((unsigned __int128)(now - ns) * info.tsc_khz / 1000000);
}

static uint64_t time_now(struct trace *t, const struct clock_ops *clock, unsigned int vcpu)
{
	struct clock_reading now = {0};
	uint64_t tsc = tsc_now(t);

	if (t->m)
		clock_begin(clock, t, vcpu, tsc, &now);
	return clock_read(clock, t, &now, tsc);
}

static uint64_t clock_now(struct instance *i, unsigned int vcpu)
{
	return time_now(i->t, i->clock, vcpu);
}

uint64_t trace_local_ns(struct trace *t)
{
	return time_now(t, clock_find("local"), 0);
}

uint64_t instance_now(struct instance *i, unsigned int vcpu)
{
	return clock_now(i, vcpu);
}

/*
 * Whoever writes to the file is no task of the guest: the entry is of its vCPU 0, and of nobody.
 * vcpu_lock[0] is held.
 */
static void *mark_reserve(struct instance *i, uint16_t type, size_t len)
{
	struct trace_entry *e;

	if (!i->on)
		return NULL;
	trampoline_drain(i->t, 0); /* it comes behind what the vCPU has recorded */
	e = ring_reserve(i->ring[0], len, horizon_time(&i->horizon, clock_now(i, 0)));
	if (e)
		*e = (struct trace_entry){.type = type};
	return e;
}

/* Who writes one expects to read it at once. */
static void mark_tell(struct trace *t)
{
	instance_writers_stop(t);
	trampoline_catch_up(t);
	instance_writers_go(t);
	instances_wake(t);
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
	pthread_mutex_lock(&i->t->vcpu_lock[0]);
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
	pthread_mutex_unlock(&i->t->vcpu_lock[0]);
	mark_tell(i->t);
	return ret;
}

int instance_mark_raw(struct instance *i, const void *data, size_t len)
{
	struct trace_raw_data_entry *e;
	int ret = 0;

	if (!(i->options & OUTPUT_MARKERS) || len < sizeof(e->id) || len > MARK_MAX)
		return -EINVAL;
	pthread_mutex_lock(&i->t->vcpu_lock[0]);
	e = mark_reserve(i, TRACE_RAW_DATA, sizeof(e->ent) + len);
	if (e) {
		memcpy(&e->id, data, len);
		ring_commit(i->ring[0]);
	} else {
		ret = -EBADF;
	}
	pthread_mutex_unlock(&i->t->vcpu_lock[0]);
	mark_tell(i->t);
	return ret;
}
