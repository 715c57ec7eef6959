/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched-watch.h - for tests of the tracers that work on events of the scheduler: the same events,
 * recorded in an instance, and what they say. What goes wrong fails the test.
 */
#ifndef HVTRACE_TESTS_E2E_SCHED_WATCH_H
#define HVTRACE_TESTS_E2E_SCHED_WATCH_H

#include "tests/e2e/running-guest.h"
#include "tracer/ring/ring.h"

enum { SWITCH, WAKEUP, WAKEUP_NEW, NR_EVENTS };

/* The tracer under test at the top level, and its events in an instance. */
struct watch {
	struct env *e;
	struct instance *events;
	const struct guestsym_event_list *list;
	uint32_t event[NR_EVENTS];
};

void watch_begin(struct watch *w, struct env *e, const char *tracer);
/* With the guest standing: what the one records the other records. */
void watch_set_on(const struct watch *w, bool on);
/* Both begin anew once they are switched on. */
void watch_clear(const struct watch *w);
/* Nothing is recorded any more. */
void watch_stop(struct watch *w);
void watch_end(struct watch *w);

/* The next record of this event of a vCPU, and the value of a field. */
bool watch_next(const struct watch *w, struct ring_cursor *c, unsigned int event,
		struct ring_event *ev);
int64_t watch_value(const struct watch *w, unsigned int event, const struct ring_event *rec,
		    const char *name);

/* What the events say of wakeups, by the kernel's rule. The caller sets `below`. */
struct offline {
	int64_t below;			    /* only those of a lower priority number count */
	int64_t running[MACHINE_MAX_VCPUS]; /* priority; INT64_MIN: not known */
	int64_t pid, prio;		    /* of the one that is waited for; pid 0: none */
	uint64_t since, max;
	int64_t max_pid;
	unsigned int windows;
};

void offline_compute(const struct watch *w, struct offline *o);

#endif
