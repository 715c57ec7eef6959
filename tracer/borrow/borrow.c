// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * borrow.c - makes a running guest's kernel call functions of its own for us.
 *
 * Traps wait at functions that are entered at safe points. The first suitable hit borrows its vCPU:
 * below its stack goes a frame with all of its registers, and it is sent to the function that is
 * to be called, which returns to a function that does nothing (the landing). There it is trapped,
 * and gets the next call or its registers back.
 *
 * The guest does not depend on us once a call has begun. Without the trap the landing returns to
 * the end of the kernel's own interrupt return, which loads the registers from the frame. So a
 * tracer that is killed meanwhile costs the guest the memory that the call has allocated, no more.
 *
 * The borrowed task may be preempted in the function and go on on another vCPU: it is known again
 * by its stack pointer.
 */
#include "tracer/borrow/internal.h"
#include "tracer/lib/host-time.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_MS 20   /* until it is seen that the guest is given up, or has ended */
#define HALT_MS	 1000 /* until it is looked whether it has halted */

struct borrow *borrow_new(const struct guestsym *gs, struct guest_kernel *g)
{
	struct borrow *b = calloc(1, sizeof(*b));
	pthread_condattr_t attr;

	if (!b)
		return NULL;
	b->gs = gs;
	b->g = g;
	borrow_find_stacks(b);
	pthread_mutex_init(&b->lock, NULL); /* neither fails with glibc */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->change, &attr);
	pthread_condattr_destroy(&attr);
	return b;
}

void borrow_free(struct borrow *b)
{
	if (!b)
		return;
	pthread_cond_destroy(&b->change);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

uint64_t borrow_function(const struct borrow *b, const char *name)
{
	uint64_t link = guestsym_addr(b->gs, name);

	return link ? link + b->g->slide : 0;
}

uint64_t borrow_function_or(const struct borrow *b, const char *name, const char *other)
{
	uint64_t va = borrow_function(b, name);

	return va ? va : borrow_function(b, other);
}

static void borrow_lock(struct borrow *b)
{
	machine_pause_for(b->g->m, "borrowing a vCPU");
	pthread_mutex_lock(&b->lock);
}

static void borrow_unlock(struct borrow *b)
{
	pthread_mutex_unlock(&b->lock);
	machine_resume(b->g->m);
}

/* --- borrowing -------------------------------------------------------------------------------- */

static void borrow_over(struct borrow *b, int error)
{
	int ret = borrow_traps_clear(b);

	b->error = error ? error : ret;
	b->state = BORROW_DONE;
	pthread_cond_signal(&b->change);
}

/* Whoever is told of it first may still say no. */
static int next_call_begin(struct borrow *b, unsigned int vcpu)
{
	int ret = b->how.before ? b->how.before(b->how.arg, b->next) : 0;

	return ret ? ret : borrow_frame_call(b, vcpu);
}

static void safe_point_hit(struct borrow *b, const struct machine_hit *hit)
{
	int ret;

	if (hit->va == b->landing || !borrow_point_is_safe(b, hit))
		return;
	b->saved = *hit->regs;
	if (borrow_frame_write(b, hit->vcpu))
		return; /* not a stack, or one that the page tables do not have: wait on */
	ret = borrow_traps_keep_landing(b);
	if (!ret)
		ret = next_call_begin(b, hit->vcpu);
	if (!ret) {
		b->state = BORROW_CALLING;
		return;
	}
	machine_set_regs(b->g->m, hit->vcpu, &b->saved);
	borrow_over(b, ret);
}

static bool has_landed(const struct borrow *b, const struct machine_hit *hit)
{
	/* The return has taken one word off. */
	return b->state == BORROW_CALLING && hit->va == b->landing &&
	       hit->regs->rsp == b->sp + sizeof(b->landing);
}

static void landing_hit(struct borrow *b, const struct machine_hit *hit)
{
	size_t i = b->next++;
	int ret;

	b->calls[i].ret = hit->regs->rax;
	b->calls[i].done = true;
	ret = b->how.after ? b->how.after(b->how.arg, i) : 0;
	if (!ret && b->next < b->n) {
		ret = next_call_begin(b, hit->vcpu);
		if (!ret)
			return;
	}
	/* Should this fail, the frame does it. */
	machine_set_regs(b->g->m, hit->vcpu, &b->saved);
	borrow_over(b, ret);
}

bool borrow_hit(struct borrow *b, const struct machine_hit *hit)
{
	bool landed;

	borrow_lock(b);
	landed = has_landed(b, hit);
	if (landed)
		landing_hit(b, hit);
	else if (b->state == BORROW_WAITING)
		safe_point_hit(b, hit);
	borrow_unlock(b);
	return !landed;
}

/* --- setting out ------------------------------------------------------------------------------ */

/* The lock is held. */
static bool is_cancelled(const struct borrow *b)
{
	return b->cancelled || (b->how.wanted && guest_is_given_up(b->g));
}

/* On error in what: the function that is missing. */
static int borrow_begin(struct borrow *b, struct borrow_call *calls, size_t n,
			const struct borrow_how *how, const char **what)
{
	int ret;

	b->calls = calls;
	b->next = 0;
	b->n = n;
	b->how = *how;
	b->error = 0;
	ret = borrow_find_restore(b, what);
	if (!ret)
		ret = borrow_traps_set(b, what);
	if (!ret)
		b->state = BORROW_WAITING;
	return ret;
}

/* The lock is held. */
static bool is_waited_for(const struct borrow *b)
{
	return b->state != BORROW_DONE && !(b->state == BORROW_WAITING && is_cancelled(b));
}

/* Nobody wakes who waits when the guest is given up: that is looked at. True: the time is over. */
static bool borrow_wait_slice(struct borrow *b, int64_t ms)
{
	const struct timespec at = host_deadline((ms < SLICE_MS ? ms : SLICE_MS) * NS_PER_MS);
	int rc = 0;
	bool over;

	pthread_mutex_lock(&b->lock);
	while (!rc && is_waited_for(b))
		rc = pthread_cond_timedwait(&b->change, &b->lock, &at);
	over = is_waited_for(b);
	pthread_mutex_unlock(&b->lock);
	return over;
}

/* -ESRCH: it has ended, -EHOSTDOWN: halted, and comes nowhere any more; else 0, whatever has come.
 */
static int borrow_wait(struct borrow *b, int ms)
{
	int64_t now = host_ms(), end = now + ms, halt = now + HALT_MS;

	while (now < end && borrow_wait_slice(b, end - now)) {
		if (machine_has_ended(b->g->m, NULL))
			return -ESRCH;
		now = host_ms();
		if (now < halt)
			continue;
		if (guest_has_halted(b->g))
			return -EHOSTDOWN;
		now = host_ms();
		halt = now + HALT_MS;
	}
	return 0;
}

/* The time is over, all is done, or it has come to this. -EAGAIN: a call is under way. */
static int borrow_end(struct borrow *b, int waited, bool finish)
{
	int ret = 0;

	borrow_lock(b);
	if (b->state == BORROW_DONE)
		ret = b->error;
	else if (waited)
		ret = waited;
	else if (b->state == BORROW_WAITING)
		ret = is_cancelled(b) ? -ECANCELED : -ETIMEDOUT;
	else
		ret = finish ? -EIO : -EAGAIN;
	if (ret != -EAGAIN) {
		int cleared = borrow_traps_clear(b);

		ret = ret ? ret : cleared;
		b->state = BORROW_IDLE;
	}
	borrow_unlock(b);
	return ret;
}

static void complain(int ret, int timeout_ms, const char *what, char *err, size_t errlen)
{
	if (ret == -ETIMEDOUT)
		snprintf(
			err, errlen,
			"the guest did not get to a place where it can be asked for something in %d ms: does it run?",
			timeout_ms);
	else if (ret == -EHOSTDOWN)
		snprintf(err, errlen, "the guest has halted: it cannot be asked for anything");
	else if (ret == -ESRCH)
		snprintf(err, errlen, "the guest has ended, or was let go of");
	else if (ret == -EIO)
		snprintf(err, errlen,
			 "the guest has not come back from a function of its own: was it reset?");
	else if (ret == -ENOENT || ret == -EEXIST)
		snprintf(err, errlen, "the guest cannot be asked for something: its kernel's %s %s",
			 what,
			 ret == -ENOENT ? "is missing or being traced by itself"
					: "is being traced");
	else
		snprintf(err, errlen, "the guest cannot be asked for something: %s",
			 strerror(-ret));
}

static int run_calls(struct borrow *b, struct borrow_call *calls, size_t n,
		     const struct borrow_how *how, const char **what)
{
	int ret;

	borrow_lock(b);
	ret = borrow_begin(b, calls, n, how, what);
	borrow_unlock(b);
	if (!ret) {
		ret = borrow_wait(b, how->ms);
		ret = borrow_end(b, ret, false);
	}
	if (ret == -EAGAIN) {
		ret = borrow_wait(b, BORROW_FINISH_MS);
		ret = borrow_end(b, ret, true);
	}
	return ret;
}

void borrow_cancel(struct borrow *b, bool cancel)
{
	pthread_mutex_lock(&b->lock);
	b->cancelled = cancel;
	pthread_cond_signal(&b->change);
	pthread_mutex_unlock(&b->lock);
}

int borrow_run_as(struct borrow *b, struct borrow_call *calls, size_t n,
		  const struct borrow_how *how, char *err, size_t errlen)
{
	const char *what = "sites";
	int ret;

	for (size_t i = 0; i < n; i++)
		calls[i].done = false;
	if (!n)
		return 0;
	ret = borrow_sites_ask(b);
	if (!ret) {
		ret = run_calls(b, calls, n, how, &what);
		borrow_sites_give_back(b);
	}
	if (ret)
		complain(ret, how->ms, what, err, errlen);
	return ret;
}

int borrow_run(struct borrow *b, struct borrow_call *calls, size_t n, enum borrow_where where,
	       int timeout_ms, char *err, size_t errlen)
{
	const struct borrow_how how = {.where = where, .ms = timeout_ms};

	return borrow_run_as(b, calls, n, &how, err, errlen);
}

int borrow_run_wanted(struct borrow *b, struct borrow_call *calls, size_t n,
		      enum borrow_where where, int timeout_ms, char *err, size_t errlen)
{
	const struct borrow_how how = {.where = where, .ms = timeout_ms, .wanted = true};

	return borrow_run_as(b, calls, n, &how, err, errlen);
}
