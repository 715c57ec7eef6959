/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device.h - a virtio device of whatever kind: its registers, queues and thread (Virtual I/O Device
 * Specification 1.2, chapters 2 and 3).
 *
 * Registers are accessed on the vCPUs' threads; all else happens on the device's own thread, which
 * waits for the queues' kicks. Nothing here makes a vCPU wait: a reset is over when the status says
 * so, which drivers wait for.
 */
#ifndef HVTRACE_VMM_KVM_VIRTIO_DEVICE_H
#define HVTRACE_VMM_KVM_VIRTIO_DEVICE_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm/kvm/virtio/queue.h"

#define VIRTIO_QUEUES_MAX 8
#define VIRTIO_INPUTS_MAX 4
#define VIRTIO_NO_VECTOR  0xffffu

struct virtio_device;

/*
 * A kind of device: one const object in a file of its own. What is called on the device's thread
 * says so; all get what virtio_start() was given.
 */
struct virtio_ops {
	const char *thread; /* its kind, see vmm/thread.h */
	uint16_t id;	    /* chapter 5 of the specification */
	uint32_t pci_class;
	unsigned int nqueues;
	/* Copy from the configuration, of which len bytes from off on are wanted; any thread. */
	void (*read_config)(void *dev, uint32_t off, void *to, size_t len);
	/* There are chains in the queue, perhaps. Device's thread. */
	void (*serve)(void *dev, unsigned int queue);
	/* Queues are served from now on, after what the driver has set up, or after drain().
	 * Device's thread. May be NULL. */
	void (*begin)(void *dev);
	/* All that was taken is given back when this returns. Device's thread. May be NULL. */
	void (*drain)(void *dev);
	/* The driver begins anew: nothing is under way. Device's thread, or a vCPU's. May be NULL.
	 */
	void (*reset)(void *dev);
	/* There is something at virtio_device.input[i]. Device's thread. NULL: it has none. */
	void (*input)(void *dev, unsigned int i);
	/* Its thread has ended. */
	void (*free)(void *dev);
};

struct virtio_queue {
	struct virtq_place place; /* as the driver says */
	_Atomic uint16_t vector;
	bool enabled;
	struct virtq q;
	pthread_mutex_t push_lock;
	int kick_fd; /* eventfd: the driver has added chains */
};

struct virtio_device {
	const struct virtio_ops *ops;
	void *dev;
	uint64_t features; /* that it offers */
	struct virtio_memory memory;
	/* Have the guest interrupted; any thread. */
	void (*interrupt)(void *arg, uint16_t vector);
	void *interrupt_arg;
	/* What else it waits for, as for poll(2), -1 at first; the kind's, on the device's thread.
	 */
	struct pollfd input[VIRTIO_INPUTS_MAX];
	/* Another process serves the queues, which has their kick_fd. Likewise. */
	bool elsewhere;

	pthread_mutex_t lock; /* what follows; and what is the driver's in the queues */
	pthread_cond_t change;
	uint8_t status;
	uint32_t device_select, driver_select;
	uint64_t driver_features;
	uint16_t config_vector, queue_select;
	struct virtio_queue queue[VIRTIO_QUEUES_MAX];
	bool resetting; /* the driver wants a reset, which the thread does */
	bool begun;	/* the driver is ready: all queues are to be looked at */
	bool running, stop, held;
	unsigned int holds;
	int wake_fd; /* eventfd: any of these have changed */
	pthread_t thread;
};

/* Zeroed before. features: those of its kind; 0 or -errno, with nothing to be undone. */
int virtio_init(struct virtio_device *d, const struct virtio_ops *ops, void *dev,
		uint64_t features);
/* Once memory and interrupt are set. 0 or -errno. */
int virtio_start(struct virtio_device *d);
/* What was taken is given back, then its thread ends, and it is freed. NULL is allowed. */
void virtio_free(struct virtio_device *d);

/*
 * From when this is back on the device touches neither guest memory nor what is behind it, until
 * virtio_release(); what it has taken is done before. Calls nest. Not from its own thread.
 */
void virtio_hold(struct virtio_device *d);
void virtio_release(struct virtio_device *d);
/* It is held: no driver knows it any more. */
void virtio_reset(struct virtio_device *d);

/* What a driver has set up, for a snapshot. */
struct virtio_state {
	uint64_t driver_features, id;
	uint32_t device_select, driver_select;
	uint16_t config_vector, queue_select;
	uint8_t status, resetting, padding[2];
	struct virtio_queue_state {
		uint64_t desc, avail, used;
		uint16_t size, vector, next, done;
		uint8_t enabled, padding[7];
	} queue[VIRTIO_QUEUES_MAX];
};

/* It is held. */
void virtio_save(struct virtio_device *d, struct virtio_state *s);
/*
 * Into one that is held, and as it was made; its memory is there. Then all its queues are looked
 * at, and its driver looks for what was given back. 0, or -EINVAL: no such device can be like that.
 */
int virtio_restore(struct virtio_device *d, const struct virtio_state *s);
/* Tell the driver by all vectors: one of them may have been on its way. Any thread. */
void virtio_remind(struct virtio_device *d);

/* --- for the kinds: on the device's thread --------------------------------------------------- */

/*
 * The next chain of a queue. False: there is none, for now; the driver kicks when there is. The
 * driver is told if the queue is broken.
 */
bool virtio_pop(struct virtio_device *d, unsigned int queue, struct virtq_chain *c);
/* The driver does not keep to the specification: nothing goes on before it has reset the device. */
void virtio_broken(struct virtio_device *d);
/* As virtq_unpop(): what has to wait for more than there is in the queue. */
void virtio_unpop(struct virtio_device *d, unsigned int queue, unsigned int n);
/* Give a chain back, with this many bytes written into it. Any thread, until drain() is back. */
void virtio_push(struct virtio_device *d, unsigned int queue, uint16_t head, uint32_t written);
/* The same with n chains, of which the driver sees all or none. */
void virtio_push_all(struct virtio_device *d, unsigned int queue, const struct virtq_used *used,
		     unsigned int n);
/* The driver is told that chains have been given back by another process. */
void virtio_interrupt(struct virtio_device *d, unsigned int queue);
/* What another process has not done is the device's again: see virtq_take_over(). Its driver is
 * ready. */
void virtio_take_over(struct virtio_device *d);
/* Of the features that it offers, those that the driver has taken. */
uint64_t virtio_features(struct virtio_device *d);
/* What it says of itself (read_config()) is another thing now. */
void virtio_changed(struct virtio_device *d);

/* --- for the transport: registers as 4.1.4.3 of the specification has them -------------------- */

uint64_t virtio_read_common(struct virtio_device *d, uint32_t off, unsigned int size);
void virtio_write_common(struct virtio_device *d, uint32_t off, unsigned int size, uint64_t val);
/* As if the driver had written to the queue's doorbell. */
void virtio_kick(struct virtio_device *d, unsigned int queue);

#endif
