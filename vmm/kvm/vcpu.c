// SPDX-License-Identifier: GPL-2.0-or-later
/* vcpu.c - a vCPU: its thread, the loop around KVM_RUN, and its registers. */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#define MSR_IA32_TSC	   0x10
#define MSR_KERNEL_GS_BASE 0xc0000102

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
		machine_end(&v->m->base, MACHINE_EVENT_POWEROFF, v->index, "the guest powered off");
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
		kvm_bus_mmio(v);
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

/* Guest TSC minus host TSC. TSC scaling is not in use. */
static int tsc_offset_read(struct kvm_vcpu *v, uint64_t *offset)
{
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)offset,
	};
	uint64_t before, guest = 0, after;
	int rc;

	if (!ioctl(v->fd, KVM_GET_DEVICE_ATTR, &attr))
		return 0;
	/* Before Linux 5.16: from a reading in the middle of two of our own. */
	before = __rdtsc();
	rc = kvm_vcpu_get_msr(v, MSR_IA32_TSC, &guest);
	after = __rdtsc();
	*offset = guest - (before + (after - before) / 2);
	return rc;
}

/*
 * On a host whose TSC is unstable KVM lets the guest's TSC stand still while the vCPU is not
 * loaded, so each ioctl that loads it moves the offset (kvm_arch_vcpu_load() in
 * arch/x86/kvm/x86.c). The first of them has nothing yet to go on from.
 */
static int tsc_init(struct kvm_vcpu *v)
{
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
	};
	uint64_t again = 0;
	int rc = tsc_offset_read(v, &again);

	if (!rc)
		rc = tsc_offset_read(v, &v->tsc_offset);
	if (!rc)
		rc = tsc_offset_read(v, &again);
	v->tsc_stops = again != v->tsc_offset && !ioctl(v->fd, KVM_HAS_DEVICE_ATTR, &attr);
	return rc;
}

uint64_t kvm_vcpu_tsc(struct kvm_vcpu *v, uint64_t host_tsc)
{
	uint64_t guest = 0;

	if (v->tsc_stops && !kvm_vcpu_get_msr(v, MSR_IA32_TSC, &guest))
		return guest;
	return host_tsc + v->tsc_offset;
}

uint64_t kvm_get_tsc(struct machine *base, unsigned int vcpu)
{
	return kvm_vcpu_tsc(&kvm_machine(base)->vcpu[vcpu], __rdtsc());
}

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
		rc = tsc_init(v);
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
}

int kvm_vcpus_start(struct kvm_machine *m)
{
	sigset_t mask, old;
	int rc = 0;

	/* Signals are for the threads of the program; a vCPU's gets only those it needs. */
	kvm_pause_thread_signals(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, &old);
	pthread_mutex_lock(&m->base.lock);
	for (unsigned int i = 0; i < m->nvcpus && !rc; i++) {
		struct kvm_vcpu *v = &m->vcpu[i];

		rc = pthread_create(&v->thread, NULL, vcpu_main, v);
		v->started = !rc;
	}
	pthread_mutex_unlock(&m->base.lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
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

/* --- registers ---------------------------------------------------------------------------- */

struct kvm_regs *kvm_vcpu_regs(struct kvm_vcpu *v)
{
	return &v->run->s.regs.regs;
}

void kvm_vcpu_regs_changed(struct kvm_vcpu *v)
{
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
}

/*
 * Whoever needs them for one exit will need them for the next: let KVM deliver them with the
 * exits then, which takes much less time than the ioctl.
 */
int kvm_vcpu_get_sregs(struct kvm_vcpu *v, struct kvm_sregs *sregs)
{
	if (v->sregs_synced) {
		*sregs = v->run->s.regs.sregs;
		return 0;
	}
	if (v->handling && v->m->sync_sregs)
		v->run->kvm_valid_regs |= KVM_SYNC_X86_SREGS;
	return ioctl(v->fd, KVM_GET_SREGS, sregs) ? -errno : 0;
}

int kvm_vcpu_set_sregs(struct kvm_vcpu *v, const struct kvm_sregs *sregs)
{
	struct kvm_sregs set = *sregs;

	v->sregs_synced = false;
	return ioctl(v->fd, KVM_SET_SREGS, &set) ? -errno : 0;
}

/* Room for the one entry behind struct kvm_msrs. */
union one_msr {
	struct kvm_msrs msrs;
	uint8_t bytes[sizeof(struct kvm_msrs) + sizeof(struct kvm_msr_entry)];
};

int kvm_vcpu_get_msr(struct kvm_vcpu *v, uint32_t msr, uint64_t *val)
{
	union one_msr io = {0};
	int n;

	io.msrs.nmsrs = 1;
	io.msrs.entries[0].index = msr;
	n = ioctl(v->fd, KVM_GET_MSRS, &io);
	if (n != 1)
		return n < 0 ? -errno : -ENOENT;
	*val = io.msrs.entries[0].data;
	return 0;
}

int kvm_vcpu_set_msr(struct kvm_vcpu *v, uint32_t msr, uint64_t val)
{
	union one_msr io = {0};
	int n;

	io.msrs.nmsrs = 1;
	io.msrs.entries[0].index = msr;
	io.msrs.entries[0].data = val;
	n = ioctl(v->fd, KVM_SET_MSRS, &io);
	if (n != 1)
		return n < 0 ? -errno : -EINVAL;
	return 0;
}

int kvm_vcpu_inject(struct kvm_vcpu *v, uint8_t nr, bool has_error, uint32_t error)
{
	struct kvm_vcpu_events events;

	if (ioctl(v->fd, KVM_GET_VCPU_EVENTS, &events))
		return -errno;
	events.exception.injected = 1;
	events.exception.nr = nr;
	events.exception.has_error_code = has_error;
	events.exception.error_code = error;
	return ioctl(v->fd, KVM_SET_VCPU_EVENTS, &events) ? -errno : 0;
}

/* The registers of machine.h are KVM's, in the same order. */
_Static_assert(sizeof(struct machine_regs) == sizeof(struct kvm_regs), "struct kvm_regs");
_Static_assert(offsetof(struct machine_regs, rip) == offsetof(struct kvm_regs, rip), "rip");
_Static_assert(offsetof(struct machine_regs, r8) == offsetof(struct kvm_regs, r8), "r8");
_Static_assert(offsetof(struct machine_regs, rsp) == offsetof(struct kvm_regs, rsp), "rsp");

int kvm_get_regs(struct machine *base, unsigned int vcpu, struct machine_regs *regs)
{
	struct kvm_machine *m = kvm_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	memcpy(regs, kvm_vcpu_regs(&m->vcpu[vcpu]), sizeof(*regs));
	return 0;
}

int kvm_set_regs(struct machine *base, unsigned int vcpu, const struct machine_regs *regs)
{
	struct kvm_machine *m = kvm_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	memcpy(kvm_vcpu_regs(&m->vcpu[vcpu]), regs, sizeof(*regs));
	kvm_vcpu_regs_changed(&m->vcpu[vcpu]);
	return 0;
}

int kvm_get_sregs(struct machine *base, unsigned int vcpu, struct machine_sregs *sregs)
{
	struct kvm_machine *m = kvm_machine(base);
	struct kvm_sregs s;
	int rc;

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	rc = kvm_vcpu_get_sregs(&m->vcpu[vcpu], &s);
	if (!rc)
		rc = kvm_vcpu_get_msr(&m->vcpu[vcpu], MSR_KERNEL_GS_BASE, &sregs->kernel_gs_base);
	if (rc)
		return rc;
	sregs->cr0 = s.cr0;
	sregs->cr2 = s.cr2;
	sregs->cr3 = s.cr3;
	sregs->cr4 = s.cr4;
	sregs->efer = s.efer;
	sregs->fs_base = s.fs.base;
	sregs->gs_base = s.gs.base;
	sregs->idt_base = s.idt.base;
	sregs->gdt_base = s.gdt.base;
	sregs->idt_limit = s.idt.limit;
	sregs->gdt_limit = s.gdt.limit;
	sregs->cs = s.cs.selector;
	sregs->ss = s.ss.selector;
	sregs->cpl = s.ss.dpl; /* Intel SDM vol. 3, 25.3.1.5: CPL is the DPL of SS */
	return 0;
}
