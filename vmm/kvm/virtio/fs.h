/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fs.h - a virtio file system device (5.11 of the specification): a shared folder of the host's. */
#ifndef HVTRACE_VMM_KVM_VIRTIO_FS_H
#define HVTRACE_VMM_KVM_VIRTIO_FS_H

#include "vmm/kvm/share/share.h"
#include "vmm/kvm/virtio/device.h"

#define FS_TAG_SIZE 36

struct fs_config {
	struct share *share;	/* closed with the device */
	const char *tag, *path; /* the caller's, for as long as it lives */
	/* The share has ended: one line, once; the device's thread. */
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/* NULL: no memory, or the share lacks what is needed; it is the caller's still. */
struct virtio_device *fs_new(const struct fs_config *cfg);

#endif
