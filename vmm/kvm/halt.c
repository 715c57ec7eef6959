// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * halt.c - notices that every vCPU has halted with interrupts off.
 *
 * With the irqchip in the kernel a halted vCPU sleeps in KVM_RUN and nobody is told. So
 * machine_wait() has us look now and then whether all vCPUs use no CPU time, and only then they are
 * stopped to see why.
 */
#include "vmm/kvm/local.h"

#include <sys/ioctl.h>
#include <time.h>

#define RFLAGS_IF (1ull << 9)

#define HALT_PAUSE_MS 100
#define HALT_IDLE_NS  1000000 /* being looked at costs some CPU time, too */

/* Has no vCPU's thread used CPU time since the last look? */
static bool vcpus_idle(struct kvm_machine *m)
{
	bool idle = true;

	pthread_mutex_lock(&m->base.lock);
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
	pthread_mutex_unlock(&m->base.lock);
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

bool kvm_has_halted(struct machine *base)
{
	struct kvm_machine *m = kvm_machine(base);
	bool dead = true, halted = false;

	for (unsigned int i = 0; i < m->nvcpus; i++)
		dead = dead && vcpu_dead(&m->vcpu[i], &halted);
	return dead && halted;
}

void kvm_halt_check(struct machine *base)
{
	struct kvm_machine *m = kvm_machine(base);

	if (!vcpus_idle(m) || !kvm_pause_try(m, HALT_PAUSE_MS))
		return;
	if (kvm_has_halted(base))
		machine_end(base, MACHINE_EVENT_HALT, 0,
			    "every vCPU has halted with interrupts off");
	kvm_resume(base);
}
