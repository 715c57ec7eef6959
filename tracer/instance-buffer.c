// SPDX-License-Identifier: GPL-2.0-or-later
/* instance-buffer.c - the ring buffers of an instance: sizes, statistics, the snapshot. */
#include "tracer/instance.h"

#include <errno.h>
#include <inttypes.h>

static bool chosen(int vcpu, unsigned int v)
{
	return vcpu == ALL_VCPUS || (unsigned int)vcpu == v;
}

/* A snapshot may be taken at the same time. */
static struct ring *ring_now(struct ring **rings, unsigned int v)
{
	return __atomic_load_n(&rings[v], __ATOMIC_RELAXED);
}

uint64_t instance_buffer_kb(struct instance *i, unsigned int vcpu)
{
	return ring_size(ring_now(i->ring, vcpu)) >> 10;
}

/* The kernel takes pages for KB of data (ring_buffer_resize(), 6.1), and shows pages. */
int instance_resize(struct instance *i, int vcpu, uint64_t kb)
{
	int ret = 0;

	if (!kb || kb > UINT64_MAX >> 10)
		return -EINVAL;
	for (unsigned int v = 0; v < i->t->vcpus && !ret; v++) {
		if (!chosen(vcpu, v))
			continue;
		pthread_mutex_lock(&i->t->vcpu_lock[v]);
		ret = ring_resize(i->ring[v], kb << 10);
		if (!ret && i->snapshot)
			ret = ring_resize(i->spare[v], kb << 10);
		pthread_mutex_unlock(&i->t->vcpu_lock[v]);
	}
	return ret;
}

static void rings_clear(struct instance *i, struct ring **rings, int vcpu)
{
	for (unsigned int v = 0; v < i->t->vcpus; v++)
		if (chosen(vcpu, v) && ring_now(rings, v))
			ring_reset(ring_now(rings, v));
}

void instance_clear(struct instance *i, int vcpu)
{
	rings_clear(i, i->ring, vcpu);
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

int instance_snapshot_reserve(struct instance *i)
{
	int ret = 0;

	instance_writers_stop(i->t);
	for (unsigned int v = 0; v < i->t->vcpus && !ret; v++) {
		if (!i->spare[v])
			__atomic_store_n(&i->spare[v], ring_new(ring_size(i->ring[v])),
					 __ATOMIC_RELAXED);
		else if (!i->snapshot)
			ret = ring_resize(i->spare[v], ring_size(i->ring[v]));
		if (!i->spare[v])
			ret = -ENOMEM;
	}
	if (!ret)
		atomic_store(&i->snapshot, true);
	instance_writers_go(i->t);
	return ret;
}

int instance_snapshot(struct instance *i, int vcpu)
{
	int ret = instance_snapshot_reserve(i);

	if (ret)
		return ret;
	instance_writers_stop(i->t);
	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		struct ring *taken = i->ring[v];

		if (!chosen(vcpu, v))
			continue;
		ring_reset(i->spare[v]);
		__atomic_store_n(&i->ring[v], i->spare[v], __ATOMIC_RELAXED);
		__atomic_store_n(&i->spare[v], taken, __ATOMIC_RELAXED);
	}
	instance_writers_go(i->t);
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
