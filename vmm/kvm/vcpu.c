// SPDX-License-Identifier: GPL-2.0-or-later
/* vcpu.c - a vCPU: its thread, and the loop around KVM_RUN. */
#include "vmm/kvm/local.h"
#include "vmm/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

/* --- exits -------------------------------------------------------------------------------- */

static void exit_io(struct kvm_vcpu *v, uint64_t tsc)
{
	if (!kvm_traps_out(v, tsc))
		kvm_bus_pio(v);
}

static void exit_debug(struct kvm_vcpu *v, uint64_t tsc)
{
	if (v->run->debug.arch.exception == 3)
		kvm_traps_int3(v, tsc);
	else if (v->run->debug.arch.exception == 1)
		kvm_follow_stop(v, tsc);
}

/* The instruction that could not be executed, for the message about it. */
static void describe_insn(struct kvm_vcpu *v, char *text, size_t size)
{
	uint8_t insn[15];
	size_t len = sizeof(insn), at = 0;

	while (len && kvm_virt_read(v, kvm_vcpu_regs(v)->rip, insn, len))
		len--; /* the page behind may be missing */
	text[0] = '\0';
	for (size_t i = 0; i < len; i++)
		at += (size_t)snprintf(text + at, size - at, " %02x", insn[i]);
}

static void exit_internal_error(struct kvm_vcpu *v, uint64_t tsc)
{
	char insn[15 * 3 + 1];

	if (v->run->internal.suberror == KVM_INTERNAL_ERROR_EMULATION &&
	    (kvm_traps_int3(v, tsc) || kvm_assist(v)))
		return;
	describe_insn(v, insn, sizeof(insn));
	machine_end(&v->m->base, MACHINE_EVENT_ERROR, v->index,
		    "KVM cannot go on with vCPU %u (internal error %u) at %#llx:%s", v->index,
		    v->run->internal.suberror, kvm_vcpu_regs(v)->rip, insn);
}

static void exit_wrmsr(struct kvm_vcpu *v)
{
	v->run->msr.error = 0;
	if (v->m->syscall_fix)
		syscall_fix_wrmsr(v->m->syscall_fix, v);
	if (kvm_vcpu_set_msr(v, v->run->msr.index, v->run->msr.data))
		v->run->msr.error = 1;
}

static void exit_system_event(struct kvm_vcpu *v)
{
	switch (v->run->system_event.type) {
	case KVM_SYSTEM_EVENT_SHUTDOWN:
		machine_end(&v->m->base, MACHINE_EVENT_POWEROFF, v->index,
			    "the guest powered itself off");
		break;
	case KVM_SYSTEM_EVENT_RESET:
		machine_end(&v->m->base, MACHINE_EVENT_RESET, v->index,
			    "the guest asked for a reset");
		break;
	default:
		machine_end(&v->m->base, MACHINE_EVENT_CRASH, v->index, "the guest crashed");
	}
}

static void handle_exit(struct kvm_vcpu *v, uint64_t tsc)
{
	switch (v->run->exit_reason) {
	case KVM_EXIT_IO:
		exit_io(v, tsc);
		break;
	case KVM_EXIT_MMIO:
		kvm_bus_mmio(v, tsc);
		break;
	case KVM_EXIT_DEBUG:
		exit_debug(v, tsc);
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		exit_internal_error(v, tsc);
		break;
	case KVM_EXIT_X86_WRMSR:
		exit_wrmsr(v);
		break;
	case KVM_EXIT_SYSTEM_EVENT:
		exit_system_event(v);
		break;
	case KVM_EXIT_SHUTDOWN:
		machine_end(&v->m->base, MACHINE_EVENT_CRASH, v->index,
			    "triple fault on vCPU %u at %#llx", v->index, kvm_vcpu_regs(v)->rip);
		break;
	case KVM_EXIT_INTR:
		break;
	default:
		machine_end(&v->m->base, MACHINE_EVENT_ERROR, v->index,
			    "vCPU %u stopped with exit reason %u of KVM at %#llx", v->index,
			    v->run->exit_reason, kvm_vcpu_regs(v)->rip);
	}
}

static void *vcpu_main(void *arg)
{
	struct kvm_vcpu *v = arg;

	v->tid = gettid();
	while (kvm_pause_park(v)) {
		int rc;

		for (;;) {
			uint64_t tsc;

			rc = ioctl(v->fd, KVM_RUN, 0);
			tsc = __rdtsc();
			v->sregs_synced = v->run->kvm_valid_regs & KVM_SYNC_X86_SREGS;
			if (rc)
				break;
			v->handling = true;
			handle_exit(v, tsc);
			v->handling = false;
		}
		if (errno != EINTR && errno != EAGAIN) /* EAGAIN: a start-up IPI has arrived */
			machine_end(&v->m->base, MACHINE_EVENT_ERROR, v->index,
				    "KVM cannot run vCPU %u: %s", v->index, strerror(errno));
	}
	return NULL;
}

/* --- life --------------------------------------------------------------------------------- */

static int vcpu_open(struct kvm_vcpu *v)
{
	int size = ioctl(v->m->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	void *run;

	if (size < (int)sizeof(struct kvm_run))
		return -EINVAL;
	v->fd = ioctl(v->m->vm_fd, KVM_CREATE_VCPU, (unsigned long)v->index);
	if (v->fd < 0)
		return -errno;
	run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
	if (run == MAP_FAILED)
		return -errno;
	v->run = run;
	v->run_size = (size_t)size;
	return 0;
}

int kvm_vcpu_init(struct kvm_machine *m, unsigned int index, char *err, size_t errlen)
{
	struct kvm_vcpu *v = &m->vcpu[index];
	int rc;

	v->m = m;
	v->index = index;
	rc = vcpu_open(v);
	if (!rc)
		rc = kvm_cpuid_setup(v);
	if (!rc && ioctl(v->fd, KVM_GET_REGS, &v->run->s.regs.regs))
		rc = -errno;
	if (!rc)
		rc = kvm_vcpu_tsc_init(v);
	if (rc)
		snprintf(err, errlen, "KVM cannot set up vCPU %u: %s", index, strerror(-rc));
	else
		v->run->kvm_valid_regs = KVM_SYNC_X86_REGS;
	return rc;
}

void kvm_vcpu_exit(struct kvm_vcpu *v)
{
	if (v->run)
		munmap(v->run, v->run_size);
	if (v->fd >= 0)
		close(v->fd);
	kvm_follow_free(v);
	free(v->cpuid);
}

int kvm_vcpus_start(struct kvm_machine *m)
{
	sigset_t mask;
	int rc = 0;

	/* Signals are for the threads of the program; a vCPU's gets only those it needs. */
	kvm_pause_thread_signals(&mask);
	pthread_mutex_lock(&m->base.lock);
	for (unsigned int i = 0; i < m->nvcpus && !rc; i++) {
		struct kvm_vcpu *v = &m->vcpu[i];

		rc = thread_start(&v->thread, "vcpu", &mask, vcpu_main, v);
		v->started = !rc;
	}
	pthread_mutex_unlock(&m->base.lock);
	return rc;
}

void kvm_vcpus_join(struct kvm_machine *m)
{
	pthread_mutex_lock(&m->base.lock);
	m->base.stopping = true;
	m->outside = 0; /* handlers must not wait for a pause that nobody will end */
	kvm_kick_locked(&m->base);
	pthread_cond_broadcast(&m->base.change);
	pthread_mutex_unlock(&m->base.lock);
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (m->vcpu[i].started)
			pthread_join(m->vcpu[i].thread, NULL);
	}
}

int kvm_vcpu_thread(struct machine *base, unsigned int vcpu, pid_t *pid, pid_t *tid)
{
	struct kvm_machine *m = kvm_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	*pid = getpid();
	*tid = m->vcpu[vcpu].tid;
	return *tid ? 0 : -EAGAIN;
}
