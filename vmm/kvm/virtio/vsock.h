/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vsock.h - a virtio socket device (5.10 of the specification), whose host is hvtrace itself: each
 * stream is one connection that a program in the guest makes.
 */
#ifndef HVTRACE_VMM_KVM_VIRTIO_VSOCK_H
#define HVTRACE_VMM_KVM_VIRTIO_VSOCK_H

#include "vmm/devices.h"
#include "vmm/kvm/virtio/device.h"

/* n streams, MACHINE_MAX_STREAMS at most; their sockets are duplicated. NULL: no memory, or no more
 * descriptors. */
struct virtio_device *vsock_new(const struct machine_stream *stream, size_t n);

#endif
