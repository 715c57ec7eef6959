// SPDX-License-Identifier: GPL-2.0-or-later
/* collect.c - from staging rings to ring buffers. */
#include "tracer/collect/internal.h"
#include "tracer/core/lock.h"
#include "tracer/lib/host-time.h"
#include "tracer/payload/event-ring.h"
#include "vmm/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * How long to wait for more: a staging ring takes some milliseconds to fill at full speed. One that
 * looks all the time takes from the guest the cache lines that it is just writing to, and of a
 * small machine one of its CPUs. An idle guest is looked at less often, a ring that was filled by
 * more than a part of it at once again.
 */
#define MUCH	     4
#define WAIT_NS	     1000000
#define WAIT_IDLE_NS 5000000
#define IDLE_PASSES  200

/* While the guest's clock goes from tick to tick, each of them has to be seen, as far as it goes.
 */
#define TICK_LOOKS	 4
#define TICK_WAIT_MIN_NS 250000
#define TICK_BATCH	 1024 /* records that are written without a look, while it does */

#define UNMERGED_PASSES 8
/*
 * function_graph takes longer to write what comes of a record than the guest to make one. So that
 * staging rings do not overflow meanwhile, and no vCPU waits for long, it goes on in the next pass;
 * what has been collected waits in its queues. Where more than a part of a ring had to be collected
 * there will soon be as much again.
 */
#define MERGE_MAX      8192
#define MERGE_MAX_BUSY 512
#define MERGE_MAX_FULL 65536 /* its queues are full: nothing can be collected before that */
#define BUSY	       16

#define REST_LOOKS 16 /* at what a vCPU has left when it records no more */

#define WAIT_CALL_NS 20000 /* one call is mostly followed by others, and its vCPU waits */
#define CALL_PASSES  50

/*
 * How long others' events wait for what a vCPU is about to record. Where each record takes two
 * hits, which all vCPUs stand for, a busy host can take its time in between.
 */
#define BEHIND_MS	1000
#define BEHIND_TRAPS_MS 30000

/* What was lost may have told a task's name: have the payload tell it once more. */
static void note_losses(struct collector *c, unsigned int vcpu)
{
	uint64_t lost = c->staging[vcpu].lost + c->staging[vcpu].dropped;

	if (lost == c->lost[vcpu])
		return;
	c->lost[vcpu] = lost;
	c->ops->lost(c->t, vcpu);
	ctl_put(c, vcpu, CTL_LAST_PID, UINT32_MAX);
}

/* `max` records at most. How many there were, 0: none now; or -errno. */
static int drain_batch(struct collector *c, unsigned int vcpu, size_t max)
{
	const struct payload_record *records;
	struct staging *s = &c->staging[vcpu];
	uint64_t lost;
	int n = staging_take(s, max, &records, &lost), ret = 0;

	/* Of those that the guest drops it is not known where they are missing. */
	if (n > 0)
		c->ops->batch(c->t, vcpu, records, (size_t)n, &c->events[vcpu],
			      lost || s->lost + s->dropped != c->lost[vcpu]);
	if (n > 0 && s->lossless)
		ret = event_ring_taken(&c->events[vcpu], records, (size_t)n);
	return ret ? ret : n;
}

/* 0: so much waits to be written that more had better stay where it is counted if it is lost. */
static size_t room(const struct collector *c, unsigned int vcpu, size_t n)
{
	return c->ops->room(c->t, vcpu, n);
}

/* One look at a vCPU's ring, which ends whatever the guest writes meanwhile. */
struct look {
	uint64_t head;	 /* as it was at its beginning, */
	uint64_t jumps;	 /* unless it has jumped since */
	uint64_t taken;	 /* before it */
	uint64_t read;	 /* likewise: records that were copied, */
	uint64_t copied; /* and bytes of event data */
};

/*
 * A record is copied twice. More often only where others have come in its place meanwhile, as a
 * guest may have it that likes to be looked at for ever.
 */
#define READS_OF_A_RECORD 3

/* Behind a head that was none nothing is known to be missing. */
static bool look_is_short(const struct staging *s, const struct look *look)
{
	return s->jumps == look->jumps && (int64_t)(s->next - look->head) < 0;
}

/*
 * The lock of the vCPU is held: no more records than the ring has, and no more bytes than as many
 * events come to, each batch of which is copied up to the head. What is left is for another look.
 */
static bool look_goes_on(const struct collector *c, unsigned int vcpu, const struct look *look)
{
	const struct staging *s = &c->staging[vcpu];
	const struct event_ring *er = &c->events[vcpu];

	return look_is_short(s, look) && s->taken - look->taken < s->length &&
	       s->copied - look->read < READS_OF_A_RECORD * s->length &&
	       er->copied - look->copied <= er->size * (1 + s->length / STAGING_BATCH);
}

/* The length of a tick of the guest's clock in ns, 0: it has no ticks that have to be seen. */
static long watch_ticks(struct collector *c)
{
	return c->direct ? (long)guest_watch_ticks(&c->t->guest, c->t->vcpus) : 0;
}

/*
 * All that the vCPU has recorded by now; the guest goes on meanwhile. How many records there were.
 * *behind: it is in the middle of one, and what follows that has to wait. *held: the rest waits for
 * room; NULL: it does not.
 */
static uint64_t drain(struct collector *c, unsigned int vcpu, bool *behind, bool *held)
{
	struct staging *s = &c->staging[vcpu];
	struct look look = {
		.head = s->next,
		.taken = s->taken,
		.read = s->copied,
		.copied = c->events[vcpu].copied,
	};
	int n = staging_head(s, &look.head);
	size_t max = STAGING_BATCH;

	look.jumps = s->jumps;
	if (!n) {
		do {
			max = guest_clock_ticks(&c->t->guest) ? TICK_BATCH : STAGING_BATCH;
			if (held)
				max = room(c, vcpu, max);
			n = max ? drain_batch(c, vcpu, max) : 0;
			/* A slow host takes many ticks for all that there is. */
			if (n == TICK_BATCH)
				watch_ticks(c);
		} while (n > 0 && look_goes_on(c, vcpu, &look));
	}
	*behind = look_is_short(s, &look);
	if (held)
		*held = !max && *behind;
	if (s->taken > look.taken)
		trace_vcpu_runs(c->t, vcpu);
	if (n < 0)
		trace_fail(c->t, n);
	else if (max)
		note_losses(c, vcpu);
	return s->taken - look.taken;
}

void collector_drain(struct collector *c, unsigned int vcpu)
{
	bool behind;

	drain(c, vcpu, &behind, NULL);
}

/* --- the horizon ---------------------------------------------------------------------------- */

/* It has told us the time of a hit, which is not recorded yet. */
static bool is_calling(struct collector *c, unsigned int vcpu)
{
	uint32_t state = PAYLOAD_CALL_NONE;

	return !window_read(c->w, ctl_at(vcpu, CTL_CALL), &state, sizeof(state)) &&
	       state & PAYLOAD_CALL_BUSY;
}

static void note_behind(struct collector *c, unsigned int vcpu, bool behind, bool held)
{
	int64_t now = behind ? host_ms() : 0, *since = &c->behind_ms[vcpu];
	uint64_t bit = UINT64_C(1) << vcpu;

	/* One whose records wait for room gets on. */
	if (!behind || held || !*since)
		*since = now;
	if (now - *since >= c->behind_max_ms)
		behind = false;
	c->due &= ~bit;
	c->behind = behind ? c->behind | bit : c->behind & ~bit;
	c->held = held ? c->held | bit : c->held & ~bit;
}

/*
 * The vCPU's turn in a pass. `served`: what it waits for will be recorded before the pass ends.
 * may_hold: what there is no room for may wait for the next one.
 */
static uint64_t drain_pass(struct collector *c, unsigned int vcpu, bool served, bool may_hold)
{
	bool calling = !served && is_calling(c, vcpu), behind, held = false;
	uint64_t taken = drain(c, vcpu, &behind, may_hold ? &held : NULL);

	note_behind(c, vcpu, behind || calling, held);
	return taken;
}

/* One that holds records back has no room for them still. */
static bool some_are_stuck(struct collector *c)
{
	for (unsigned int v = 0; v < c->t->vcpus; v++)
		if (c->held >> v & 1 && !room(c, v, STAGING_BATCH))
			return true;
	return false;
}

/*
 * function_graph. True: all has been written that is certain by now. Of a vCPU that is behind
 * nothing comes that is earlier than what has come: up to there others' records can be written. One
 * that is behind all the time is not waited for.
 */
static bool pass_merge(struct collector *c, uint64_t behind, size_t max)
{
	bool waits = behind & ~c->held && ++c->unmerged < UNMERGED_PASSES, more;

	if (!waits)
		c->unmerged = 0;
	if (c->held && max < MERGE_MAX_FULL)
		max = MERGE_MAX_FULL;
	/* Where the guest waits for room others do so meanwhile as well: all that there is is not
	 * much. */
	do
		more = c->ops->merge(c->t, max, waits ? behind | c->held : c->held);
	while (more && c->t->cfg.lossless && some_are_stuck(c));
	c->unwritten = more || c->held;
	return !waits;
}

/*
 * The collector and whoever catches up have passes of their own, which may fall into each other:
 * only what was drained since the latest of them ended counts. The locks of all vCPUs are held.
 */
static void pass_end(struct collector *c, size_t max)
{
	struct trace *t = c->t;
	uint64_t behind = c->behind | c->due;
	bool merged;

	/* Also where function_graph has been left, with whatever was in its queues. */
	c->unwritten = false;
	merged = !c->ops->merges(t) || pass_merge(c, behind, max);
	c->due = trace_all_vcpus(t);
	c->ops->pass(t, behind, merged);
}

void collector_catch_up(struct collector *c)
{
	/* One pass to see the latest time, one to get there, one for function_graph. */
	for (int pass = 0; pass < 3; pass++) {
		for (unsigned int v = 0; v < c->t->vcpus; v++)
			drain_pass(c, v, false, false);
		pass_end(c, SIZE_MAX);
	}
}

/* --- the thread ----------------------------------------------------------------------------- */

enum pass { PASS_NOTHING, PASS_SOME, PASS_MUCH, PASS_CALL };

/* Nothing that the payload does can be the cause, and it may be done again and again. */
static void tell_jumps(struct collector *c, unsigned int vcpu, bool jumped)
{
	if (jumped && !c->jumped[vcpu])
		trace_note(c->t,
			   "vCPU %u: the guest has overwritten where its records are counted: some "
			   "are lost, and others may not be true",
			   vcpu);
	c->jumped[vcpu] = jumped;
}

static enum pass pass_vcpu(struct collector *c, unsigned int vcpu)
{
	bool call = call_waits(c, vcpu);
	uint64_t taken;
	bool jumped;

	vcpu_lock(c->t, vcpu);
	taken = drain_pass(c, vcpu, call, true);
	/* The task may get another name by exec, as long as it is the latest one. */
	if (taken)
		ctl_put(c, vcpu, CTL_LAST_PID, UINT32_MAX);
	jumped = c->staging[vcpu].jumps;
	vcpu_unlock(c->t, vcpu);
	tell_jumps(c, vcpu, jumped);
	interrupts_may_wait(c, vcpu);
	if (call)
		call_serve(c, vcpu);
	c->busy |= taken > c->staging[vcpu].length / BUSY;
	if (call)
		return PASS_CALL;
	if (taken > c->staging[vcpu].length / MUCH)
		return PASS_MUCH;
	return taken ? PASS_SOME : PASS_NOTHING;
}

static enum pass collector_pass(struct collector *c)
{
	enum pass most = PASS_NOTHING;

	c->busy = false;
	for (unsigned int i = 0; i < c->t->vcpus; i++) {
		enum pass one = pass_vcpu(c, i);

		most = one > most ? one : most;
	}
	trace_writers_stop(c->t);
	pass_end(c, c->busy ? MERGE_MAX_BUSY : MERGE_MAX);
	if (c->unwritten && most < PASS_MUCH)
		most = PASS_MUCH;
	trace_writers_go(c->t);
	c->ops->idle(c->t);
	return most;
}

/* True: the collector goes on. */
static bool collector_wait(struct collector *c, long ns)
{
	struct timespec at = host_deadline(ns);
	bool stop;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && pthread_cond_timedwait(&c->change, &c->lock, &at) != ETIMEDOUT)
		;
	stop = c->stop;
	pthread_mutex_unlock(&c->lock);
	return !stop;
}

static long time_to_wait(enum pass pass, unsigned int idle, unsigned int since_call)
{
	if (pass == PASS_MUCH)
		return 0;
	if (since_call < CALL_PASSES)
		return WAIT_CALL_NS;
	return idle > IDLE_PASSES ? WAIT_IDLE_NS : WAIT_NS;
}

/* The same, but not for longer than the guest's clock can be left alone. */
static long time_to_rest(struct collector *c, long ns)
{
	long tick = watch_ticks(c) / TICK_LOOKS;

	if (!tick || tick > ns)
		return ns;
	return tick > TICK_WAIT_MIN_NS ? tick : TICK_WAIT_MIN_NS;
}

static void *collector_thread(void *arg)
{
	unsigned int idle = 0, since_call = CALL_PASSES;
	struct collector *c = arg;
	enum pass pass;
	long rest;

	/* Who may not ask for that does without. */
	setpriority(PRIO_PROCESS, 0, TRACE_NICE);
	do {
		pass = collector_pass(c);
		idle = pass == PASS_NOTHING ? idle + 1 : 0;
		since_call = pass == PASS_CALL ? 0 : since_call + (since_call < CALL_PASSES);
		rest = time_to_rest(c, time_to_wait(pass, idle, since_call));
	} while (collector_wait(c, rest));
	return NULL;
}

/* --- from beginning to end ------------------------------------------------------------------ */

static int io_read(void *arg, uint64_t off, void *buf, size_t len)
{
	return window_read(arg, off, buf, len);
}

static int io_write(void *arg, uint64_t off, const void *buf, size_t len)
{
	return window_write(arg, off, buf, len);
}

static int collector_init(struct collector *c)
{
	const struct staging_io io = {.read = io_read, .write = io_write, .arg = c->w};
	pthread_condattr_t attr;
	int ret = 0;

	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->change, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned int i = 0; i < c->t->vcpus && !ret; i++) {
		ret = staging_init(&c->staging[i], &io, i, c->w->header.ring_size);
		c->staging[i].lossless = c->t->cfg.lossless;
		if (!ret)
			ret = event_ring_init(&c->events[i], &io, i,
					      event_ring_at(&c->w->header, i),
					      c->w->header.event_ring_size);
	}
	return ret;
}

int collector_start(struct collector **to, struct trace *t, struct window *w,
		    const struct collector_ops *ops)
{
	struct collector *c = calloc(1, sizeof(*c));
	struct machine_info info;
	int ret;

	*to = c;
	if (!c)
		return -ENOMEM;
	machine_get_info(t->m, &info);
	c->t = t;
	c->ops = ops;
	c->w = w;
	c->direct = info.direct;
	c->behind_max_ms = BEHIND_MS;
	ret = collector_init(c);
	if (!ret)
		ret = thread_start(&c->thread, "collector", NULL, collector_thread, c);
	c->started = !ret;
	return ret;
}

void collector_be_patient(struct collector *c)
{
	trace_writers_stop(c->t);
	c->behind_max_ms = BEHIND_TRAPS_MS;
	for (unsigned int i = 0; i < c->t->vcpus; i++)
		c->staging[i].patience_ns = BEHIND_TRAPS_MS * NS_PER_MS;
	trace_writers_go(c->t);
}

/*
 * All that is left of one vCPU's. One look may stop at its bounds, or at a head that jumps; no more
 * than the ring's length in all, for a hostile guest may go on.
 */
static void drain_rest(struct collector *c, unsigned int vcpu)
{
	struct staging *s = &c->staging[vcpu];
	uint64_t start, taken = 1;
	bool behind;

	vcpu_lock(c->t, vcpu);
	start = s->taken;
	for (int i = 0; i < REST_LOOKS && taken && s->taken - start < s->length; i++)
		taken = drain(c, vcpu, &behind, NULL);
	staging_end(s); /* the guest may have gone, and its memory with it */
	vcpu_unlock(c->t, vcpu);
}

void collector_stop(struct collector *c)
{
	if (!c->started)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->change);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	c->started = false;
	collector_pass(c);
	for (unsigned int i = 0; i < c->t->vcpus; i++)
		drain_rest(c, i);
	trace_writers_stop(c->t);
	c->ops->end(c->t);
	trace_writers_go(c->t);
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < c->t->vcpus; i++) {
		staging_exit(&c->staging[i]);
		event_ring_exit(&c->events[i]);
	}
	pthread_cond_destroy(&c->change);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void collector_get_counts(const struct collector *c, unsigned int vcpu,
			  struct collect_counts *counts)
{
	const struct staging *s = &c->staging[vcpu];
	uint64_t events_lost = c->events[vcpu].lost; /* their records have been taken */

	*counts = (struct collect_counts){
		.made = s->head - s->base + s->dropped,
		.taken = s->taken - events_lost,
		.lost = s->lost + s->dropped + events_lost,
		.corrupt = s->corrupt,
	};
}
