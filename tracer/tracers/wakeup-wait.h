/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakeup-wait.h - which wakeup is waited for: that of the most urgent task, until it runs
 * (kernel/trace/trace_sched_wakeup.c, 6.1).
 */
#ifndef HVTRACE_TRACER_TRACERS_WAKEUP_WAIT_H
#define HVTRACE_TRACER_TRACERS_WAKEUP_WAIT_H

#include "tracer/tracers/sched-records.h"

enum wakeup_kind {
	WAKEUP_ANY,
	WAKEUP_REALTIME, /* those of deadline and real-time tasks */
	WAKEUP_DEADLINE,
};

struct wakeup {
	enum wakeup_kind kind;
	bool waiting;
	struct sched_record woken; /* what is waited for */
	/* Where it waits: on woken.next_cpu until it left, on `cpu` since it arrived there. */
	uint64_t left, arrived;
	uint32_t cpu;
};

/* Whether such a record may be the beginning or the end of what is waited for. */
bool wakeup_may_count(const struct wakeup *w, const struct sched_record *r);
/* Nothing is waited for. */
void wakeup_forget(struct wakeup *w);
/*
 * What happened next in the guest, on whichever vCPU. True: r is the switch to the task that was
 * waited for; w->woken tells of its wakeup until the next call.
 */
bool wakeup_step(struct wakeup *w, const struct sched_record *r);
/* Whether the task that is or was waited for last waited on this vCPU then. */
bool wakeup_waited_on(const struct wakeup *w, unsigned int vcpu, uint64_t ts);

#endif
