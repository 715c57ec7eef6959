// SPDX-License-Identifier: GPL-2.0-or-later
/* boot.c - see boot.h */
#include "tracer/boot.h"
#include "tracer/collect/collect.h"
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/events/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/internal.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/tracepoint/switch.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/tracer.h"
#include "tracer/tracers/tracers.h"
#include "tracer/window/work.h"
#include "vmm/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAFE_MS 10000 /* for one try; then it is tried again */
#define LOOK_MS 2
/* For events, as long as one comes after the other: a guest with more vCPUs than its host has CPUs
 * takes some ten milliseconds for each. */
#define HOLD_MS 300000

/* Called with a NULL page it returns at once (mm/page_alloc.c). */
#define TRY_FUNCTION "free_pages"

struct boot {
	struct trace *t;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool end;
	atomic_bool over; /* the thread has done what there was to do */
	bool waits; /* the thread asks the guest for nothing, until its sites are what they stay */
	bool holds; /* and it has a pause of the machine since then */
	atomic_bool registers; /* trace events are registered, or will be */
	int64_t held_ms;       /* since when the guest is kept from ending its boot; 0: it is not */
};

/* Waits for a moment, or less when it is the end: then true. */
static bool boot_nap(struct boot *b)
{
	struct timespec end = host_deadline(LOOK_MS * NS_PER_MS);
	bool over;

	pthread_mutex_lock(&b->lock);
	while (!b->end && !pthread_cond_timedwait(&b->change, &b->lock, &end))
		;
	over = b->end;
	pthread_mutex_unlock(&b->lock);
	return over || machine_has_ended(b->t->m, NULL);
}

/* --- from traps to trampolines --------------------------------------------------------------- */

/*
 * Interrupts are on, or tasks are switched: there has been a page allocator for long, since before
 * ftrace_init().
 */
static int wait_for_safe_point(struct boot *b, char *err, size_t errlen)
{
	struct borrow *borrow = b->t->borrow;
	struct borrow_call one = {.fn = borrow_function(borrow, TRY_FUNCTION)};
	int ret;

	do
		ret = one.fn ? borrow_run(borrow, &one, 1, BORROW_ANY, SAFE_MS, err, errlen) : 0;
	while (ret == -ETIMEDOUT && !boot_nap(b));
	return ret;
}

static int sites_switch(struct boot *b, char *err, size_t errlen)
{
	struct trace *t = b->t;
	int ret;

	do {
		machine_pause_for(t->m, "setting the probes of its boot");
		change_lock(t);
		ret = text_lock_switch(t);
		if (!ret)
			t->life->calls_since = trace_local_ns(t);
		change_unlock(t);
		machine_resume(t->m);
	} while (ret == -EAGAIN && !boot_nap(b));
	if (ret)
		snprintf(err, errlen, "its functions cannot be patched: %s", strerror(-ret));
	return ret;
}

static int window_get(struct boot *b, char *err, size_t errlen)
{
	struct machine_info info;
	int ret;

	machine_get_info(b->t->m, &info);
	if (!info.direct) {
		snprintf(err, errlen, "the guest's memory cannot be read while it runs");
		return -EACCES;
	}
	ret = wait_for_safe_point(b, err, errlen);
	return ret ? ret : collect_open(b->t, err, errlen);
}

/* They will not be anything else than traps. */
static void held_insert(struct trace *t)
{
	int ret;

	machine_pause_for(t->m, "setting the probes of its boot");
	change_lock(t);
	t->waits = false;
	probes_hold(t);
	ret = probes_insert(t, 0, PROBE_FL_ONCE);
	change_unlock(t);
	machine_resume(t->m);
	if (ret)
		trace_fail(t, ret);
}

/* False: the trace is over, or as good as that. */
static bool go_over(struct boot *b)
{
	struct trace *t = b->t;
	char why[256];
	int ret = window_get(b, why, sizeof(why));

	if (!ret)
		ret = sites_switch(b, why, sizeof(why));
	if (!ret) {
		payload_control(t);
		return true;
	}
	if (boot_nap(b))
		return false;
	trace_note(t, "each hit exits to the host, since trampolines cannot be used: %s", why);
	if (t->cfg.engine == TRACE_ENGINE_TRAMPOLINE) {
		trace_fail(t, ret);
		return false;
	}
	held_insert(t);
	return true;
}

/* --- trace events ---------------------------------------------------------------------------- */

static bool kworkers_do_work(struct trace *t)
{
	const struct guest_work work = {.gs = t->gs, .g = &t->guest, .borrow = t->borrow};

	return guest_work_is_done(&work);
}

/* Of a kernel that does not tell it is said when it has booted. */
static bool kworkers_run(struct trace *t)
{
	return kworkers_do_work(t) || atomic_load(&t->booted);
}

static void events_come(struct boot *b)
{
	while (!kworkers_run(b->t))
		if (boot_nap(b))
			return;
	while (events_booted(b->t->trace_events) == -ETIMEDOUT) {
		atomic_store(&b->registers, false);
		if (boot_nap(b))
			return;
	}
	atomic_store(&b->registers, false);
	if (machine_has_ended(b->t->m, NULL))
		return;
	guest_prints_place(b->t);
	guest_switch_place(b->t);
}

bool boot_holds(struct trace *t, const struct probe *p)
{
	struct boot *b = t->life->boot;
	int64_t now = host_ms();

	if (!b || !(p->guards & GUARD_FREE_INIT) || !atomic_load(&b->registers) ||
	    !kworkers_do_work(t) || !guestsym_addr(t->gs, "msleep"))
		return false;
	if (!b->held_ms)
		b->held_ms = now;
	if (now - b->held_ms < HOLD_MS)
		return true;
	trace_note(t, "the boot ends before all trace events are registered");
	return false;
}

static bool may_sleep(struct trace *t, const struct machine_hit *hit)
{
	struct guest_state st;

	guest_get_state(&t->guest, hit->vcpu, hit->regs, &st);
	return st.pid && !(st.preempt_count & 0xf) &&
	       !(st.flags & (TRACE_FLAG_IRQS_OFF | TRACE_FLAG_HARDIRQ | TRACE_FLAG_NMI |
			     TRACE_FLAG_SOFTIRQ | TRACE_FLAG_BH_OFF));
}

/* As the payload does it: the function takes no arguments, and has not begun. */
static int sleep_and_come_again(struct trace *t, const struct machine_hit *hit)
{
	struct machine_regs regs = *hit->regs;
	int ret;

	regs.rsp -= sizeof(hit->va);
	regs.rdi = PAYLOAD_AGAIN_MS;
	regs.rip = guestsym_addr(t->gs, "msleep") + t->guest.slide;
	ret = guest_write(&t->guest, regs.rsp, &hit->va, sizeof(hit->va));
	return ret ? ret : machine_set_regs(t->m, hit->vcpu, &regs);
}

bool boot_holds_trap(struct trace *t, uint32_t probe, const struct machine_hit *hit)
{
	bool holds;
	int ret = 0;

	if (t->guest.call[hit->vcpu].made)
		return false; /* by the payload, which was told whether it is early */
	machine_pause_for(t->m, "keeping the guest from ending its boot");
	change_lock(t);
	holds = boot_holds(t, &t->probes.v[probe]) && may_sleep(t, hit);
	if (holds)
		ret = sleep_and_come_again(t, hit);
	/* One that fires once is not there any more. */
	if (holds && !ret && t->probes.v[probe].flags & PROBE_FL_ONCE)
		ret = probes_insert_some(t, &probe, 1);
	change_unlock(t);
	machine_resume(t->m);
	if (ret)
		trace_fail(t, ret);
	return holds && !ret;
}

/* --- tracers of what only a kernel that has patched itself holds ----------------------------- */

static bool sites_stay(const struct trace *t)
{
	return atomic_load(&t->patched) || atomic_load(&t->booted);
}

/*
 * Until the sites are what they stay; nobody is told so early where alternative_instructions() has
 * no place for a guard: then at the end of the boot. True: the machine stands, and it is for
 * whoever calls to let it go on.
 */
static bool wait_for_sites(struct boot *b, bool early)
{
	bool holds;

	pthread_mutex_lock(&b->lock);
	b->waits = true;
	pthread_mutex_unlock(&b->lock);
	while (!sites_stay(b->t) && !(early && kworkers_do_work(b->t)) && !boot_nap(b))
		;
	pthread_mutex_lock(&b->lock);
	b->waits = false;
	holds = b->holds;
	b->holds = false;
	pthread_mutex_unlock(&b->lock);
	return holds;
}

/* The guest stands until the tracer has come, if that is all there is to wait for. */
static void stand_for_tracer(struct trace *t)
{
	struct boot *b = t->life->boot;

	if (!b || !boot_has_late_tracer(t))
		return;
	pthread_mutex_lock(&b->lock);
	if (b->waits && !b->holds) {
		b->holds = true;
		machine_pause_for(t->m, "setting the probes of its boot");
	}
	pthread_mutex_unlock(&b->lock);
}

void boot_is_patched(struct trace *t)
{
	stand_for_tracer(t);
	atomic_store(&t->patched, true);
}

void boot_is_over(struct trace *t)
{
	stand_for_tracer(t);
	atomic_store(&t->booted, true);
}

static void tracer_use(struct trace *t)
{
	int ret;

	if (trace_top(t)->tracer != &nop_tracer_ops) {
		t->life->late_came = true; /* somebody has chosen another one meanwhile */
		return;
	}
	ret = instance_set_tracer(trace_top(t), t->cfg.tracer);
	t->life->late_came = !ret;
	if (!ret)
		return;
	trace_note(t, "%s cannot be had of this guest: %s", t->cfg.tracer, strerror(-ret));
	trace_fail(t, ret);
}

/* The guest stands meanwhile, as its user space may be a short one. False: it is too early. */
static bool tracer_comes(struct boot *b, bool early)
{
	struct trace *t = b->t;
	bool holds = wait_for_sites(b, early), stay = sites_stay(t);

	if (stay)
		tracer_use(t);
	if (holds)
		machine_resume(t->m);
	return stay;
}

static void boot_do(struct boot *b)
{
	struct trace *t = b->t;
	bool comes;

	if (t->cfg.engine != TRACE_ENGINE_TRAP && !t->tramp && !go_over(b)) {
		atomic_store(&b->registers, false);
		return;
	}
	comes = boot_has_late_tracer(t) && !tracer_comes(b, true);
	events_come(b);
	atomic_store(&b->registers, false);
	if (comes)
		tracer_comes(b, false);
}

static void *boot_thread(void *arg)
{
	struct boot *b = arg;

	boot_do(b);
	atomic_store(&b->over, true);
	return NULL;
}

/* --- beginning and end ----------------------------------------------------------------------- */

bool trace_is_ready(struct trace *t)
{
	bool ready;

	change_lock(t);
	ready = !t->life->boot || atomic_load(&t->life->boot->over);
	change_unlock(t);
	return ready;
}

static struct boot *boot_new(struct trace *t)
{
	struct boot *b = calloc(1, sizeof(*b));
	pthread_condattr_t attr;

	if (!b)
		return NULL;
	b->t = t;
	atomic_init(&b->registers, true);
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->change, &attr);
	pthread_condattr_destroy(&attr);
	return b;
}

static void boot_free(struct boot *b)
{
	pthread_cond_destroy(&b->change);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

static int boot_start(struct trace *t)
{
	struct boot *b = boot_new(t);
	int ret = b ? thread_start(&b->thread, "boot", NULL, boot_thread, b) : -ENOMEM;

	if (!ret)
		t->life->boot = b;
	else if (b)
		boot_free(b);
	return ret;
}

bool boot_has_late_tracer(const struct trace *t)
{
	const struct tracer_ops *tracer = tracer_find(t->cfg.tracer);

	return tracer->critical || tracer->branches;
}

void boot_prepare(struct trace *t)
{
	t->waits = t->cfg.engine != TRACE_ENGINE_TRAP && !trace_has_window(t);
	probes_hold(t);
}

int boot_follow(struct trace *t)
{
	if (t->life->boot)
		return 0; /* a guest that runs its ftrace_init() again */
	t->borrow = borrow_new(t->gs, &t->guest);
	if (!t->borrow)
		return -ENOMEM;
	borrow_lender(t->borrow, probes_lend, t);
	return boot_start(t);
}

void boot_end(struct trace *t)
{
	struct boot *b = t->life->boot;

	if (!b)
		return;
	borrow_cancel(t->borrow, true);
	pthread_mutex_lock(&b->lock);
	b->end = true;
	pthread_cond_signal(&b->change);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	borrow_cancel(t->borrow, false);
	change_lock(t); /* a call of the guest's may ask about it: boot_holds() */
	t->life->boot = NULL;
	change_unlock(t);
	boot_free(b);
}

void boot_tell_missing(struct trace *t)
{
	if (t->cfg.running || !boot_has_late_tracer(t) || t->life->late_came ||
	    atomic_load(&t->error))
		return;
	trace_note(t,
		   "%s has recorded nothing: it begins when the kernel has patched itself "
		   "(alternative_instructions()), %s",
		   t->cfg.tracer,
		   sites_stay(t) ? "and the end came right behind that"
				 : "and that was not before the end");
}
