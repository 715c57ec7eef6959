// SPDX-License-Identifier: GPL-2.0-or-later
/* transport.c - where a driver finds what in the BAR, and how it is interrupted. */
#include "vmm/kvm/virtio/transport.h"

#include <string.h>

#define VENDOR	      0x1af4
#define FIRST_DEVICE  0x1040
#define FIRST_REV     1
#define CAP_VENDOR    0x09
#define DOORBELL_SIZE 4u

/* A page each: a guest may map them with different rights. */
#define PAGE	    0x1000u
#define AT_COMMON   0x0000u
#define AT_ISR	    0x1000u
#define AT_DEVICE   0x2000u
#define AT_DOORBELL 0x3000u
#define AT_END	    0x4000u

enum { CFG_COMMON = 1, CFG_NOTIFY = 2, CFG_ISR = 3, CFG_DEVICE = 4 };

/* --- registers ------------------------------------------------------------------------------- */

static uint64_t bar_read(void *arg, uint32_t off, unsigned int size)
{
	struct virtio_pci *p = arg;
	uint64_t val = 0;

	switch (off & ~(PAGE - 1)) {
	case AT_COMMON:
		return virtio_read_common(p->d, off, size);
	case AT_ISR:
		return atomic_exchange(&p->isr, false);
	case AT_DEVICE:
		if (off + size <= AT_DEVICE + PAGE)
			p->d->ops->read_config(p->d->dev, off - AT_DEVICE, &val, size);
		return val;
	default:
		return 0;
	}
}

/* KVM takes what is written to doorbells itself, but for what it does not know of yet. */
static void bar_write(void *arg, uint32_t off, unsigned int size, uint64_t val)
{
	struct virtio_pci *p = arg;

	if (off < AT_ISR)
		virtio_write_common(p->d, off, size, val);
	else if (off >= AT_DOORBELL && off < AT_END)
		virtio_kick(p->d, (off - AT_DOORBELL) / DOORBELL_SIZE);
}

static void bar_moved(void *arg, uint64_t from, uint64_t to)
{
	struct virtio_pci *p = arg;

	for (unsigned int i = 0; i < p->d->ops->nqueues; i++) {
		uint64_t off = AT_DOORBELL + DOORBELL_SIZE * i;
		int fd = p->d->queue[i].kick_fd;

		if (from)
			p->host.doorbell(p->host.arg, from + off, fd, false);
		if (to)
			p->host.doorbell(p->host.arg, to + off, fd, true);
	}
}

static void interrupt(void *arg, uint16_t vector)
{
	struct virtio_pci *p = arg;

	p->isr = true;
	pci_signal(&p->function, vector);
}

/* --- configuration space -----------------------------------------------------------------------
 */

/* 4.1.4: struct virtio_pci_cap, behind its first two bytes. */
struct virtio_cap {
	uint8_t len, type, bar, id, padding[2];
	uint32_t offset, length;
	uint32_t doorbell_size; /* in that of CFG_NOTIFY only */
} __attribute__((packed));

static void add_structure(struct virtio_pci *p, uint8_t type, uint32_t offset, uint32_t length)
{
	size_t len = type == CFG_NOTIFY ? sizeof(struct virtio_cap)
					: offsetof(struct virtio_cap, doorbell_size);
	const struct virtio_cap cap = {.len = (uint8_t)(len + 2),
				       .type = type,
				       .offset = offset,
				       .length = length,
				       .doorbell_size = DOORBELL_SIZE};

	pci_add_capability(&p->function, CAP_VENDOR, &cap, len);
}

void virtio_pci_init(struct virtio_pci *p, struct virtio_device *d, const struct virtio_host *host,
		     uint32_t bar)
{
	const struct pci_identity id = {.vendor = VENDOR,
					.device = (uint16_t)(FIRST_DEVICE + d->ops->id),
					.subsystem_vendor = VENDOR,
					.subsystem = (uint16_t)(FIRST_DEVICE + d->ops->id),
					.class_code = d->ops->pci_class,
					.revision = FIRST_REV};
	const struct pci_bar ops = {
		.read = bar_read, .write = bar_write, .moved = bar_moved, .arg = p};

	p->d = d;
	p->host = *host;
	d->memory = host->memory;
	d->interrupt = interrupt;
	d->interrupt_arg = p;
	pci_function_init(&p->function, &id);
	pci_function_bar(&p->function, &ops, VIRTIO_PCI_BAR_SIZE, bar, &host->interrupts,
			 d->ops->nqueues + 1);
	add_structure(p, CFG_COMMON, AT_COMMON, PAGE);
	add_structure(p, CFG_ISR, AT_ISR, PAGE);
	add_structure(p, CFG_DEVICE, AT_DEVICE, PAGE);
	add_structure(p, CFG_NOTIFY, AT_DOORBELL, DOORBELL_SIZE * VIRTIO_QUEUES_MAX);
}

void virtio_pci_reset(struct virtio_pci *p)
{
	pci_function_reset(&p->function);
	virtio_reset(p->d);
	p->isr = false;
}

void virtio_pci_exit(struct virtio_pci *p)
{
	pci_function_exit(&p->function);
}
