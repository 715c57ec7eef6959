/* SPDX-License-Identifier: GPL-2.0-or-later */
/* save.h - who keeps what of a machine in a snapshot, and makes a machine like that again. */
#ifndef HVTRACE_VMM_KVM_SAVE_H
#define HVTRACE_VMM_KVM_SAVE_H

#include "vmm/kvm/local.h"
#include "vmm/kvm/state/state.h"

/*
 * What a machine goes on from, as long as it has not been started. Its vCPUs' registers are there
 * at once, for a tracer to look at; what runs by itself, their clocks and timers, comes when they
 * start, so that for the guest no time has passed.
 */
struct kvm_snapshot {
	struct state_file file;
	struct save_machine {
		uint64_t memory, tsc_khz, kernel_pa, kernel_slide, kernel_moved;
		uint32_t vcpus, emulated;
	} machine;
};

/* Memory that is no RAM, of a guest that was traced. */
struct save_window {
	uint64_t pa, size;
};

/* save.c */
int kvm_save(struct machine *base, const struct machine_save *save, char *err, size_t errlen);
/* Its next window, from 0 on, that is well-formed; NULL: there is none. */
const struct save_window *kvm_snapshot_window(const struct kvm_snapshot *snap, unsigned int i);
/* Of m->cfg.snapshot: m->snapshot, m->nvcpus, m->cfg.memory and what m tells of its kernel. */
int kvm_snapshot_open(struct kvm_machine *m, char *err, size_t errlen);
/* Memory, devices and vCPUs are there: as they were. */
int kvm_snapshot_restore(struct kvm_machine *m, char *err, size_t errlen);
/* The vCPUs are about to run. */
int kvm_snapshot_start(struct kvm_machine *m, char *err, size_t errlen);
void kvm_snapshot_close(struct kvm_machine *m);

/* save-vcpu.c: 0 or -errno (the second says why in err, too). tsc: the host's, of that moment. */
int kvm_vcpu_save(struct kvm_vcpu *v, struct state_sections *s, uint64_t tsc);
int kvm_vcpu_restore(struct kvm_vcpu *v, const struct state_file *f, char *err, size_t errlen);
int kvm_vcpu_restore_clock(struct kvm_vcpu *v, const struct state_file *f, uint64_t tsc);
/*
 * A vCPU that has run, as it was before that (kvm_vcpu_save()), but for its TSC, which goes on. Of
 * what it says of itself nothing has changed.
 */
int kvm_vcpu_reset(struct kvm_vcpu *v, const struct state_file *f);
/* A guest that runs guests itself has state that nobody keeps. */
bool kvm_vcpu_has_guests(struct kvm_vcpu *v);

/* cpuid-check.c: does this CPU, and this KVM, have what the guest has found? */
int kvm_cpuid_check(const struct kvm_cpuid2 *have, const struct kvm_cpuid_entry2 *found, size_t n,
		    char *err, size_t errlen);

/* save-chips.c: the interrupt controllers, and a timer that KVM has. */
int kvm_chips_save(struct kvm_machine *m, struct state_sections *s);
int kvm_chips_restore(struct kvm_machine *m, const struct state_file *f);
int kvm_chips_restore_clock(struct kvm_machine *m, const struct state_file *f);
/* As they were before the guest ran; what the real-time clock's battery keeps stays. */
int kvm_chips_reset(struct kvm_machine *m, const struct state_file *f);

/* reboot.c: keep what vCPUs and chips are before the first boot. 0 or -errno. */
int kvm_reboot_prepare(struct kvm_machine *m);
int kvm_reboot(struct machine *base, char *err, size_t errlen);

#endif
