/* SPDX-License-Identifier: GPL-2.0-or-later */
/* save.h - who keeps what of a machine in a snapshot, and makes a machine like that again. */
#ifndef HVTRACE_VMM_KVM_SAVE_H
#define HVTRACE_VMM_KVM_SAVE_H

#include "vmm/kvm/disk/disk.h"
#include "vmm/kvm/local.h"
#include "vmm/kvm/state/state.h"

#define SAVE_DISKS_MAX 31

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
	/* Paths are ours. */
	struct machine_disk disk[SAVE_DISKS_MAX];
	size_t ndisk;
	uint64_t changes_at[SAVE_DISKS_MAX]; /* where in the file each one's are */
	uint64_t end;			     /* and all memory ends */
};

/* A disk, by what its image was when it was saved. */
struct save_disk {
	struct disk_identity image;
	uint64_t size; /* of the disk */
	uint64_t
		written; /* bytes of the file that what was written to it takes; 0: none was kept */
	uint64_t read_only;
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

/*
 * save-devices.c: virtio devices and the disks behind them. They are held, and so they are behind
 * kvm_devices_restore().
 */
/* NULL: they can be saved. Else why not. */
const char *kvm_devices_unsavable(struct kvm_machine *m);
int kvm_devices_save(struct kvm_machine *m, struct state_sections *s);
/* What has been written to disks, from *at on, which is where it ends then. */
int kvm_devices_save_disks(struct kvm_machine *m, const struct state_sink *to, uint64_t *at);
/*
 * snap->disk and all that follows, from `at` on in the file: 0, or -errno and err says why,
 * such as that an image is not what it was.
 */
int kvm_snapshot_find_disks(struct kvm_snapshot *snap, uint64_t at, char *err, size_t errlen);
/* What had been written to one; false: nothing is known of that. */
bool kvm_snapshot_changes(const struct kvm_snapshot *snap, size_t disk, struct disk_changes *c);
void kvm_snapshot_free_disks(struct kvm_snapshot *snap);
int kvm_devices_restore(struct kvm_machine *m, const struct state_file *f);
/* Interrupts reach the guest again: they go on. */
void kvm_devices_go_on(struct kvm_machine *m);

#endif
