// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reboot.c - a guest that has reset itself begins anew, in the same machine.
 *
 * What it was before its first boot is kept, and put back: that of vCPUs and of KVM's chips as a
 * snapshot has it, and that of our own devices. Memory is cleared, which a PC's need not be, and
 * the kernel loaded as at first. The vCPUs' threads have left the guest, and wait all the while;
 * their TSCs go on, so that what is traced of this boot comes behind what was traced of the last
 * one.
 */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kvm_reboot_prepare(struct kvm_machine *m)
{
	int rc = 0;

	m->reset = calloc(1, sizeof(*m->reset));
	if (!m->reset)
		return -ENOMEM;
	for (unsigned int i = 0; i < m->nvcpus && !rc; i++)
		rc = kvm_vcpu_save(&m->vcpu[i], m->reset, 0);
	if (!rc)
		rc = kvm_chips_save(m, m->reset);
	return !rc && m->reset->failed ? -ENOMEM : rc;
}

/* Whoever traced the guest has nothing left in it; what the backend itself has goes with it. */
static void forget(struct kvm_machine *m)
{
	kvm_traps_forget(m);
	if (m->syscall_fix)
		syscall_fix_forget(m->syscall_fix);
	for (unsigned int i = 0; i < m->nvcpus; i++)
		kvm_follow_forget(&m->vcpu[i]);
}

static int vcpus_reset(struct kvm_machine *m, const struct state_file *f)
{
	int rc = 0;

	for (unsigned int i = 0; i < m->nvcpus && !rc; i++) {
		rc = kvm_vcpu_reset(&m->vcpu[i], f);
		if (!rc && !kvm_vcpu_debug(&m->vcpu[i], 0))
			rc = -errno;
	}
	return rc;
}

static int reset_all(struct kvm_machine *m)
{
	const struct state_file f = {.fd = -1, .data = m->reset->data, .len = m->reset->len};
	int rc;

	forget(m);
	kvm_devices_hold(m);
	kvm_devices_reset(m);
	rc = kvm_mem_clear(m);
	kvm_devices_release(m);
	if (!rc)
		rc = vcpus_reset(m, &f);
	if (!rc)
		rc = kvm_chips_reset(m, &f);
	return rc ? rc : acpi_write_tables(m->acpi);
}

int kvm_reboot(struct machine *base, char *err, size_t errlen)
{
	struct kvm_machine *m = kvm_machine(base);
	int rc;

	/* All vCPUs are outside for good, and none comes back before kvm_start(). */
	kvm_pause(base);
	rc = reset_all(m);
	if (rc)
		snprintf(err, errlen, "KVM does not reset it: %s", strerror(-rc));
	else
		rc = kvm_boot(m, err, errlen);
	if (rc) {
		kvm_resume(base);
		return rc;
	}
	m->stands = true;
	machine_begin_anew(base);
	return 0;
}
