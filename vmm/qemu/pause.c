// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pause.c - when the guest has to stand, and who may have it then.
 *
 * A stop of QEMU's stub stops all vCPUs, so they are one here: the run thread (run.c) is "inside"
 * while the guest runs or a hit is being handled, and outside while it waits. A pause sends an
 * interrupt if the guest runs, and has the guest when the thread is not inside. As long as there
 * are requests the thread does not get back inside, except while its own handler has asked for the
 * pause.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <time.h>

#define STOP_S	20 /* QEMU has this long to stop a guest */
#define LEAVE_S 5  /* and the thread this long to notice that nothing more is to be had */

static struct timespec in_seconds(time_t s)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += s;
	return at;
}

/* Make the guest stop, once. */
void qemu_kick_locked(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	if (!m->running || m->interrupted)
		return;
	m->interrupted = true;
	gdb_interrupt(m->gdb); /* a peer that is gone is noticed by the thread */
}

bool qemu_run_is_thread(struct qemu_machine *m)
{
	return m->started && pthread_equal(m->thread, pthread_self());
}

bool qemu_run_is_over(struct qemu_machine *m)
{
	bool over;

	pthread_mutex_lock(&m->base.lock);
	over = !m->running;
	pthread_mutex_unlock(&m->base.lock);
	return over;
}

/* Called with m->base.lock held, which is given up meanwhile. */
static void pause_from_handler(struct qemu_machine *m)
{
	if (m->held++)
		return;
	m->requests++;
	machine_leave_locked(&m->base);
	while (m->outside)
		pthread_cond_wait(&m->base.change, &m->base.lock);
	machine_enter_locked(&m->base);
}

/*
 * Called with m->base.lock held: the guest does not stop, so nothing more can be had from this
 * QEMU. A thread that does not even notice that holds this one for ever, and whoever waits for it.
 */
static void give_up_locked(struct qemu_machine *m)
{
	const struct timespec at = in_seconds(LEAVE_S);
	int rc = 0;

	gdb_abort(m->gdb);
	while (m->base.inside && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&m->base.change, &m->base.lock, &at);
	if (m->base.inside) {
		pthread_mutex_unlock(&m->base.lock);
		stand_is_stuck(&m->base);
		pthread_mutex_lock(&m->base.lock);
	}
	while (m->base.inside)
		pthread_cond_wait(&m->base.change, &m->base.lock);
}

static void pause_from_outside(struct qemu_machine *m)
{
	const struct timespec at = in_seconds(STOP_S);

	m->requests++;
	qemu_kick_locked(&m->base);
	while (m->base.inside) {
		/* A handler may take its time; QEMU may not. */
		if (!m->running)
			pthread_cond_wait(&m->base.change, &m->base.lock);
		else if (pthread_cond_timedwait(&m->base.change, &m->base.lock, &at) == ETIMEDOUT &&
			 m->running)
			give_up_locked(m);
	}
	m->outside++;
}

void qemu_pause(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	pthread_mutex_lock(&m->base.lock);
	if (qemu_run_is_thread(m))
		pause_from_handler(m);
	else
		pause_from_outside(m);
	pthread_mutex_unlock(&m->base.lock);
}

void qemu_resume(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	pthread_mutex_lock(&m->base.lock);
	if (qemu_run_is_thread(m) && m->held) {
		if (--m->held == 0)
			m->requests--;
	} else if (m->outside) {
		m->outside--;
		m->requests--;
	}
	pthread_cond_broadcast(&m->base.change);
	pthread_mutex_unlock(&m->base.lock);
}

void qemu_pause_handler_done(struct qemu_machine *m)
{
	pthread_mutex_lock(&m->base.lock);
	/* A pause that the handler keeps is from now on anybody's to end. */
	m->outside += m->held;
	m->requests += m->held ? m->held - 1 : 0;
	m->held = 0;
	pthread_mutex_unlock(&m->base.lock);
}
