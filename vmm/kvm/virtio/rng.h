/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rng.h - a virtio entropy device (5.4 of the specification): random numbers of the host's. */
#ifndef HVTRACE_VMM_KVM_VIRTIO_RNG_H
#define HVTRACE_VMM_KVM_VIRTIO_RNG_H

#include "vmm/kvm/virtio/device.h"

struct virtio_device *rng_new(void); /* NULL: no memory */

#endif
