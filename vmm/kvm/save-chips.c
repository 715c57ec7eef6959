// SPDX-License-Identifier: GPL-2.0-or-later
/* save-chips.c - devices in a snapshot: KVM's interrupt controllers and timer, and ours. */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#define CHIPS	  3 /* two PICs and the I/O APIC */
#define ISA_LINES 16

static int irqchips_save(struct kvm_machine *m, struct state_sections *s)
{
	for (uint32_t i = 0; i < CHIPS; i++) {
		struct kvm_irqchip chip = {.chip_id = i};

		if (ioctl(m->vm_fd, KVM_GET_IRQCHIP, &chip))
			return -errno;
		state_put(s, STATE_IRQCHIP, i, &chip, sizeof(chip));
	}
	return 0;
}

static int irqchips_restore(struct kvm_machine *m, const struct state_file *f)
{
	for (uint32_t i = 0; i < CHIPS; i++) {
		struct kvm_irqchip chip;
		const void *data = state_get_sized(f, STATE_IRQCHIP, i, sizeof(chip));

		if (!data)
			return -EINVAL;
		memcpy(&chip, data, sizeof(chip));
		chip.chip_id = i;
		if (ioctl(m->vm_fd, KVM_SET_IRQCHIP, &chip))
			return -errno;
	}
	return 0;
}

int kvm_chips_save(struct kvm_machine *m, struct state_sections *s)
{
	struct kvm_pit_state2 pit;
	int rc = irqchips_save(m, s);

	if (rc)
		return rc;
	if (m->pit) {
		pit_save(m->pit, s);
	} else {
		memset(&pit, 0, sizeof(pit));
		if (ioctl(m->vm_fd, KVM_GET_PIT2, &pit))
			return -errno;
		state_put(s, STATE_PIT, 0, &pit, sizeof(pit));
	}
	serial_save(m->serial, s);
	rtc_save(m->rtc, s);
	acpi_save(m->acpi, s);
	if (m->syscall_fix)
		syscall_fix_save(m->syscall_fix, s);
	return 0;
}

int kvm_chips_restore(struct kvm_machine *m, const struct state_file *f)
{
	int rc = irqchips_restore(m, f);

	if (!rc)
		rc = serial_restore(m->serial, f);
	if (!rc)
		rc = rtc_restore(m->rtc, f);
	if (!rc)
		rc = acpi_restore(m->acpi, f);
	if (!rc && m->syscall_fix)
		rc = syscall_fix_restore(m->syscall_fix, f);
	return rc;
}

int kvm_chips_restore_clock(struct kvm_machine *m, const struct state_file *f)
{
	struct kvm_pit_state2 pit;
	const void *data;

	if (m->pit)
		return pit_restore(m->pit, f);
	data = state_get_sized(f, STATE_PIT, 0, sizeof(pit));
	if (!data)
		return -EINVAL;
	memcpy(&pit, data, sizeof(pit));
	return ioctl(m->vm_fd, KVM_SET_PIT2, &pit) ? -errno : 0;
}

/* The timers stop first, and then no line is up: what is restored last is what they have done. */
int kvm_chips_reset(struct kvm_machine *m, const struct state_file *f)
{
	int rc = kvm_chips_restore_clock(m, f);

	if (!rc)
		rc = serial_restore(m->serial, f);
	if (!rc && m->channel)
		rc = serial_restore(m->channel, f);
	if (!rc)
		rc = acpi_restore(m->acpi, f);
	for (unsigned int irq = 0; irq < ISA_LINES && !rc; irq++)
		rc = kvm_irq_line(m, irq, false);
	return rc ? rc : irqchips_restore(m, f);
}
