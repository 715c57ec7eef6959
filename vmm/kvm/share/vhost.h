/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vhost.h - messages to a process that serves queues: the front-end's side of QEMU's vhost-user
 * protocol (docs/interop/vhost-user.rst there). Each is answered.
 */
#ifndef HVTRACE_VMM_KVM_SHARE_VHOST_H
#define HVTRACE_VMM_KVM_SHARE_VHOST_H

#include "vmm/kvm/share/share.h"

/*
 * fd: connected, and does not wait. 0; -EPIPE: nobody is there any more; -ETIMEDOUT: it has not
 * answered in SHARE_MS; -EPROTO: it has, but nothing that makes sense; -EIO: it refuses;
 * -EOPNOTSUPP: it cannot do what is needed here; or another -errno.
 */
int vhost_begin(int fd, uint64_t *features);
int vhost_set_memory(int fd, const struct share_memory *memory, unsigned int n);
int vhost_set_features(int fd, uint64_t features);
int vhost_start_queue(int fd, unsigned int i, const struct share_queue *q);
int vhost_stop_queue(int fd, unsigned int i, uint16_t *next);
/* Whether within so many ms nobody has the other end any more. What it still says is thrown away.
 */
bool vhost_left(int fd, unsigned int ms);

#endif
