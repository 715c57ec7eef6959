// SPDX-License-Identifier: GPL-2.0-or-later
/* buffer.c - the ring buffers of an instance: sizes, statistics, the snapshot. */
#include "tracer/core/lock.h"
#include "tracer/instance/files.h"
#include "tracer/instance/order.h"
#include "tracer/lib/memory.h"
#include "tracer/probe/trampoline/trampoline.h"

#include <errno.h>
#include <inttypes.h>

static bool chosen(int vcpu, unsigned int v)
{
	return vcpu == ALL_VCPUS || (unsigned int)vcpu == v;
}

/* For ring_now(). */
static void set_ring(struct ring **rings, unsigned int v, struct ring *ring)
{
	__atomic_store_n(&rings[v], ring, __ATOMIC_RELEASE);
}

uint64_t instance_buffer_kb(struct instance *i, unsigned int vcpu)
{
	return ring_size(ring_now(i->ring, vcpu)) >> 10;
}

unsigned int instance_buffer_percent(struct instance *i)
{
	return i->percent;
}

int instance_set_buffer_percent(struct instance *i, uint64_t percent)
{
	if (percent > 100)
		return -EINVAL;
	i->percent = (unsigned int)percent;
	trace_wake(i->t);
	return 0;
}

/* What those buffers take more than now, in bytes; saturated. */
static uint64_t growth(struct instance *i, int vcpu, uint64_t bytes)
{
	unsigned int copies = i->snapshot ? 2 : 1;
	uint64_t sum = 0;

	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		uint64_t now = ring_size(ring_now(i->ring, v));
		uint64_t more = chosen(vcpu, v) && bytes > now ? bytes - now : 0;

		if (__builtin_mul_overflow(more, copies, &more) ||
		    __builtin_add_overflow(sum, more, &sum))
			return UINT64_MAX;
	}
	return sum;
}

static int resize_one(struct instance *i, unsigned int v, uint64_t bytes)
{
	uint64_t before;
	int ret;

	vcpu_lock(i->t, v);
	before = ring_size(i->ring[v]);
	ret = ring_resize(i->ring[v], bytes);
	if (!ret && i->snapshot)
		ret = ring_resize(i->spare[v], bytes);
	if (ret)
		ring_resize(i->ring[v], before);
	vcpu_unlock(i->t, v);
	return ret;
}

/* The kernel takes pages for KB of data (ring_buffer_resize(), 6.1), and shows pages. */
int instance_resize(struct instance *i, int vcpu, uint64_t kb)
{
	uint64_t before[MACHINE_MAX_VCPUS];
	unsigned int v;
	int ret = 0;

	if (!kb || kb > UINT64_MAX >> 10)
		return -EINVAL;
	if (!memory_holds(i->t->memory, growth(i, vcpu, kb << 10)))
		return -ENOMEM;
	for (v = 0; v < i->t->vcpus && !ret; v++) {
		before[v] = ring_size(ring_now(i->ring, v));
		if (chosen(vcpu, v))
			ret = resize_one(i, v, kb << 10);
	}
	/* The last one is as it was. */
	for (v = ret ? v - 1 : 0; v--;)
		if (chosen(vcpu, v))
			resize_one(i, v, before[v]);
	return ret;
}

static void rings_clear(struct instance *i, struct ring **rings, int vcpu)
{
	for (unsigned int v = 0; v < i->t->vcpus; v++)
		if (chosen(vcpu, v) && ring_now(rings, v))
			ring_reset(ring_now(rings, v));
}

void instance_clear_stopped(struct instance *i, int vcpu)
{
	rings_clear(i, i->ring, vcpu);
	for (unsigned int v = 0; i->calls && v < i->t->vcpus; v++)
		if (chosen(vcpu, v))
			call_log_clear(i->calls, v);
	if (vcpu == ALL_VCPUS)
		i->time_start = instance_now(i, 0);
}

/* As tracing_stats_read() (kernel/trace/trace.c, 6.1) has it. */
static void print_time(struct text *out, const char *what, uint64_t ts, bool ns)
{
	if (ns)
		text_printf(out, "%s: %5" PRIu64 ".%06" PRIu64 "\n", what, ts / 1000000000,
			    ts % 1000000000 / 1000);
	else
		text_printf(out, "%s: %" PRIu64 "\n", what, ts);
}

void instance_print_stats(struct instance *i, unsigned int vcpu, struct text *out)
{
	struct ring_stats st;

	ring_get_stats(ring_now(i->ring, vcpu), &st);
	text_printf(out, "entries: %" PRIu64 "\n", st.entries);
	text_printf(out, "overrun: %" PRIu64 "\n", st.overrun);
	text_printf(out, "commit overrun: %" PRIu64 "\n", st.commit_overrun);
	text_printf(out, "bytes: %" PRIu64 "\n", st.bytes);
	print_time(out, "oldest event ts", st.oldest_ts, i->clock->ns);
	print_time(out, "now ts", instance_now(i, vcpu), i->clock->ns);
	text_printf(out, "dropped events: %" PRIu64 "\n", st.dropped);
	text_printf(out, "read events: %" PRIu64 "\n", st.read);
}

/* --- the snapshot ---------------------------------------------------------------------------- */

bool instance_has_snapshot(struct instance *i)
{
	return atomic_load(&i->snapshot);
}

bool instance_lends_snapshot(const struct instance *i)
{
	const struct tracer_ops *tracer = i->tracer;

	return tracer->max;
}

int instance_snapshot_reserve(struct instance *i)
{
	uint64_t bytes = 0;
	int ret = 0;

	for (unsigned int v = 0; v < i->t->vcpus; v++)
		bytes += ring_size(ring_now(i->ring, v));
	if (!i->snapshot && !memory_holds(i->t->memory, bytes))
		return -ENOMEM;
	trace_writers_stop(i->t);
	for (unsigned int v = 0; v < i->t->vcpus && !ret; v++) {
		if (!i->spare[v])
			set_ring(i->spare, v, ring_new(ring_size(i->ring[v])));
		else if (!i->snapshot)
			ret = ring_resize(i->spare[v], ring_size(i->ring[v]));
		if (!i->spare[v])
			ret = -ENOMEM;
	}
	if (!ret)
		atomic_store(&i->snapshot, true);
	trace_writers_go(i->t);
	return ret;
}

void instance_snapshot_stopped(struct instance *i, int vcpu)
{
	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		struct ring *taken = i->ring[v];

		if (!chosen(vcpu, v))
			continue;
		ring_set_overwrite(i->spare[v], i->options & OUTPUT_OVERWRITE);
		set_ring(i->ring, v, i->spare[v]);
		set_ring(i->spare, v, taken);
	}
}

void instance_snapshot_due(struct instance *i)
{
	if (!(i->deferred & DEFERRED_SNAPSHOT) || instance_lends_snapshot(i) ||
	    !instance_has_snapshot(i))
		return;
	atomic_fetch_and(&i->deferred, ~(unsigned int)DEFERRED_SNAPSHOT);
	instance_snapshot_stopped(i, ALL_VCPUS);
}

int instance_snapshot(struct instance *i, int vcpu)
{
	int ret = instance_lends_snapshot(i) ? -EBUSY : instance_snapshot_reserve(i);

	if (ret)
		return ret;
	trace_writers_stop(i->t);
	instance_order_flush(i);
	instance_snapshot_stopped(i, vcpu);
	trace_writers_go(i->t);
	return 0;
}

void instance_snapshot_clear(struct instance *i, int vcpu)
{
	rings_clear(i, i->spare, vcpu);
}

/* Readers may hold the rings: they stay, as small as can be. */
int instance_snapshot_free(struct instance *i)
{
	int ret = 0;

	if (instance_lends_snapshot(i))
		return -EBUSY;
	atomic_store(&i->snapshot, false);
	for (unsigned int v = 0; v < i->t->vcpus && !ret; v++) {
		struct ring *spare = ring_now(i->spare, v);

		if (!spare)
			continue;
		ring_reset(spare);
		ret = ring_resize(spare, 1);
	}
	return ret;
}
