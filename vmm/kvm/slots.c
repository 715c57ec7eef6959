// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slots.c - the PCI bus of the machine: its ports, its memory, and what KVM does for it: messages
 * are sent by eventfds (irqfd), and writes to doorbells signal some (ioeventfd).
 */
#include "vmm/kvm/slots.h"
#include "vmm/kvm/local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PORT_ADDRESS 0xcf8
#define PORT_DATA    0xcfc

/* Those of KVM's irqchip, which it has by default: ISA lines at the 8259s and the I/O APIC. */
#define ISA_LINES    16
#define IOAPIC_LINES 24
#define CHIP_ROUTES  (ISA_LINES + IOAPIC_LINES)
#define ROUTES_MAX   (CHIP_ROUTES + PCI_SLOTS * PCI_VECTORS_MAX)

/* The first is the bridge's. */
struct kvm_pci_slot {
	struct kvm_pci *pci;
	unsigned int first_gsi, nvectors;
	int fd[PCI_VECTORS_MAX]; /* eventfds, one per vector */
};

struct kvm_pci {
	struct kvm_machine *m;
	struct pci_bus bus;
	struct pci_function bridge;
	struct kvm_pci_slot slot[PCI_SLOTS];
	unsigned int nslots;
	pthread_mutex_t lock; /* routes */
	unsigned int ngsis;
	struct kvm_irq_routing *routes; /* ROUTES_MAX at most */
};

/* --- on the buses ------------------------------------------------------------------------------
 */

/* Bytes at it are other registers: the reset one is at 0xcf9. */
static void address_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct kvm_pci *p = dev;

	(void)port;
	if (size == 4)
		p->bus.address = val;
}

static uint32_t address_in(void *dev, uint16_t port, unsigned int size)
{
	struct kvm_pci *p = dev;

	(void)port;
	return size == 4 ? p->bus.address : UINT32_MAX;
}

static void data_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct kvm_pci *p = dev;

	pci_bus_write(&p->bus, port, size, val);
}

static uint32_t data_in(void *dev, uint16_t port, unsigned int size)
{
	struct kvm_pci *p = dev;

	return pci_bus_read(&p->bus, port, size);
}

static int put_on_bus(struct kvm_pci *p)
{
	const struct pio_device address = {.name = "pci-address",
					   .first = PORT_ADDRESS,
					   .last = PORT_ADDRESS,
					   .in = address_in,
					   .out = address_out,
					   .dev = p};
	const struct pio_device data = {.name = "pci-data",
					.first = PORT_DATA,
					.last = PORT_DATA + 3,
					.in = data_in,
					.out = data_out,
					.dev = p};
	int rc = kvm_bus_add(p->m, &address);

	return rc ? rc : kvm_bus_add(p->m, &data);
}

bool kvm_pci_mmio(struct kvm_pci *p, uint64_t pa, uint8_t *data, unsigned int size, bool write)
{
	uint32_t off;
	struct pci_function *f = pci_bus_find(&p->bus, pa, size, &off);

	if (!f)
		return false;
	if (write)
		pci_bar_write(f, off, data, size);
	else
		pci_bar_read(f, off, data, size);
	return true;
}

/* --- interrupts and doorbells ------------------------------------------------------------------
 */

static void route_chip(struct kvm_pci *p, unsigned int gsi, unsigned int chip, unsigned int pin)
{
	p->routes->entries[p->routes->nr++] = (struct kvm_irq_routing_entry){
		.gsi = gsi,
		.type = KVM_IRQ_ROUTING_IRQCHIP,
		.u.irqchip = {.irqchip = chip, .pin = pin},
	};
}

/* KVM takes the whole table each time. */
static void route_chips(struct kvm_pci *p)
{
	for (unsigned int i = 0; i < IOAPIC_LINES; i++)
		route_chip(p, i, KVM_IRQCHIP_IOAPIC, i);
	for (unsigned int i = 0; i < ISA_LINES; i++)
		route_chip(p, i, i < 8 ? KVM_IRQCHIP_PIC_MASTER : KVM_IRQCHIP_PIC_SLAVE, i % 8);
	p->ngsis = IOAPIC_LINES;
}

static struct kvm_irq_routing_entry *route_of(struct kvm_pci *p, unsigned int gsi)
{
	for (unsigned int i = CHIP_ROUTES; i < p->routes->nr; i++)
		if (p->routes->entries[i].gsi == gsi)
			return &p->routes->entries[i];
	return &p->routes->entries[p->routes->nr++];
}

static void slot_route(void *arg, unsigned int vector, const struct pci_msi *msi)
{
	struct kvm_pci_slot *s = arg;
	struct kvm_pci *p = s->pci;
	int rc;

	pthread_mutex_lock(&p->lock);
	*route_of(p, s->first_gsi + vector) = (struct kvm_irq_routing_entry){
		.gsi = s->first_gsi + vector,
		.type = KVM_IRQ_ROUTING_MSI,
		.u.msi = {.address_lo = (uint32_t)msi->address,
			  .address_hi = (uint32_t)(msi->address >> 32),
			  .data = msi->data},
	};
	rc = ioctl(p->m->vm_fd, KVM_SET_GSI_ROUTING, p->routes);
	if (rc)
		machine_message(&p->m->base, MACHINE_MSG_WARN,
				"KVM does not take the interrupt of a device: %s", strerror(errno));
	pthread_mutex_unlock(&p->lock);
}

static void slot_fire(void *arg, unsigned int vector)
{
	struct kvm_pci_slot *s = arg;

	eventfd_write(s->fd[vector], 1);
}

/* Where KVM does not take it, as two are at one address, what is written comes by an exit. */
static void slot_doorbell(void *arg, uint64_t pa, int fd, bool on)
{
	struct kvm_pci_slot *s = arg;
	struct kvm_ioeventfd bell = {
		.addr = pa, .fd = fd, .flags = on ? 0 : KVM_IOEVENTFD_FLAG_DEASSIGN};

	ioctl(s->pci->m->vm_fd, KVM_IOEVENTFD, &bell);
}

static int slot_open(struct kvm_pci_slot *s, unsigned int vector)
{
	struct kvm_irqfd irq = {.gsi = s->first_gsi + vector};
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	s->fd[s->nvectors++] = fd;
	irq.fd = (uint32_t)fd;
	return ioctl(s->pci->m->vm_fd, KVM_IRQFD, &irq) ? -errno : 0;
}

/* --- slots -------------------------------------------------------------------------------------
 */

static void *memory_ptr(void *arg, uint64_t pa, size_t len)
{
	return kvm_host_ptr(arg, pa, len);
}

int kvm_pci_plug(struct kvm_pci *p, struct virtio_pci *v, struct virtio_device *d)
{
	struct kvm_pci_slot *s = &p->slot[p->nslots];
	const struct virtio_host host = {
		.memory = {memory_ptr, p->m},
		.interrupts = {slot_route, slot_fire, s},
		.doorbell = slot_doorbell,
		.arg = s,
	};
	int rc = 0;

	if (p->nslots == PCI_SLOTS)
		return -ENOSPC;
	s->pci = p;
	s->first_gsi = p->ngsis;
	while (s->nvectors <= d->ops->nqueues && !rc)
		rc = slot_open(s, s->nvectors);
	p->ngsis += s->nvectors;
	virtio_pci_init(v, d, &host, (uint32_t)(KVM_PCI_START + p->nslots * VIRTIO_PCI_BAR_SIZE));
	p->bus.slot[p->nslots++] = &v->function;
	return rc;
}

uint32_t kvm_pci_get_address(const struct kvm_pci *p)
{
	return p->bus.address;
}

void kvm_pci_set_address(struct kvm_pci *p, uint32_t address)
{
	p->bus.address = address;
}

/* --- life --------------------------------------------------------------------------------------
 */

struct kvm_pci *kvm_pci_new(struct kvm_machine *m)
{
	/* QEMU's host bridge: one that no driver wants to do anything with. */
	static const struct pci_identity bridge = {
		.vendor = 0x1b36, .device = 0x0008, .class_code = 0x060000};
	struct kvm_pci *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->m = m;
	pthread_mutex_init(&p->lock, NULL);
	pci_function_init(&p->bridge, &bridge);
	p->bus.slot[p->nslots++] = &p->bridge;
	p->routes = calloc(1, sizeof(*p->routes) + ROUTES_MAX * sizeof(p->routes->entries[0]));
	if (!p->routes || put_on_bus(p)) {
		kvm_pci_free(p);
		return NULL;
	}
	route_chips(p);
	return p;
}

void kvm_pci_free(struct kvm_pci *p)
{
	if (!p)
		return;
	for (unsigned int i = 1; i < p->nslots; i++)
		for (unsigned int k = 0; k < p->slot[i].nvectors; k++)
			close(p->slot[i].fd[k]);
	pci_function_exit(&p->bridge);
	pthread_mutex_destroy(&p->lock);
	free(p->routes);
	free(p);
}
