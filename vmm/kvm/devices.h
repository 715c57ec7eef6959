/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices.h - the virtio devices of a machine, for devices.c and save-devices.c. */
#ifndef HVTRACE_VMM_KVM_DEVICES_H
#define HVTRACE_VMM_KVM_DEVICES_H

#include "vmm/kvm/disk/disk.h"
#include "vmm/kvm/slots.h"

#define DEVICES_MAX (PCI_SLOTS - 1)

struct kvm_devices {
	struct kvm_pci *pci;
	struct plugged {
		struct virtio_pci function;
		struct virtio_device *device;
	} plugged[DEVICES_MAX];
	unsigned int n;
	struct disk *disk[DEVICES_MAX]; /* of the first of them */
	unsigned int ndisk;
	struct virtio_device *console; /* one of the plugged; or NULL */
};

#endif
