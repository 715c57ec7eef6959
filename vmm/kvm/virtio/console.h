/* SPDX-License-Identifier: GPL-2.0-or-later */
/* console.h - a virtio console device (5.3 of the specification) of one port. */
#ifndef HVTRACE_VMM_KVM_VIRTIO_CONSOLE_H
#define HVTRACE_VMM_KVM_VIRTIO_CONSOLE_H

#include "vmm/kvm/virtio/device.h"

/* output: what the guest writes; the device's thread. May be NULL. NULL: no memory. */
struct virtio_device *console_new(void (*output)(void *arg, const char *text, size_t len),
				  void *arg);
/* Bytes for the guest to read; any thread. Returns how many it took: there is room for some, as
 * long as the guest takes none. */
size_t console_type(struct virtio_device *d, const char *text, size_t len);

#endif
