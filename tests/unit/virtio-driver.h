/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio-driver.h - the driver's side of a virtio device, and the memory of a guest that is not
 * there: what a test writes into a queue, and what becomes of it.
 */
#ifndef HVTRACE_TESTS_VIRTIO_DRIVER_H
#define HVTRACE_TESTS_VIRTIO_DRIVER_H

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "vmm/kvm/virtio/transport.h"

#define RAM_START  0x100000u /* guest-physical; nothing is below */
#define RAM_SIZE   0x100000u
#define QUEUE_SIZE 8u
#define QUEUE_ROOM 0x1000u   /* each queue's rings have such a piece of RAM */
#define DATA	   0x120000u /* behind those */
#define BAR_START  0xd0000000u

enum { NEXT = 1, WRITE = 2, INDIRECT = 4 };

struct test_desc {
	uint64_t pa;
	uint32_t len;
	uint16_t flags, next;
};

struct driver {
	struct virtio_pci pci;
	struct virtio_device *d;
	uint8_t *ram;
	uint16_t added[VIRTIO_QUEUES_MAX], seen[VIRTIO_QUEUES_MAX];
	unsigned int doorbells; /* that KVM would take */
	pthread_mutex_t lock;
	pthread_cond_t fired;
	unsigned int fires[PCI_VECTORS_MAX];
};

static void *ram_ptr(void *arg, uint64_t pa, size_t len)
{
	uint8_t *ram = arg;

	if (pa < RAM_START || pa - RAM_START >= RAM_SIZE || len > RAM_SIZE - (pa - RAM_START))
		return NULL;
	return ram + (pa - RAM_START);
}

static inline void *at(struct driver *v, uint64_t pa)
{
	return v->ram + (pa - RAM_START);
}

/* --- registers ----------------------------------------------------------------------------- */

static inline uint64_t reg_get(struct driver *v, uint32_t off, unsigned int size)
{
	uint8_t bytes[8] = {0};
	uint64_t val;

	pci_bar_read(&v->pci.function, off, bytes, size);
	memcpy(&val, bytes, sizeof(val));
	return val;
}

static inline void reg_put(struct driver *v, uint32_t off, unsigned int size, uint64_t val)
{
	uint8_t bytes[8];

	memcpy(bytes, &val, sizeof(bytes));
	pci_bar_write(&v->pci.function, off, bytes, size);
}

static inline uint64_t offered(struct driver *v)
{
	uint64_t low;

	reg_put(v, 0x00, 4, 0);
	low = reg_get(v, 0x04, 4);
	reg_put(v, 0x00, 4, 1);
	return low | reg_get(v, 0x04, 4) << 32;
}

static inline void accept_features(struct driver *v, uint64_t features)
{
	for (unsigned int i = 0; i < 2; i++) {
		reg_put(v, 0x08, 4, i);
		reg_put(v, 0x0c, 4, features >> 32 * i & UINT32_MAX);
	}
}

static inline uint64_t desc_at(unsigned int queue)
{
	return RAM_START + queue * QUEUE_ROOM;
}

static inline uint64_t avail_at(unsigned int queue)
{
	return desc_at(queue) + 0x400;
}

static inline uint64_t used_at(unsigned int queue)
{
	return desc_at(queue) + 0x800;
}

/* 3.1.1 of the specification, with a vector for each queue; without: the driver looks itself. */
static inline void driver_begin(struct driver *v, uint64_t features)
{
	reg_put(v, 0x14, 1, 0);
	while (reg_get(v, 0x14, 1))
		; /* what is under way is done first */
	memset(v->ram, 0, DATA - RAM_START);
	memset(v->added, 0, sizeof(v->added));
	memset(v->seen, 0, sizeof(v->seen));
	reg_put(v, 0x14, 1, 3);
	accept_features(v, features);
	reg_put(v, 0x14, 1, 11);
	for (unsigned int q = 0; q < v->d->ops->nqueues; q++) {
		reg_put(v, 0x16, 2, q);
		reg_put(v, 0x18, 2, QUEUE_SIZE);
		reg_put(v, 0x1a, 2, q + 1);
		reg_put(v, 0x20, 8, desc_at(q));
		reg_put(v, 0x28, 4, avail_at(q));
		reg_put(v, 0x2c, 4, 0);
		reg_put(v, 0x30, 8, used_at(q));
		reg_put(v, 0x1c, 2, 1);
	}
	reg_put(v, 0x14, 1, 15);
}

/* --- queues -------------------------------------------------------------------------------- */

static inline void set_desc(struct driver *v, unsigned int queue, unsigned int i,
			    struct test_desc d)
{
	memcpy((uint8_t *)at(v, desc_at(queue)) + 16 * i, &d, sizeof(d));
}

static inline void add_chain(struct driver *v, unsigned int queue, uint16_t head)
{
	uint8_t *avail = at(v, avail_at(queue));

	memcpy(avail + 4 + 2 * (v->added[queue]++ % QUEUE_SIZE), &head, 2);
	__atomic_store_n((uint16_t *)(void *)(avail + 2), v->added[queue], __ATOMIC_SEQ_CST);
}

static inline void kick(struct driver *v, unsigned int queue)
{
	reg_put(v, 0x3000 + 4 * queue, 2, queue);
}

static inline uint16_t used_index(struct driver *v, unsigned int queue)
{
	return __atomic_load_n((uint16_t *)(void *)((uint8_t *)at(v, used_at(queue)) + 2),
			       __ATOMIC_SEQ_CST);
}

/* The next chain that comes back, its head; *len: how much the device says it has written. */
static inline uint32_t wait_used(struct driver *v, unsigned int queue, uint32_t *len)
{
	uint32_t entry[2];

	while (used_index(v, queue) == v->seen[queue])
		sched_yield();
	memcpy(entry, (uint8_t *)at(v, used_at(queue)) + 4 + 8 * (v->seen[queue]++ % QUEUE_SIZE),
	       sizeof(entry));
	if (len)
		*len = entry[1];
	return entry[0];
}

static inline void wait_fire(struct driver *v, unsigned int vector, unsigned int times)
{
	pthread_mutex_lock(&v->lock);
	while (v->fires[vector] < times)
		pthread_cond_wait(&v->fired, &v->lock);
	pthread_mutex_unlock(&v->lock);
}

static inline void wait_status(struct driver *v, uint8_t bit)
{
	while (!(reg_get(v, 0x14, 1) & bit))
		sched_yield();
}

/* What is under way is done first. */
static inline void reset(struct driver *v)
{
	reg_put(v, 0x14, 1, 0);
	while (reg_get(v, 0x14, 1))
		sched_yield();
}

/* --- life ---------------------------------------------------------------------------------- */

static void on_route(void *arg, unsigned int vector, const struct pci_msi *msi)
{
	(void)arg, (void)vector, (void)msi;
}

static void on_fire(void *arg, unsigned int vector)
{
	struct driver *v = arg;

	pthread_mutex_lock(&v->lock);
	v->fires[vector]++;
	pthread_cond_broadcast(&v->fired);
	pthread_mutex_unlock(&v->lock);
}

static void on_doorbell(void *arg, uint64_t pa, int fd, bool on)
{
	struct driver *v = arg;

	(void)pa, (void)fd;
	v->doorbells += on ? 1 : -1u;
}

/* With all vectors open. False: no memory. */
static inline bool driver_init(struct driver *v, struct virtio_device *d)
{
	const struct virtio_host host = {.doorbell = on_doorbell,
					 .arg = v,
					 .interrupts = {on_route, on_fire, v},
					 .memory = {ram_ptr, NULL}};

	memset(v, 0, sizeof(*v));
	v->ram = calloc(1, RAM_SIZE);
	v->d = d;
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->fired, NULL);
	virtio_pci_init(&v->pci, d, &host, BAR_START);
	d->memory.arg = v->ram;
	pci_config_write(&v->pci.function, 4, 2, 2);
	pci_config_write(&v->pci.function, v->pci.function.msix_cap + 2u, 2, 0x8000);
	for (unsigned int i = 0; i <= d->ops->nqueues; i++)
		reg_put(v, 0x6000 + 16 * i + 12, 4, 0);
	return v->ram && !virtio_start(d);
}

static inline void driver_exit(struct driver *v)
{
	virtio_free(v->d);
	virtio_pci_exit(&v->pci);
	pthread_cond_destroy(&v->fired);
	pthread_mutex_destroy(&v->lock);
	free(v->ram);
}

#endif
