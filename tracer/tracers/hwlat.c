// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hwlat-sample.c - the tracer hwlat: a thread that looks now and then how long vCPUs have waited
 * for a processor of the host, and tells of waits that are longer than tracing_thresh.
 *
 * The kernel's own sits in a loop on a CPU and looks at the clock. From outside there is no need
 * for that: the host's scheduler counts.
 */
#include "tracer/collect/collect.h"
#include "tracer/core/lock.h"
#include "tracer/instance/entry.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/files.h"
#include "tracer/ring/entry.h"
#include "tracer/tracers/files.h"
#include "tracer/tracers/hwlat-sample.h"
#include "tracer/tracers/tracers.h"
#include "vmm/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define US	1000
#define LOOK_US 500			/* between two looks; a look takes some microseconds */
#define REST_US 1000			/* at least, between two samples: the kernel's */
#define MAX_US	UINT64_C(1000000000000) /* what is longer is as long as that */

struct hwlat {
	struct instance *i;
	pthread_t thread;
	pthread_mutex_t lock; /* of stop */
	pthread_cond_t change;
	bool stop;
	unsigned int next; /* vCPU, for round-robin */
	uint32_t seqnum;
	uint64_t save_thresh; /* tracing_thresh before it was the tracer */
	struct hwlat_sample sample[MACHINE_MAX_VCPUS];
};

/* --- one sample ------------------------------------------------------------------------------ */

/* True: it goes on. */
static bool hwlat_wait(struct hwlat *h, uint64_t us)
{
	struct timespec at = host_deadline((int64_t)((us < MAX_US ? us : MAX_US) * US));
	bool stop;

	pthread_mutex_lock(&h->lock);
	while (!h->stop && pthread_cond_timedwait(&h->change, &h->lock, &at) != ETIMEDOUT)
		;
	stop = h->stop;
	pthread_mutex_unlock(&h->lock);
	return !stop;
}

/* Which vCPUs are looked at this time: all that are traced, or the next one. */
static uint64_t choose(struct hwlat *h)
{
	uint64_t mask = h->i->cpumask;

	if (trace_hwlat_mode(h->i->t) != HWLAT_ROUND_ROBIN || !mask)
		return mask;
	do
		h->next = (h->next + 1) % h->i->t->vcpus;
	while (!(mask >> h->next & 1));
	return UINT64_C(1) << h->next;
}

static bool looks_at(uint64_t which, unsigned int vcpu)
{
	return which >> vcpu & 1;
}

/* The machine stays until it is ended. False: there is none any more. */
static bool hold_machine(struct trace *t)
{
	pthread_mutex_lock(&t->hwlat->lock);
	if (!t->hwlat->detached)
		return true;
	pthread_mutex_unlock(&t->hwlat->lock);
	return false;
}

static void release_machine(struct trace *t)
{
	pthread_mutex_unlock(&t->hwlat->lock);
}

/* One that cannot be asked just now has not waited. */
static void hwlat_look(struct hwlat *h, uint64_t which, bool first, uint64_t thresh_us)
{
	struct trace *t = h->i->t;
	struct machine_delay now;

	if (!hold_machine(t))
		return;
	for (unsigned int v = 0; v < t->vcpus; v++) {
		if (!looks_at(which, v))
			continue;
		if (machine_get_delay(t->m, v, &now))
			now = h->sample[v].last;
		if (first)
			hwlat_sample_begin(&h->sample[v], &now);
		else
			hwlat_sample_look(&h->sample[v], &now, thresh_us);
	}
	release_machine(t);
}

static void write_entry(struct instance *i, unsigned int vcpu, const struct hwlat_sample *s,
			uint32_t seqnum)
{
	const struct trace_hwlat_entry record = {
		.ent.type = TRACE_HWLAT,
		.duration = s->longest / US,
		.outer_duration = s->total / US,
		.tv_sec = s->first.tv_sec,
		.tv_nsec = s->first.tv_nsec,
		.seqnum = seqnum,
		.count = s->count,
	};
	struct entry e = {.data = &record, .len = sizeof(record)};

	collect_drain(i->t, vcpu); /* it comes behind what the vCPU has recorded */
	e.ts = instance_time_now(i, vcpu, &e.tsc);
	instance_take_entry(i, vcpu, &e);
}

static void hwlat_tell(struct hwlat *h, unsigned int vcpu)
{
	const struct hwlat_sample *s = &h->sample[vcpu];
	struct instance *i = h->i;

	if (!hold_machine(i->t)) /* its clocks are the machine's */
		return;
	vcpu_lock(i->t, vcpu);
	/* It may have been turned off meanwhile, or may not be the tracer any more. */
	if (i->on && i->tracer == &hwlat_tracer_ops && i->tracer_data == h) {
		write_entry(i, vcpu, s, ++h->seqnum);
		if (s->longest > i->max_latency)
			i->max_latency = s->longest;
	}
	vcpu_unlock(i->t, vcpu);
	release_machine(i->t);
	trace_wake(i->t);
}

/* False: it was told to stop meanwhile. */
static bool hwlat_sample(struct hwlat *h, uint64_t width_us)
{
	uint64_t which = choose(h), thresh_us = h->i->t->thresh / US;
	int64_t end = host_ns() + (int64_t)((width_us < MAX_US ? width_us : MAX_US) * US);
	bool more = true;

	hwlat_look(h, which, true, thresh_us);
	while (more && host_ns() < end) {
		more = hwlat_wait(h, LOOK_US);
		hwlat_look(h, which, false, thresh_us);
	}
	for (unsigned int v = 0; v < h->i->t->vcpus; v++)
		if (looks_at(which, v) && hwlat_sample_exceeds(&h->sample[v], thresh_us))
			hwlat_tell(h, v);
	return more;
}

static void *hwlat_thread(void *arg)
{
	struct hwlat *h = arg;
	struct trace *t = h->i->t;
	uint64_t width, window;

	do {
		width = trace_hwlat_us(t, HWLAT_WIDTH);
		window = trace_hwlat_us(t, HWLAT_WINDOW);
		if (h->i->on && !hwlat_sample(h, width))
			break;
	} while (hwlat_wait(h, window > width + REST_US ? window - width : REST_US));
	return NULL;
}

/* --- being the tracer ------------------------------------------------------------------------ */

/* One at a time, as in the kernel. */
static int claim(struct trace *t)
{
	int ret;

	pthread_mutex_lock(&t->hwlat->lock);
	ret = t->hwlat->busy ? -EBUSY : 0;
	t->hwlat->busy = true;
	pthread_mutex_unlock(&t->hwlat->lock);
	return ret;
}

static void give_up(struct trace *t)
{
	pthread_mutex_lock(&t->hwlat->lock);
	t->hwlat->busy = false;
	pthread_mutex_unlock(&t->hwlat->lock);
}

/* Does the host tell? A vCPU whose thread has not begun yet will be asked again. */
static int try_out(struct trace *t)
{
	struct machine_delay delay;
	int ret = t->m ? machine_get_delay(t->m, 0, &delay) : -ENODEV;

	if (!ret || ret == -EAGAIN)
		return 0;
	trace_note(t, "hwlat: the host does not tell how long vCPUs wait for a processor");
	return -EOPNOTSUPP;
}

/* The threshold is kept from one run to the next, apart from that of other tracers. */
static void take_thresh(struct hwlat *h)
{
	struct trace *t = h->i->t;

	h->save_thresh = t->thresh;
	if (!h->save_thresh)
		trace_set_thresh(t, t->hwlat->thresh);
}

static void put_thresh(struct hwlat *h)
{
	struct trace *t = h->i->t;

	/* Where nothing is recorded any more the other instances may have gone. */
	if (!hold_machine(t))
		return;
	release_machine(t);
	t->hwlat->thresh = t->thresh;
	trace_set_thresh(t, h->save_thresh);
}

static void hwlat_free(struct hwlat *h)
{
	pthread_cond_destroy(&h->change);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static struct hwlat *hwlat_new(struct instance *i)
{
	struct hwlat *h = calloc(1, sizeof(*h));
	pthread_condattr_t attr;

	if (!h)
		return NULL;
	h->i = i;
	h->next = i->t->vcpus - 1;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&h->change, &attr);
	pthread_condattr_destroy(&attr);
	return h;
}

static int hwlat_init(struct instance *i, void **data, const uint32_t *events)
{
	struct hwlat *h;
	int ret = try_out(i->t);

	(void)events;
	if (!ret)
		ret = claim(i->t);
	if (ret)
		return ret;
	h = hwlat_new(i);
	ret = h ? thread_start(&h->thread, "hwlat", NULL, hwlat_thread, h) : -ENOMEM;
	if (ret) {
		if (h)
			hwlat_free(h);
		give_up(i->t);
		return ret;
	}
	i->max_latency = 0;
	take_thresh(h);
	*data = h;
	return 0;
}

static void hwlat_exit(void *data)
{
	struct hwlat *h = data;

	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_signal(&h->change);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	put_thresh(h);
	give_up(h->i->t);
	hwlat_free(h);
}

const struct tracer_ops hwlat_tracer_ops = {
	.name = "hwlat",
	.desc = "how long vCPUs wait for a processor of the host",
	.init = hwlat_init,
	.exit = hwlat_exit,
};
