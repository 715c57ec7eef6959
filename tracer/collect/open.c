// SPDX-License-Identifier: GPL-2.0-or-later
/* open.c - the window, the payload and the collector together, from beginning to end. */
#include "tracer/collect/internal.h"
#include "tracer/collect/collect.h"
#include "tracer/core/lock.h"
#include "tracer/probe/trampoline/trampoline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct collect {
	const struct collector_ops *ops;
	struct collector *now;				 /* while it is open */
	struct collect_counts closed[MACHINE_MAX_VCPUS]; /* of one that has been closed */
};

struct collect *collect_new(const struct collector_ops *ops)
{
	struct collect *c = calloc(1, sizeof(*c));

	if (c)
		c->ops = ops;
	return c;
}

void collect_free(struct collect *c)
{
	free(c);
}

int collect_can_open(struct trace *t, char *err, size_t errlen)
{
	struct machine_info info;

	machine_get_info(t->m, &info);
	if (!info.direct) {
		snprintf(err, errlen, "the guest's memory cannot be read while it runs");
		return -EACCES;
	}
	if (t->cfg.running && !info.was_running) {
		snprintf(err, errlen, "the guest is paused, and has to run for that");
		return -EAGAIN;
	}
	return 0;
}

/* Others may be about to tell the payload something. */
static void publish(struct trace *t, struct trampoline *tr)
{
	change_lock(t);
	instances_lock(t);
	t->tramp = tr;
	instances_unlock(t);
	change_unlock(t);
}

static void collect_from(struct trace *t, struct collector *c)
{
	trace_writers_stop(t);
	t->collect->now = c;
	trace_writers_go(t);
	atomic_store(&t->collecting, true);
}

/* What the guest claims by then is answered at once, by what has been published. */
static int begin(struct trace *t, struct trampoline *tr, struct collector **c, char *err,
		 size_t errlen)
{
	int ret;

	publish(t, tr);
	ret = collector_start(c, t, trampoline_window_of(tr), t->collect->ops);
	if (ret)
		publish(t, NULL);
	if (ret)
		snprintf(err, errlen, "the collector cannot be started: %s", strerror(-ret));
	return ret;
}

static void end(struct trace *t, struct collector *c)
{
	if (!c)
		return;
	collector_stop(c);
	trace_writers_stop(t);
	atomic_store(&t->collecting, false);
	t->collect->now = NULL;
	for (unsigned int i = 0; i < t->vcpus; i++)
		collector_get_counts(c, i, &t->collect->closed[i]);
	collector_free(c);
	trace_writers_go(t);
	trace_wake(t);
}

static int close_all(struct trace *t, struct trampoline *tr, struct collector *c, bool guest_gone,
		     char *err, size_t errlen)
{
	/* The collector answers whoever waits in there for an answer, and gets the last records. */
	int ret = guest_gone ? 0 : trampoline_quiet(t, tr, err, errlen);

	end(t, c);
	if (!guest_gone && !ret)
		ret = trampoline_close(t, tr, err, errlen);
	return ret;
}

/* It could not be opened. What has to stay in the guest is for a later tracer to take away. */
static void open_undo(struct trace *t, struct trampoline *tr, struct collector *c)
{
	bool stays = trampoline_stays(tr);
	char ignored[256];

	if (stays)
		trace_note(t, "the guest still has a probe, so memory of the probes stays in it: "
			      "attach again when it can be traced (hvtrace attach --recover)");
	close_all(t, tr, c, stays, ignored, sizeof(ignored));
	trampoline_free(tr);
}

static int open_to(struct trace *t, bool sites_call, char *err, size_t errlen)
{
	struct collector *c = NULL;
	struct trampoline *tr;
	int ret;

	if (t->tramp)
		return 0; /* a guest that runs its ftrace_init() again */
	ret = trampoline_new(t, &tr, err, errlen);
	if (ret)
		return ret;
	/* A guest that has not been let go on yet calls nothing. */
	if (sites_call && t->borrow && !t->cfg.hurry)
		ret = trampoline_try(t, tr, err, errlen);
	if (!ret)
		ret = begin(t, tr, &c, err, errlen);
	if (ret) {
		open_undo(t, tr, c);
		return ret;
	}
	if (!sites_call) {
		collector_be_patient(c);
		/* Events do so as soon as there are any. */
		trampoline_entered(tr);
	}
	collect_from(t, c);
	return 0;
}

int collect_open(struct trace *t, char *err, size_t errlen)
{
	return open_to(t, true, err, errlen);
}

int collect_open_events(struct trace *t, char *err, size_t errlen)
{
	return open_to(t, false, err, errlen);
}

int collect_close(struct trace *t, bool guest_gone, char *err, size_t errlen)
{
	struct trampoline *tr = t->tramp;
	int ret;

	if (!tr)
		return 0;
	ret = close_all(t, tr, t->collect->now, guest_gone, err, errlen);
	publish(t, NULL);
	trampoline_free(tr);
	return ret;
}

void collect_drain(struct trace *t, unsigned int vcpu)
{
	if (atomic_load(&t->collecting))
		collector_drain(t->collect->now, vcpu);
}

void collect_event_stack(struct trace *t, unsigned int vcpu, uint32_t seq, uint64_t sp, uint64_t bp)
{
	collector_event_stack(t->collect->now, vcpu, seq, sp, bp);
}

void collect_catch_up(struct trace *t)
{
	if (atomic_load(&t->collecting))
		collector_catch_up(t->collect->now);
}

/* With all writers stopped. */
static struct collect_counts counts_of(const struct collect *c, unsigned int vcpu)
{
	struct collect_counts counts = c->closed[vcpu];

	if (c->now)
		collector_get_counts(c->now, vcpu, &counts);
	return counts;
}

void collect_get_counts(struct trace *t, struct collect_counts *counts)
{
	*counts = (struct collect_counts){0};
	trace_writers_stop(t);
	for (unsigned int i = 0; i < t->vcpus; i++) {
		struct collect_counts one = counts_of(t->collect, i);

		counts->made += one.made;
		counts->taken += one.taken;
		counts->lost += one.lost;
		counts->corrupt += one.corrupt;
	}
	trace_writers_go(t);
}

void collect_get_vcpu_counts(struct trace *t, unsigned int vcpu, struct collect_counts *counts)
{
	trace_writers_stop(t);
	*counts = counts_of(t->collect, vcpu);
	trace_writers_go(t);
}
