/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what device.c and registers.c share. */
#ifndef HVTRACE_VMM_KVM_VIRTIO_LOCAL_H
#define HVTRACE_VMM_KVM_VIRTIO_LOCAL_H

#include "vmm/kvm/virtio/device.h"

/* The device's status, 2.1 of the specification. */
enum {
	STATUS_FEATURES_OK = 8,
	STATUS_DRIVER_OK = 4,
	STATUS_NEEDS_RESET = 64,
};

/* Called with the lock held. */
void virtio_wake_locked(struct virtio_device *d);
void virtio_reset_locked(struct virtio_device *d); /* nothing is under way */
void virtio_begin_locked(struct virtio_device *d); /* the driver is ready */

#endif
