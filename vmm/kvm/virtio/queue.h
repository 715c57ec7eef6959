/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue.h - the device's side of a split virtqueue (Virtual I/O Device Specification 1.2, 2.7).
 *
 * All of it lies in guest memory, which the guest may change at any time, to anything: every word
 * is read once, into memory of our own, and only that is checked and used. What a sound driver
 * never does makes the queue broken, for good.
 *
 * Threads: one takes chains (virtq_pop() and virtq_wants_kick()), one at a time gives them back
 * (virtq_push()); the two need no lock against each other.
 */
#ifndef HVTRACE_VMM_KVM_VIRTIO_QUEUE_H
#define HVTRACE_VMM_KVM_VIRTIO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define VIRTQ_MAX 256 /* descriptors of a queue, and buffers of a chain */

#define VIRTIO_F_INDIRECT_DESC (UINT64_C(1) << 28)
#define VIRTIO_F_EVENT_IDX     (UINT64_C(1) << 29)
#define VIRTIO_F_VERSION_1     (UINT64_C(1) << 32)

/* The host's address of [pa, pa + len), which stays valid; NULL: some of it is not RAM. */
struct virtio_memory {
	void *(*ptr)(void *arg, uint64_t pa, size_t len);
	void *arg;
};

/* Where the driver has put it. */
struct virtq_place {
	uint16_t size;
	uint64_t desc, avail, used; /* guest-physical */
};

struct virtq {
	struct virtio_memory memory;
	uint16_t size;
	bool event_idx, indirect;
	uint8_t *desc, *avail, *used;
	uint16_t next; /* the avail ring's entry that is taken next */
	uint16_t done; /* the used ring's entry that is written next */
};

/*
 * Buffers of the guest's: those that the device reads, then those that it writes. No buffer is
 * empty.
 */
struct virtq_chain {
	uint16_t head;
	unsigned int nout, nin; /* iov[0] to iov[nout - 1], and nin behind them */
	size_t out_len, in_len;
	struct iovec iov[VIRTQ_MAX];
};

/* 0; -EINVAL: the size or an alignment is wrong; -EFAULT: not RAM. features: as negotiated. */
int virtq_start(struct virtq *q, const struct virtio_memory *memory,
		const struct virtq_place *place, uint64_t features);
/* Go on behind somebody who has served it, and has given everything back in the order in which it
 * came: what was not is taken once more. */
void virtq_take_over(struct virtq *q);
/* The next chain: 1; 0: there is none; or -errno: the queue is broken. */
int virtq_pop(struct virtq *q, struct virtq_chain *c);
/* Ask for a kick when more comes. False: more has come meanwhile, so look again. */
bool virtq_wants_kick(struct virtq *q);
/* As if the last n chains had not been taken. Before another one is, or any of them is given back.
 */
void virtq_unpop(struct virtq *q, unsigned int n);

/* A chain that is given back, with this many bytes written. As the ring has it. */
struct virtq_used {
	uint32_t head, written;
};

/* Give n chains back, of which the driver sees all or none. True: it wants an interrupt for them.
 */
bool virtq_push(struct virtq *q, const struct virtq_used *used, unsigned int n);

/* Copy the first len bytes that the device may read; false: there are fewer. They are gone then. */
bool virtq_take(struct virtq_chain *c, void *to, size_t len);
/* Copy to what the device may write, from byte `off` of that on; how much there was room for. */
size_t virtq_put(const struct virtq_chain *c, size_t off, const void *from, size_t len);
/* The last byte that the device may write, which is not among the others any more; NULL: none. */
uint8_t *virtq_cut_last(struct virtq_chain *c);

#endif
