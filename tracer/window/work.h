/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.h - makes a running guest's kernel call functions of its own that may sleep: one of
 * its kworkers does, once it has been given the work. borrow/borrow.h is for functions that do not
 * sleep, and gets to its calls in a guest that idles, too.
 */
#ifndef HVTRACE_TRACER_WINDOW_WORK_H
#define HVTRACE_TRACER_WINDOW_WORK_H

#include "tracer/borrow/borrow.h"
#include "tracer/window/window.h"

struct guest_work {
	const struct guestsym *gs;
	struct guest_kernel *g;
	struct borrow *borrow;
	struct window *w;
	uint32_t entry; /* payload_text.work; 0: nothing is asked for */
	/* By the guest's now_ms(): nothing is waited for beyond it, be it one of several things. 0:
	 * each has its own end */
	int64_t end_ms;
};

/* Why the guest's kernel cannot be given work; NULL: it can. Nothing is written. */
const char *guest_work_why_not(const struct guest_work *work);
/*
 * Make n calls, one after the other, with up to four arguments each; the machine runs, and this is
 * not its thread. Up to WORK_CALLS_MAX of them are all made whatever becomes of us, once one is,
 * and what one returns is put into the guest's memory by whoever makes it (ret_to). One thread at a
 * time. No longer than two minutes, nor than end_ms, and until it is given up (guest.h).
 * 0 and all calls are done; else one line is in err.
 * -EINPROGRESS: those that are not done may still be, and then the window must stay. -EOPNOTSUPP
 * (this kernel does not tell how), -ESRCH (the guest has ended) and others: those that are not done
 * never will be.
 */
int guest_work_run(const struct guest_work *work, struct borrow_call *calls, size_t n, char *err,
		   size_t errlen);
/* The kernel has come so far in its boot that kworkers do their work. */
bool guest_work_is_done(const struct guest_work *work);
/*
 * Wait until nothing is under way that an earlier tracer has begun, for two minutes at most. 0,
 * -ETIMEDOUT, -ESRCH, -ECANCELED (given up).
 */
int guest_work_settle(const struct guest_work *work);

#endif
