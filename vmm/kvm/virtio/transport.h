/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transport.h - a virtio device as a function of PCI (4.1 of the specification), not transitional.
 */
#ifndef HVTRACE_VMM_KVM_VIRTIO_TRANSPORT_H
#define HVTRACE_VMM_KVM_VIRTIO_TRANSPORT_H

#include "vmm/kvm/pci/pci.h"
#include "vmm/kvm/virtio/device.h"

#define VIRTIO_PCI_BAR_SIZE 0x8000u

/* What the machine does for it. */
struct virtio_host {
	struct virtio_memory memory;
	struct pci_host interrupts;
	/* From now on, or not any more, a write to this address is to signal the eventfd fd. */
	void (*doorbell)(void *arg, uint64_t pa, int fd, bool on);
	void *arg;
};

struct virtio_pci {
	struct pci_function function;
	struct virtio_device *d;
	struct virtio_host host;
	atomic_bool isr; /* a queue has been used, as drivers without MSI-X may ask */
};

/* d is initialised and not started; bar: where the guest finds it at first. */
void virtio_pci_init(struct virtio_pci *p, struct virtio_device *d, const struct virtio_host *host,
		     uint32_t bar);
/* As the guest has found it at first; d is held. */
void virtio_pci_reset(struct virtio_pci *p);
void virtio_pci_exit(struct virtio_pci *p); /* d is gone, or has ended */

#endif
