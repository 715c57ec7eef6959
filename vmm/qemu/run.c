// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.c - the thread that lets the guest run and waits for it to stop, and the pauses of others.
 *
 * A stop of QEMU's stub stops all vCPUs, so they are one here: the thread is "inside" while the
 * guest runs or a hit is being handled, and outside while it waits. A pause sends an interrupt if
 * the guest runs, and has the guest when the thread is not inside. As long as there are requests
 * the thread does not get back inside, except while its own handler has asked for the pause.
 *
 * The guest may stop for another reason than we know of: someone else stops it (virsh suspend).
 * Then it is theirs to continue; the machine ends for us.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define STOP_S 10 /* QEMU has this long to stop a guest */

int qemu_run_init(struct qemu_machine *m)
{
	pthread_condattr_t attr;
	int rc = pthread_mutex_init(&m->lock, NULL);

	if (!rc)
		rc = pthread_mutex_init(&m->io, NULL);
	if (rc)
		return -rc;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	rc = pthread_cond_init(&m->change, &attr);
	pthread_condattr_destroy(&attr);
	m->event_fd = rc ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return rc ? -rc : m->event_fd < 0 ? -errno : 0;
}

void qemu_run_exit(struct qemu_machine *m)
{
	if (m->event_fd >= 0)
		close(m->event_fd);
	pthread_cond_destroy(&m->change);
	pthread_mutex_destroy(&m->io);
	pthread_mutex_destroy(&m->lock);
}

/* --- the end and other events -------------------------------------------------------------------
 */

static void event_signal(struct qemu_machine *m)
{
	int saved = errno; /* for machine_wake() in signal handlers */

	/* Fails only when the counter is full, and then the waiter wakes up anyway. */
	if (eventfd_write(m->event_fd, 1))
		errno = saved;
}

void qemu_wake(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	m->woken = true;
	event_signal(m);
}

static bool over_locked(const struct qemu_machine *m)
{
	return m->stopping || m->end.type != MACHINE_EVENT_NONE;
}

/* Called with m->lock held: make the guest stop, once. */
static void interrupt_locked(struct qemu_machine *m)
{
	if (!m->running || m->interrupted)
		return;
	m->interrupted = true;
	gdb_interrupt(m->gdb); /* a peer that is gone is noticed by the thread */
}

void qemu_machine_end(struct qemu_machine *m, enum machine_event_type type, unsigned int vcpu,
		      const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&m->lock);
	if (m->end.type == MACHINE_EVENT_NONE) {
		m->end.type = type;
		m->end.vcpu = vcpu;
		va_start(ap, fmt);
		vsnprintf(m->end.text, sizeof(m->end.text), fmt, ap);
		va_end(ap);
		interrupt_locked(m);
		pthread_cond_broadcast(&m->change);
		event_signal(m);
	}
	pthread_mutex_unlock(&m->lock);
}

/* The event that is there now: the end once the guest stands, or a wake-up. */
static bool take_event(struct qemu_machine *m, struct machine_event *ev)
{
	bool ended;

	pthread_mutex_lock(&m->lock);
	ended = m->end.type != MACHINE_EVENT_NONE && !m->inside;
	if (ended)
		*ev = m->end;
	pthread_mutex_unlock(&m->lock);
	if (ended)
		return true;
	if (!atomic_exchange(&m->woken, false))
		return false;
	*ev = (struct machine_event){.type = MACHINE_EVENT_WAKE};
	return true;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int qemu_wait(struct machine *base, struct machine_event *ev, int timeout_ms)
{
	struct qemu_machine *m = qemu_machine(base);
	int64_t end = now_ms() + timeout_ms;
	eventfd_t count;

	while (!take_event(m, ev)) {
		struct pollfd fd = {.fd = m->event_fd, .events = POLLIN};
		int64_t left = end - now_ms();

		if (timeout_ms >= 0 && left <= 0) {
			*ev = (struct machine_event){.type = MACHINE_EVENT_NONE};
			break;
		}
		if (poll(&fd, 1, timeout_ms < 0 ? -1 : (int)left) > 0)
			eventfd_read(m->event_fd, &count);
	}
	return 0;
}

/* --- the thread ---------------------------------------------------------------------------------
 */

bool qemu_run_is_thread(struct qemu_machine *m)
{
	return m->started && pthread_equal(m->thread, pthread_self());
}

static void leave_locked(struct qemu_machine *m)
{
	m->inside = false;
	if (m->end.type != MACHINE_EVENT_NONE)
		event_signal(m);
	pthread_cond_broadcast(&m->change);
}

/*
 * Wait as long as a pause lasts, then let the guest run. The stub gets its command with m->lock
 * held, so that an interrupt never gets there before it. False: the guest must not run any more.
 */
static bool run_guest(struct qemu_machine *m)
{
	bool run;
	int rc = 0;

	pthread_mutex_lock(&m->lock);
	if (m->inside && (m->requests || over_locked(m) || !m->want_run))
		leave_locked(m);
	while ((m->requests || !m->want_run) && !over_locked(m))
		pthread_cond_wait(&m->change, &m->lock);
	run = !over_locked(m);
	if (run) {
		qemu_clock_running(m);
		for (unsigned int i = 0; i < m->nvcpus; i++)
			m->vcpu[i].known = false;
		rc = gdb_continue(m->gdb);
		m->inside = true;
		m->running = !rc;
		m->interrupted = false;
	}
	pthread_mutex_unlock(&m->lock);
	return run; /* a failed command shows again when its end is waited for */
}

static void handler_done(struct qemu_machine *m)
{
	pthread_mutex_lock(&m->lock);
	/* A pause that the handler keeps is from now on anybody's to end. */
	m->outside += m->held;
	m->requests += m->held ? m->held - 1 : 0;
	m->held = 0;
	pthread_mutex_unlock(&m->lock);
}

static unsigned int vcpu_of(const struct qemu_machine *m, uint32_t thread)
{
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (m->vcpu[i].thread == thread)
			return i;
	}
	return 0;
}

static void stopped_by_others(struct qemu_machine *m, int signal)
{
	m->foreign = true;
	qemu_machine_end(m, MACHINE_EVENT_ERROR, 0,
			 "the guest was stopped by someone else than hvtrace (signal %d)", signal);
}

static void handle_stop(struct qemu_machine *m, const struct gdb_stop *stop, bool interrupted)
{
	if (stop->kind == GDB_STOP_EXITED) {
		qemu_machine_end(m, MACHINE_EVENT_POWEROFF, 0, "the guest's QEMU has ended");
		return;
	}
	switch (stop->signal) {
	case GDB_SIGNAL_TRAP:
		qemu_traps_hit(m, vcpu_of(m, stop->thread));
		handler_done(m);
		break;
	case GDB_SIGNAL_INT:
		if (!interrupted)
			stopped_by_others(m, stop->signal);
		break;
	case GDB_SIGNAL_QUIT:
		m->foreign = true; /* QEMU keeps it for someone to look at */
		qemu_machine_end(m, MACHINE_EVENT_POWEROFF, 0, "the guest has shut down");
		break;
	case GDB_SIGNAL_ABRT:
		m->foreign = true;
		qemu_machine_end(m, MACHINE_EVENT_ERROR, 0,
				 "QEMU cannot go on with this guest (internal error)");
		break;
	default:
		stopped_by_others(m, stop->signal);
	}
}

static void *run_thread(void *arg)
{
	struct qemu_machine *m = arg;

	while (run_guest(m)) {
		struct gdb_stop stop;
		int rc = gdb_wait_stop(m->gdb, &stop, -1);
		bool interrupted;

		qemu_clock_stopped(m);
		pthread_mutex_lock(&m->lock);
		m->running = false;
		interrupted = m->interrupted;
		pthread_mutex_unlock(&m->lock);
		if (rc)
			qemu_machine_end(m, MACHINE_EVENT_ERROR, 0,
					 "the connection to QEMU is lost: %s", strerror(-rc));
		else
			handle_stop(m, &stop, interrupted);
	}
	return NULL;
}

int qemu_run_start(struct qemu_machine *m, bool run)
{
	sigset_t all, old;
	int rc;

	m->want_run = run;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(&m->lock); /* m->thread is there before the thread looks at it */
	rc = pthread_create(&m->thread, NULL, run_thread, m);
	m->started = !rc;
	pthread_mutex_unlock(&m->lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

void qemu_run_let(struct qemu_machine *m)
{
	pthread_mutex_lock(&m->lock);
	m->want_run = true;
	pthread_cond_broadcast(&m->change);
	pthread_mutex_unlock(&m->lock);
}

void qemu_run_stop(struct qemu_machine *m)
{
	if (!m->started)
		return;
	/* The end waits for a stop, or for QEMU to fail to stop in time. */
	qemu_pause(&m->base);
	pthread_mutex_lock(&m->lock);
	m->stopping = true;
	pthread_cond_broadcast(&m->change);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	m->started = false;
}

/* --- pauses -------------------------------------------------------------------------------------
 */

/* Called with m->lock held, which is given up meanwhile. */
static void pause_from_handler(struct qemu_machine *m)
{
	if (m->held++)
		return;
	m->requests++;
	leave_locked(m);
	while (m->outside)
		pthread_cond_wait(&m->change, &m->lock);
	m->inside = true;
}

/* Called with m->lock held: the guest does not stop, so nothing more can be had from this QEMU. */
static void give_up_locked(struct qemu_machine *m)
{
	gdb_abort(m->gdb);
	while (m->inside)
		pthread_cond_wait(&m->change, &m->lock);
}

static void pause_from_outside(struct qemu_machine *m)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += STOP_S;
	m->requests++;
	interrupt_locked(m);
	while (m->inside) {
		/* A handler may take its time; QEMU may not. */
		if (!m->running)
			pthread_cond_wait(&m->change, &m->lock);
		else if (pthread_cond_timedwait(&m->change, &m->lock, &at) == ETIMEDOUT &&
			 m->running)
			give_up_locked(m);
	}
	m->outside++;
}

void qemu_pause(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	pthread_mutex_lock(&m->lock);
	if (qemu_run_is_thread(m))
		pause_from_handler(m);
	else
		pause_from_outside(m);
	pthread_mutex_unlock(&m->lock);
}

void qemu_resume(struct machine *base)
{
	struct qemu_machine *m = qemu_machine(base);

	pthread_mutex_lock(&m->lock);
	if (qemu_run_is_thread(m) && m->held) {
		if (--m->held == 0)
			m->requests--;
	} else if (m->outside) {
		m->outside--;
		m->requests--;
	}
	pthread_cond_broadcast(&m->change);
	pthread_mutex_unlock(&m->lock);
}
