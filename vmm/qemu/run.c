// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.c - the thread that lets the guest run and waits for it to stop. Pauses keep it from running:
 * pause.c.
 *
 * The guest may stop for another reason than we know of: someone else stops it (virsh suspend).
 * Then it is theirs to continue; the machine ends for us.
 */
#include "vmm/qemu/qemu.h"
#include "vmm/thread.h"

#include <errno.h>
#include <string.h>

void qemu_stands(struct qemu_machine *m, bool stands, const char *what)
{
	if (stands && !m->stands)
		stand_begin(&m->base, what);
	if (!stands && m->stands)
		stand_end(&m->base);
	m->stands = stands;
	keeper_stands(&m->keeper, stands);
}

/*
 * Wait as long as a pause lasts, then let the guest run. The stub gets its command with
 * m->base.lock held, so that an interrupt never gets there before it. False: the guest must not run
 * any more.
 */
static bool run_guest(struct qemu_machine *m)
{
	bool run;
	int rc = 0;

	pthread_mutex_lock(&m->base.lock);
	if (m->base.inside && (m->requests || machine_over_locked(&m->base) || !m->want_run))
		machine_leave_locked(&m->base);
	while ((m->requests || !m->want_run) && !machine_over_locked(&m->base))
		pthread_cond_wait(&m->base.change, &m->base.lock);
	run = !machine_over_locked(&m->base);
	if (run) {
		qemu_clock_running(m);
		for (unsigned int i = 0; i < m->nvcpus; i++)
			qemu_vcpu_runs(&m->vcpu[i]);
		/* The boot CPU cannot be unplugged (hw/i386/x86.c of QEMU 7.2). */
		rc = gdb_continue(m->gdb, m->vcpu[0].thread);
		if (!m->base.inside)
			machine_enter_locked(&m->base);
		m->running = !rc;
		m->interrupted = false;
		qemu_stands(m, false, NULL);
	}
	pthread_mutex_unlock(&m->base.lock);
	return run; /* a failed command shows again when its end is waited for */
}

static int vcpu_known(const struct qemu_machine *m, uint32_t thread)
{
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (m->vcpu[i].thread == thread && !m->vcpu[i].gone)
			return (int)i;
	}
	return -ENOENT;
}

/*
 * Of a thread that the stub does not tell: the first. -ENOENT: one that was plugged in, and the
 * owner has no room for it.
 */
static int vcpu_of(struct qemu_machine *m, uint32_t thread)
{
	int vcpu = thread ? vcpu_known(m, thread) : 0;

	if (vcpu < 0 && qemu_vcpus_look(&m->base) > 0)
		vcpu = vcpu_known(m, thread);
	return vcpu < (int)m->max_vcpus ? vcpu : -ENOENT;
}

static void trap_hit(struct qemu_machine *m, uint32_t thread)
{
	int vcpu = vcpu_of(m, thread);

	if (vcpu < 0)
		qemu_traps_hit_unknown(m, thread);
	else if (!qemu_again_stopped(m, (unsigned int)vcpu))
		qemu_traps_hit(m, (unsigned int)vcpu);
	qemu_pause_handler_done(m);
}

static void stopped_by_others(struct qemu_machine *m, int signal)
{
	m->foreign = true;
	machine_end(&m->base, MACHINE_EVENT_ERROR, 0,
		    "the guest was stopped by someone else than hvtrace (signal %d)", signal);
}

static void handle_stop(struct qemu_machine *m, const struct gdb_stop *stop, bool interrupted)
{
	struct gdb_stop other;

	if (stop->kind == GDB_STOP_EXITED) {
		/* libvirt has its QEMUs stay when a guest powers itself off, until it has seen
		 * that. */
		machine_end(&m->base, MACHINE_EVENT_POWEROFF, 0,
			    m->domain ? "the guest was destroyed, or its QEMU has ended"
				      : "the guest's QEMU has ended");
		return;
	}
	switch (stop->signal) {
	case GDB_SIGNAL_TRAP:
		qemu_stands(m, true, "handling a trap");
		trap_hit(m, stop->thread);
		if (qemu_follow_run(m, &other))
			handle_stop(m, &other, false);
		break;
	case GDB_SIGNAL_INT:
		if (interrupted)
			qemu_stands(m, true, NULL);
		else
			stopped_by_others(m, stop->signal);
		break;
	case GDB_SIGNAL_QUIT:
		m->foreign = true; /* QEMU keeps it for someone to look at */
		machine_end(&m->base, MACHINE_EVENT_POWEROFF, 0, "the guest powered itself off");
		break;
	case GDB_SIGNAL_ABRT:
		m->foreign = true;
		machine_end(&m->base, MACHINE_EVENT_ERROR, 0,
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
		qemu_console_drain(m->console); /* what it has said comes before its end */
		qemu_console_drain(m->channel);
		qemu_mmio_catch_up(m);
		pthread_mutex_lock(&m->base.lock);
		if (!rc) /* else nobody knows */
			m->running = false;
		interrupted = m->interrupted;
		pthread_mutex_unlock(&m->base.lock);
		if (rc)
			machine_end(&m->base, MACHINE_EVENT_ERROR, 0,
				    "the connection to QEMU is lost: %s",
				    gdb_error_text(m->gdb, rc));
		else
			handle_stop(m, &stop, interrupted);
	}
	return NULL;
}

int qemu_run_start(struct qemu_machine *m, bool run)
{
	int rc;

	m->want_run = run;
	pthread_mutex_lock(&m->base.lock); /* m->thread is there before the thread looks at it */
	rc = thread_start(&m->thread, "gdb-stub", NULL, run_thread, m);
	m->started = !rc;
	pthread_mutex_unlock(&m->base.lock);
	return rc;
}

void qemu_run_let(struct qemu_machine *m)
{
	pthread_mutex_lock(&m->base.lock);
	m->want_run = true;
	pthread_cond_broadcast(&m->base.change);
	pthread_mutex_unlock(&m->base.lock);
}

void qemu_run_stop(struct qemu_machine *m)
{
	if (!m->started)
		return;
	/* The end waits for a stop, or for QEMU to fail to stop in time. */
	qemu_pause(&m->base);
	pthread_mutex_lock(&m->base.lock);
	m->base.stopping = true;
	pthread_cond_broadcast(&m->base.change);
	pthread_mutex_unlock(&m->base.lock);
	pthread_join(m->thread, NULL);
	m->started = false;
}
