/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots.h - what slots.c does for devices.c. */
#ifndef HVTRACE_VMM_KVM_SLOTS_H
#define HVTRACE_VMM_KVM_SLOTS_H

#include "vmm/kvm/kvm.h"
#include "vmm/kvm/virtio/transport.h"

/* The bus with its host bridge, at configuration mechanism #1's ports. NULL: no memory or ports. */
struct kvm_pci *kvm_pci_new(struct kvm_machine *m);
void kvm_pci_free(struct kvm_pci *p); /* what is in it is gone. NULL is allowed */

/*
 * Put a device into the next slot, before the vCPUs run: v, the function that it gets, is set up in
 * any case. 0, -ENOSPC: there is none, and v is untouched; or -errno: what KVM says.
 */
int kvm_pci_plug(struct kvm_pci *p, struct virtio_pci *v, struct virtio_device *d);

/* CONFIG_ADDRESS, as the guest has left it. */
uint32_t kvm_pci_get_address(const struct kvm_pci *p);
void kvm_pci_set_address(struct kvm_pci *p, uint32_t address);

#endif
