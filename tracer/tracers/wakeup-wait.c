// SPDX-License-Identifier: GPL-2.0-or-later
/* wakeup-wait.c - see wakeup-wait.h */
#include "tracer/tracers/wakeup-wait.h"

#include <stddef.h>

#define MAX_RT_PRIO 100

void wakeup_forget(struct wakeup *w)
{
	w->waiting = false;
}

static bool is_deadline(const struct sched_record *r)
{
	return r->next_prio < 0;
}

static bool is_wanted(const struct wakeup *w, const struct sched_record *r)
{
	switch (w->kind) {
	case WAKEUP_DEADLINE:
		return is_deadline(r);
	case WAKEUP_REALTIME:
		return r->next_prio < MAX_RT_PRIO;
	default:
		return true;
	}
}

bool wakeup_may_count(const struct wakeup *w, const struct sched_record *r)
{
	if (r->kind == SCHED_MOVED || !is_wanted(w, r))
		return false;
	return r->kind == SCHED_SWITCHED || is_deadline(r) || r->next_prio < r->prev_prio;
}

/* A deadline task that is waited for gives way to none. */
static bool is_more_urgent(const struct wakeup *w, const struct sched_record *r)
{
	if (w->waiting && is_deadline(&w->woken))
		return false;
	if (is_deadline(r))
		return true;
	return r->next_prio < r->prev_prio && (!w->waiting || r->next_prio < w->woken.next_prio);
}

static bool is_waited_for(const struct wakeup *w, int32_t pid)
{
	return w->waiting && pid == w->woken.next_pid;
}

static bool is_over(struct wakeup *w, const struct sched_record *r)
{
	bool runs;

	/*
	 * It ran when it was woken up (it was about to sleep), or its switch was lost. The kernel
	 * goes on waiting, and takes what it sleeps then for a latency.
	 */
	if (is_waited_for(w, r->prev_pid))
		wakeup_forget(w);
	runs = is_waited_for(w, r->next_pid);
	if (runs)
		wakeup_forget(w);
	return runs;
}

static void begins(struct wakeup *w, const struct sched_record *r)
{
	if (is_waited_for(w, r->next_pid)) /* as above */
		wakeup_forget(w);
	if (!is_wanted(w, r) || !is_more_urgent(w, r))
		return;
	w->waiting = true;
	w->woken = *r;
	w->cpu = r->next_cpu;
	w->left = UINT64_MAX;
	w->arrived = r->ts;
}

static void moves(struct wakeup *w, const struct sched_record *r)
{
	if (!is_waited_for(w, r->next_pid))
		return;
	if (w->left == UINT64_MAX)
		w->left = r->ts;
	w->cpu = r->next_cpu;
	w->arrived = r->ts;
}

bool wakeup_step(struct wakeup *w, const struct sched_record *r)
{
	switch (r->kind) {
	case SCHED_SWITCHED:
		return is_over(w, r);
	case SCHED_WOKEN:
		begins(w, r);
		return false;
	default:
		moves(w, r);
		return false;
	}
}

bool wakeup_waited_on(const struct wakeup *w, unsigned int vcpu, uint64_t ts)
{
	return (vcpu == w->woken.next_cpu && ts < w->left) || (vcpu == w->cpu && ts >= w->arrived);
}
