// SPDX-License-Identifier: GPL-2.0-or-later
/* wakeup.c - see wakeup.h */
#include "tracer/wakeup.h"

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

/* A deadline task that is waited for gives way to none. */
static bool is_more_urgent(const struct wakeup *w, const struct sched_record *r)
{
	if (w->waiting && is_deadline(&w->woken))
		return false;
	if (is_deadline(r))
		return true;
	return r->next_prio < r->prev_prio && (!w->waiting || r->next_prio < w->woken.next_prio);
}

bool wakeup_step(struct wakeup *w, const struct sched_record *r)
{
	/* Its switch was lost: it has run meanwhile. */
	if (w->waiting && (r->wakeup ? r->next_pid : r->prev_pid) == w->woken.next_pid)
		wakeup_forget(w);
	if (!r->wakeup) {
		bool runs = w->waiting && r->next_pid == w->woken.next_pid;

		if (runs)
			wakeup_forget(w);
		return runs;
	}
	if (is_wanted(w, r) && is_more_urgent(w, r)) {
		w->waiting = true;
		w->woken = *r;
	}
	return false;
}
