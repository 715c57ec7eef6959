/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blk.h - a virtio block device (5.2 of the specification) over a disk of the host's. */
#ifndef HVTRACE_VMM_KVM_VIRTIO_BLK_H
#define HVTRACE_VMM_KVM_VIRTIO_BLK_H

#include "vmm/kvm/disk/disk.h"
#include "vmm/kvm/virtio/device.h"

/*
 * name: what the guest is told as the serial number, 20 bytes at most. The disk is closed with the
 * device, and all that was acknowledged is in it then. NULL: no memory, and the disk is the
 * caller's still.
 */
struct virtio_device *blk_new(struct disk *disk, const char *name);

#endif
