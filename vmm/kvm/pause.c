// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pause.c - the barrier that all vCPUs leave the guest for.
 *
 * A vCPU is "inside" while its thread runs the guest or handles an exit, and outside while it is
 * parked or waits for a pause of its own. A pause raises m->requests, kicks whoever is inside and
 * waits until nobody is. As long as there are requests, nobody gets back inside, except one vCPU
 * at a time whose trap handler asked for the pause.
 *
 * A kick sets run->immediate_exit and sends a signal. Whatever the vCPU is doing, its next KVM_RUN
 * then completes the I/O of the exit before, runs nothing and fails with EINTR (Linux
 * Documentation/virt/kvm/api.rst, 5. The kvm_run structure); the signal is for a vCPU already
 * in KVM_RUN. EINTR is the only place where a vCPU parks, so a parked one has nothing half done.
 */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

/* Real-time signals are the program's own; this one is unlikely to be taken by a library. */
static int kick_signal(void)
{
	return SIGRTMIN + 7;
}

static void kick_handler(int sig)
{
	(void)sig; /* being interrupted is all that matters */
}

int kvm_pause_init(void)
{
	struct sigaction action = {.sa_handler = kick_handler, .sa_flags = SA_RESTART};

	/* Every machine of the process installs the same handler, so none ever takes it away. */
	sigemptyset(&action.sa_mask);
	return sigaction(kick_signal(), &action, NULL) ? -errno : 0;
}

void kvm_pause_thread_signals(sigset_t *set)
{
	sigfillset(set);
	sigdelset(set, kick_signal());
	sigdelset(set, SIGSEGV);
	sigdelset(set, SIGBUS);
	sigdelset(set, SIGFPE);
	sigdelset(set, SIGILL);
	sigdelset(set, SIGPROF);
}

/* Below, "locked" in a name: called with m->base.lock held. */

static void kick_locked(struct kvm_vcpu *v)
{
	__atomic_store_n(&v->run->immediate_exit, 1, __ATOMIC_RELAXED);
	pthread_kill(v->thread, kick_signal());
}

void kvm_kick_locked(struct machine *base)
{
	struct kvm_machine *m = kvm_machine(base);

	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (m->vcpu[i].inside)
			kick_locked(&m->vcpu[i]);
	}
}

static void leave_locked(struct kvm_vcpu *v)
{
	v->inside = false;
	machine_leave_locked(&v->m->base);
}

static void enter_locked(struct kvm_vcpu *v)
{
	v->inside = true;
	machine_enter_locked(&v->m->base);
}

/* The vCPU whose thread this is, or NULL. */
static struct kvm_vcpu *self_locked(struct kvm_machine *m)
{
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (m->vcpu[i].started && pthread_equal(m->vcpu[i].thread, pthread_self()))
			return &m->vcpu[i];
	}
	return NULL;
}

static void pause_from_vcpu_locked(struct kvm_vcpu *v)
{
	struct kvm_machine *m = v->m;

	if (v->held++)
		return;
	m->requests++;
	m->base.waiting++;
	leave_locked(v);
	kvm_kick_locked(&m->base);
	while (m->base.inside || m->outside)
		pthread_cond_wait(&m->base.change, &m->base.lock);
	enter_locked(v);
	m->base.waiting--;
}

void kvm_pause(struct machine *base)
{
	struct kvm_machine *m = kvm_machine(base);
	struct kvm_vcpu *v;

	pthread_mutex_lock(&m->base.lock);
	v = self_locked(m);
	if (v) {
		pause_from_vcpu_locked(v);
	} else {
		m->requests++;
		kvm_kick_locked(&m->base);
		while (m->base.inside)
			pthread_cond_wait(&m->base.change, &m->base.lock);
		m->outside++;
	}
	pthread_mutex_unlock(&m->base.lock);
}

static void deadline_after(struct timespec *at, unsigned int ms)
{
	clock_gettime(CLOCK_MONOTONIC, at);
	at->tv_sec += ms / 1000;
	at->tv_nsec += (long)(ms % 1000) * 1000000;
	if (at->tv_nsec >= 1000000000) {
		at->tv_nsec -= 1000000000;
		at->tv_sec++;
	}
}

bool kvm_pause_try(struct kvm_machine *m, unsigned int timeout_ms)
{
	struct timespec at;
	int rc = 0;

	deadline_after(&at, timeout_ms);
	pthread_mutex_lock(&m->base.lock);
	m->requests++;
	kvm_kick_locked(&m->base);
	while (m->base.inside && !rc)
		rc = pthread_cond_timedwait(&m->base.change, &m->base.lock, &at);
	if (m->base.inside)
		m->requests--;
	else
		m->outside++;
	pthread_cond_broadcast(&m->base.change);
	rc = m->base.inside;
	pthread_mutex_unlock(&m->base.lock);
	return !rc;
}

/* One vCPU's pause is over. Kicks that came while it was not inside went past it: repeat them. */
static void release_vcpu_locked(struct kvm_vcpu *v)
{
	if (v->m->requests || machine_over_locked(&v->m->base))
		__atomic_store_n(&v->run->immediate_exit, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&v->m->base.change);
}

void kvm_resume(struct machine *base)
{
	struct kvm_machine *m = kvm_machine(base);
	struct kvm_vcpu *v;

	pthread_mutex_lock(&m->base.lock);
	v = self_locked(m);
	if (v && v->held) {
		if (--v->held == 0) {
			m->requests--;
			release_vcpu_locked(v);
		}
	} else if (m->outside) {
		m->outside--;
		m->requests--;
		pthread_cond_broadcast(&m->base.change);
	}
	pthread_mutex_unlock(&m->base.lock);
}

void kvm_pause_handler_done(struct kvm_vcpu *v)
{
	struct kvm_machine *m = v->m;

	if (!v->held)
		return;
	pthread_mutex_lock(&m->base.lock);
	m->outside += v->held;
	m->requests += v->held - 1;
	v->held = 0;
	release_vcpu_locked(v);
	pthread_mutex_unlock(&m->base.lock);
}

/* Whoever has ended, and may boot again, waits for that as for the end of a pause. */
static bool waits_locked(const struct kvm_machine *m)
{
	bool over = machine_over_locked(&m->base);

	return over ? m->base.reboots && !m->base.stopping : m->requests;
}

bool kvm_pause_park(struct kvm_vcpu *v)
{
	struct kvm_machine *m = v->m;
	bool run;

	pthread_mutex_lock(&m->base.lock);
	if (v->inside)
		leave_locked(v);
	while (waits_locked(m))
		pthread_cond_wait(&m->base.change, &m->base.lock);
	run = !machine_over_locked(&m->base);
	if (run) {
		enter_locked(v);
		__atomic_store_n(&v->run->immediate_exit, 0, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&m->base.lock);
	return run;
}
