// SPDX-License-Identifier: GPL-2.0-or-later
/* event.c - what happens to the machine as a whole: its end, machine_wait() and machine_wake(). */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define RFLAGS_IF (1ull << 9)

/*
 * With the irqchip in the kernel a halted vCPU sleeps in KVM_RUN and nobody is told. So a wait
 * looks now and then whether all vCPUs use no CPU time, and only then stops them to see why.
 */
#define HALT_CHECK_MS 250
#define HALT_PAUSE_MS 100
#define HALT_IDLE_NS  1000000 /* being looked at costs some CPU time, too */

int kvm_event_init(struct kvm_machine *m)
{
	m->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return m->event_fd < 0 ? -errno : 0;
}

void kvm_event_exit(struct kvm_machine *m)
{
	if (m->event_fd >= 0)
		close(m->event_fd);
}

void kvm_event_signal(struct kvm_machine *m)
{
	int saved = errno; /* for machine_wake() in signal handlers */

	/* Fails only when the counter is full, and then the waiter wakes up anyway. */
	if (eventfd_write(m->event_fd, 1))
		errno = saved;
}

void kvm_wake(struct machine *base)
{
	struct kvm_machine *m = kvm_machine(base);

	m->woken = true;
	kvm_event_signal(m);
}

void kvm_machine_end(struct kvm_machine *m, enum machine_event_type type, unsigned int vcpu,
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
		kvm_pause_end_all(m);
	}
	pthread_mutex_unlock(&m->lock);
}

/* The event that is there now: the end once no vCPU runs any more, or a wake-up. */
static bool take_event(struct kvm_machine *m, struct machine_event *ev)
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

/* Has no vCPU's thread used CPU time since the last look? */
static bool vcpus_idle(struct kvm_machine *m)
{
	bool idle = true;

	pthread_mutex_lock(&m->lock);
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		struct kvm_vcpu *v = &m->vcpu[i];
		struct timespec used;
		clockid_t clock;
		uint64_t ns;

		if (!v->inside || pthread_getcpuclockid(v->thread, &clock) ||
		    clock_gettime(clock, &used)) {
			idle = false;
			continue;
		}
		ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
		if (ns - v->cpu_ns > HALT_IDLE_NS)
			idle = false;
		v->cpu_ns = ns;
	}
	pthread_mutex_unlock(&m->lock);
	return idle;
}

/* A paused vCPU that nothing inside the guest can wake: halted with interrupts off, or not up. */
static bool vcpu_dead(struct kvm_vcpu *v, bool *halted)
{
	struct kvm_mp_state state;

	if (ioctl(v->fd, KVM_GET_MP_STATE, &state))
		return false;
	switch (state.mp_state) {
	case KVM_MP_STATE_HALTED:
		*halted = true;
		return !(kvm_vcpu_regs(v)->rflags & RFLAGS_IF);
	case KVM_MP_STATE_UNINITIALIZED:
	case KVM_MP_STATE_INIT_RECEIVED:
		return true;
	default:
		return false;
	}
}

static void check_halt(struct kvm_machine *m)
{
	bool dead = true, halted = false;

	if (!vcpus_idle(m) || !kvm_pause_try(m, HALT_PAUSE_MS))
		return;
	for (unsigned int i = 0; i < m->nvcpus; i++)
		dead = dead && vcpu_dead(&m->vcpu[i], &halted);
	if (dead && halted)
		kvm_machine_end(m, MACHINE_EVENT_HALT, 0,
				"every vCPU has halted with interrupts off");
	kvm_resume(&m->base);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Callers may wait in pieces shorter than HALT_CHECK_MS: the time is kept from call to call. */
static void check_halt_when_due(struct kvm_machine *m)
{
	uint64_t now = now_ms();

	if (now - m->halt_checked_ms < HALT_CHECK_MS)
		return;
	m->halt_checked_ms = now;
	check_halt(m);
}

int kvm_wait(struct machine *base, struct machine_event *ev, int timeout_ms)
{
	struct kvm_machine *m = kvm_machine(base);
	uint64_t start = now_ms();
	eventfd_t count;

	for (;;) {
		struct pollfd fd = {.fd = m->event_fd, .events = POLLIN};
		uint64_t gone = now_ms() - start;
		int wait = HALT_CHECK_MS;

		if (take_event(m, ev))
			return 0;
		if (timeout_ms >= 0 && gone >= (uint64_t)timeout_ms)
			break;
		if (timeout_ms >= 0 && (uint64_t)timeout_ms - gone < (uint64_t)wait)
			wait = (int)((uint64_t)timeout_ms - gone);
		if (poll(&fd, 1, wait) > 0)
			eventfd_read(m->event_fd, &count);
		else
			check_halt_when_due(m);
	}
	*ev = (struct machine_event){.type = MACHINE_EVENT_NONE};
	return 0;
}
