// SPDX-License-Identifier: GPL-2.0-or-later
/* bus.c - takes the guest's port and memory-mapped I/O to the device that owns the address. */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

int kvm_bus_add(struct kvm_machine *m, const struct pio_device *dev)
{
	if (m->npio == KVM_PIO_MAX)
		return -ENOSPC;
	for (unsigned int i = 0; i < m->npio; i++) {
		if (dev->first <= m->pio[i].last && dev->last >= m->pio[i].first)
			return -EBUSY;
	}
	m->pio[m->npio++] = *dev;
	return 0;
}

static const struct pio_device *bus_find(const struct kvm_machine *m, uint16_t port)
{
	for (unsigned int i = 0; i < m->npio; i++) {
		if (port >= m->pio[i].first && port <= m->pio[i].last)
			return &m->pio[i];
	}
	return NULL;
}

/* An access of one port; string instructions come here once for each of their items. */
static void pio_access(struct kvm_machine *m, uint16_t port, unsigned int size, bool out,
		       uint8_t *data)
{
	const struct pio_device *dev = bus_find(m, port);
	uint32_t val = UINT32_MAX; /* what an empty bus reads as */

	if (out) {
		memcpy(&val, data, size);
		if (dev && dev->out)
			dev->out(dev->dev, port, size, val);
		return;
	}
	if (dev && dev->in)
		val = dev->in(dev->dev, port, size);
	memcpy(data, &val, size);
}

void kvm_bus_pio(struct kvm_vcpu *v)
{
	struct kvm_run *run = v->run;
	uint8_t *data = (uint8_t *)run + run->io.data_offset;

	for (uint32_t i = 0; i < run->io.count; i++)
		pio_access(v->m, run->io.port, run->io.size, run->io.direction == KVM_EXIT_IO_OUT,
			   data + (size_t)i * run->io.size);
}

/*
 * The local APICs and the I/O APIC live in the kernel, and so do doorbells of virtio devices: what
 * comes here is for another register of these, or a probe of an address where nothing answers.
 */
void kvm_bus_mmio(struct kvm_vcpu *v, uint64_t tsc)
{
	struct kvm_machine *m = v->m;
	struct machine_regs regs;
	struct machine_mmio access = {
		.vcpu = v->index,
		.is_write = v->run->mmio.is_write,
		.size = (uint8_t)v->run->mmio.len,
		.pa = v->run->mmio.phys_addr,
		.regs = &regs,
	};

	if (!(m->pci &&
	      kvm_pci_mmio(m->pci, access.pa, v->run->mmio.data, access.size, access.is_write)) &&
	    !access.is_write)
		memset(v->run->mmio.data, 0xff, sizeof(v->run->mmio.data));
	if (!m->cfg.mmio || access.size > sizeof(access.value))
		return;
	memcpy(&access.value, v->run->mmio.data, access.size);
	memcpy(&regs, kvm_vcpu_regs(v), sizeof(regs));
	access.tsc = kvm_vcpu_tsc(v, tsc);
	m->cfg.mmio(&m->base, &access, m->cfg.arg);
	kvm_pause_handler_done(v);
}

int kvm_irq_line(struct kvm_machine *m, unsigned int irq, bool level)
{
	struct kvm_irq_level line = {.irq = irq, .level = level};

	return ioctl(m->vm_fd, KVM_IRQ_LINE, &line) ? -errno : 0;
}
