/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link.h - what a network card's cable leads to: Ethernet frames, without their checksums. One
 * thread at a time; nothing waits.
 */
#ifndef HVTRACE_VMM_KVM_NET_LINK_H
#define HVTRACE_VMM_KVM_NET_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "vmm/devices.h"

#define LINK_FRAME_MIN 14u /* two addresses and a type */
#define LINK_FRAME_MAX 65535u

struct link;

/* The kind is not MACHINE_NET_NONE. NULL: err says why in one line. */
struct link *link_open(const struct machine_net *net, char *err, size_t errlen);
void link_close(struct link *l); /* NULL is allowed */

/* To be polled: readable: a frame may have come; writable: one may be sent, perhaps. */
int link_fd(const struct link *l);
/* The largest packet that goes over it, as the guest should know; 0: whatever it takes for usual.
 */
uint16_t link_mtu(const struct link *l);

/*
 * All of these: 0; -EAGAIN: not now; or another -errno: nothing comes or goes any more.
 *
 * link_ready() says whether a frame can be sent, which link_send() then takes, of LINK_FRAME_MIN to
 * LINK_FRAME_MAX bytes; it may be lost, as on any wire. A frame that was received is the link's,
 * until the next one is.
 */
int link_ready(struct link *l);
int link_send(struct link *l, const struct iovec *iov, unsigned int n, size_t len);
int link_receive(struct link *l, const uint8_t **frame, size_t *len);

#endif
