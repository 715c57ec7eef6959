/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream.h - frames by a stream socket, each behind its length: 4 bytes, the highest first, as
 * QEMU's "-netdev stream" and passt have it.
 */
#ifndef HVTRACE_VMM_KVM_NET_STREAM_H
#define HVTRACE_VMM_KVM_NET_STREAM_H

#include "vmm/kvm/net/link.h"

#define STREAM_FRAME_MAX (4u + LINK_FRAME_MAX) /* with its length */

/* What is read at a time: much, as passt loses what finds no room in the socket, and then waits for
 * seconds before it sends that again. */
#define STREAM_ROOM (1u << 20)

/* Zeroed before, but for fd, which is the caller's, does not wait, and is connected. */
struct stream {
	int fd;
	uint8_t in[STREAM_ROOM];
	size_t in_from, in_to; /* what has been read of that, and is not taken yet */
	uint8_t out[STREAM_FRAME_MAX];
	size_t out_from, out_to; /* of a frame whose beginning is sent */
};

/* As those of link.h. */
int stream_ready(struct stream *s);
int stream_send(struct stream *s, const struct iovec *iov, unsigned int n, size_t len);
int stream_receive(struct stream *s, const uint8_t **frame, size_t *len);

#endif
