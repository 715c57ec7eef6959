/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what the core files of vmm/kvm/ share that devices have no use for. */
#ifndef HVTRACE_VMM_KVM_LOCAL_H
#define HVTRACE_VMM_KVM_LOCAL_H

#include <signal.h>

#include "vmm/kvm/kvm.h"

static inline struct kvm_machine *kvm_machine(struct machine *base)
{
	return (struct kvm_machine *)base; /* base is its first member */
}

/* memory.c */
int kvm_mem_init(struct kvm_machine *m, char *err, size_t errlen);
void kvm_mem_exit(struct kvm_machine *m);
/* No windows, and RAM that holds zeros: no vCPU runs, devices are held, nobody reads or writes it.
 */
int kvm_mem_clear(struct kvm_machine *m);
uint64_t kvm_mem_size(const struct kvm_machine *m); /* of RAM, without windows */
int kvm_window(struct machine *base, size_t size, uint64_t *pa, void **host);

/* reserved.c */
int kvm_reserved_page(struct machine *base, uint64_t *pa);

/* bus.c: the I/O exit that v has just taken */
void kvm_bus_pio(struct kvm_vcpu *v);
void kvm_bus_mmio(struct kvm_vcpu *v, uint64_t tsc); /* tsc: host TSC of the exit */

/*
 * devices.c: what m->cfg.devices asks for; before the ACPI tables are written, which tell of it.
 * Exit: once no vCPU runs any more.
 */
int kvm_devices_init(struct kvm_machine *m, char *err, size_t errlen);
void kvm_devices_exit(struct kvm_machine *m);
/* NULL: it has none. */
struct virtio_device *kvm_devices_console(struct kvm_machine *m);
/*
 * From when this is back on devices touch neither guest memory nor what is behind them, until
 * kvm_devices_release(); what they have taken is done before. Calls nest. Not from a device.
 */
void kvm_devices_hold(struct kvm_machine *m);
void kvm_devices_release(struct kvm_machine *m);

/* As they were before the guest has set them up; they are held. */
void kvm_devices_reset(struct kvm_machine *m);

/*
 * load.c: copy the ELF image's segments; m->entry and m->kernel_pa come out of it, and with
 * cfg.kaslr m->kernel_slide and m->kernel_moved.
 */
int kvm_load_elf(struct kvm_machine *m, uint64_t *kernel_end, char *err, size_t errlen);

/*
 * kaslr.c: choose m->kernel_slide and m->kernel_moved for a kernel that was linked to lie at
 * [start, end) of physical memory; it keeps off the initrd.
 */
int kvm_kaslr_place(struct kvm_machine *m, uint64_t start, uint64_t end, char *err, size_t errlen);
/*
 * The kernel lies from m->kernel_pa up to kernel_end: have it run with its slide, by what is
 * appended to its image. -ENOEXEC: there is no such, or it makes no sense.
 */
int kvm_kaslr_relocate(struct kvm_machine *m, uint64_t kernel_end, const void *appended, size_t len,
		       char *err, size_t errlen);

/* boot.c: where the initrd will lie, or RAM that it could lie in ends: the kernel ends before */
uint64_t kvm_initrd_start(const struct kvm_machine *m);
/* Everything that the kernel finds at its first instruction: memory, and the first vCPU there */
int kvm_boot(struct kvm_machine *m, char *err, size_t errlen);

/* vcpu.c */
int kvm_vcpu_init(struct kvm_machine *m, unsigned int index, char *err, size_t errlen);
void kvm_vcpu_exit(struct kvm_vcpu *v);
int kvm_vcpus_start(struct kvm_machine *m);
void kvm_vcpus_join(struct kvm_machine *m);
int kvm_vcpu_thread(struct machine *base, unsigned int vcpu, pid_t *pid, pid_t *tid);

/* tsc.c */
int kvm_vcpu_tsc_init(struct kvm_vcpu *v);		      /* before its first run */
uint64_t kvm_vcpu_tsc(struct kvm_vcpu *v, uint64_t host_tsc); /* the guest's at an exit */
/* It is `guest` when the host's is host_tsc; before it runs. */
int kvm_vcpu_tsc_set(struct kvm_vcpu *v, uint64_t guest, uint64_t host_tsc);
uint64_t kvm_get_tsc(struct machine *base, unsigned int vcpu);
int kvm_get_tsc_line(struct machine *base, unsigned int vcpu, struct machine_tsc *line);

/* regs.c */
int kvm_get_regs(struct machine *base, unsigned int vcpu, struct machine_regs *regs);
int kvm_set_regs(struct machine *base, unsigned int vcpu, const struct machine_regs *regs);
int kvm_get_sregs(struct machine *base, unsigned int vcpu, struct machine_sregs *sregs);

/* pause.c */
void kvm_pause_thread_signals(sigset_t *set); /* what a vCPU thread blocks */
int kvm_pause_init(void);
void kvm_pause(struct machine *base);
void kvm_resume(struct machine *base);
/* A pause that gives up after this time: true when the machine is paused. Not from a vCPU. */
bool kvm_pause_try(struct kvm_machine *m, unsigned int timeout_ms);
/* The vCPU's thread, outside KVM_RUN with nothing half done: wait as long as a pause lasts.
 * False: the vCPU must not run any more. */
bool kvm_pause_park(struct kvm_vcpu *v);
/* A handler of this vCPU is back: a pause that it keeps is from now on anybody's to end. */
void kvm_pause_handler_done(struct kvm_vcpu *v);
void kvm_kick_locked(struct machine *base); /* machine_ops.kick_locked */

/* halt.c: machine_ops.has_halted and .idle */
bool kvm_has_halted(struct machine *base);
void kvm_halt_check(struct machine *base);

/* traps.c */
int kvm_traps_set(struct machine *base, const struct machine_trap *traps, size_t n);
int kvm_traps_clear(struct machine *base, const uint64_t *vas, size_t n);
/* The exit that v has just taken, if it is a trap's: true when it was. tsc: host TSC of the exit.
 */
bool kvm_traps_out(struct kvm_vcpu *v, uint64_t tsc);
bool kvm_traps_int3(struct kvm_vcpu *v, uint64_t tsc);
/* The machine is paused: has it traps of others than the backend itself? */
bool kvm_traps_foreign(struct kvm_machine *m);
/* The sites of the backend's own as the guest has them, and back. */
void kvm_traps_lift(struct kvm_machine *m);
void kvm_traps_lay(struct kvm_machine *m);
/*
 * Ask KVM for the breakpoints that the vCPU is to stop at: those of traps, and of the call that is
 * followed; what: KVM_GUESTDBG_INJECT_ of an exception that it gets now, or 0. False: it does not.
 */
bool kvm_vcpu_debug(struct kvm_vcpu *v, uint32_t what);

/* Without a word to the guest's memory, which is another one now: no vCPU runs. */
void kvm_traps_forget(struct kvm_machine *m);

/* follow.c: machine_follow() */
int kvm_follow(struct machine *base, const struct machine_follow *follow);
/* A debug exception has made v exit. */
void kvm_follow_stop(struct kvm_vcpu *v, uint64_t tsc);
/* Its breakpoints, into the registers for KVM. False: there are none. */
bool kvm_follow_breakpoints(const struct kvm_vcpu *v, struct kvm_guest_debug *debug);
void kvm_follow_forget(struct kvm_vcpu *v); /* the call was one of a guest that is no more */
void kvm_follow_free(struct kvm_vcpu *v);

#endif
