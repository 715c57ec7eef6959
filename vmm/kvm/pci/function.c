// SPDX-License-Identifier: GPL-2.0-or-later
/* function.c - the configuration space of a function, and what is behind its BAR. */
#include "vmm/kvm/pci/pci.h"

#include <errno.h>
#include <string.h>

/* The header's registers, as of the specification's figure 6-1. */
enum {
	REG_VENDOR = 0x00,
	REG_DEVICE = 0x02,
	REG_COMMAND = 0x04,
	REG_STATUS = 0x06,
	REG_REVISION = 0x08,
	REG_CLASS = 0x09,
	REG_BAR0 = 0x10,
	REG_SUBSYSTEM_VENDOR = 0x2c,
	REG_SUBSYSTEM = 0x2e,
	REG_CAPABILITIES = 0x34,
	REG_INTERRUPT_LINE = 0x3c,
	HEADER_END = 0x40,
};

enum { COMMAND_MEMORY = 1 << 1, COMMAND_MASTER = 1 << 2, COMMAND_INTX_OFF = 1 << 10 };
enum { STATUS_CAPABILITIES = 1 << 4 };

static void put(uint8_t *to, uint32_t val, unsigned int size)
{
	memcpy(to, &val, size); /* both are little-endian */
}

static uint32_t get32(const uint8_t *from)
{
	uint32_t val;

	memcpy(&val, from, sizeof(val));
	return val;
}

void pci_function_init(struct pci_function *f, const struct pci_identity *id)
{
	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	put(f->config + REG_VENDOR, id->vendor, 2);
	put(f->config + REG_DEVICE, id->device, 2);
	put(f->config + REG_REVISION, id->revision, 1);
	put(f->config + REG_CLASS, id->class_code, 3);
	put(f->config + REG_SUBSYSTEM_VENDOR, id->subsystem_vendor, 2);
	put(f->config + REG_SUBSYSTEM, id->subsystem, 2);
	put(f->writable + REG_COMMAND, COMMAND_MASTER | COMMAND_INTX_OFF, 2);
	f->writable[REG_INTERRUPT_LINE] = 0xff;
	f->free_cap = HEADER_END;
}

void pci_function_exit(struct pci_function *f)
{
	pthread_mutex_destroy(&f->lock);
}

int pci_add_capability(struct pci_function *f, uint8_t id, const void *bytes, size_t len)
{
	uint16_t at = f->free_cap;

	if (len + 2 > (size_t)PCI_CONFIG_SIZE - at)
		return -ENOSPC;
	f->config[at] = id;
	memcpy(f->config + at + 2, bytes, len);
	f->config[f->last_cap ? f->last_cap + 1 : REG_CAPABILITIES] = (uint8_t)at;
	f->config[REG_STATUS] |= STATUS_CAPABILITIES;
	f->last_cap = (uint8_t)at;
	f->free_cap = (uint16_t)((at + 2 + len + 3) & ~(size_t)3);
	return at;
}

void pci_function_bar(struct pci_function *f, const struct pci_bar *bar, uint32_t size, uint32_t at,
		      const struct pci_host *host, unsigned int nvectors)
{
	f->bar = *bar;
	f->bar_size = size;
	f->bar_home = at;
	f->host = *host;
	put(f->config + REG_BAR0, at, 4);
	put(f->writable + REG_BAR0, ~(size - 1), 4);
	f->writable[REG_COMMAND] |= COMMAND_MEMORY;
	pci_msix_add(f, nvectors);
}

/* Called with the lock held, when a register that says where the BAR is was written. */
static void bar_changed(struct pci_function *f)
{
	uint64_t to = f->config[REG_COMMAND] & COMMAND_MEMORY ? get32(f->config + REG_BAR0) : 0;
	uint64_t from = f->at;

	if (!f->bar_size || to == from)
		return;
	f->at = to;
	if (f->bar.moved)
		f->bar.moved(f->bar.arg, from, to);
}

/* All that the guest may write is 0 at first, but for the BAR. */
void pci_function_reset(struct pci_function *f)
{
	pthread_mutex_lock(&f->lock);
	for (unsigned int i = 0; i < PCI_CONFIG_SIZE; i++)
		f->config[i] &= (uint8_t)~f->writable[i];
	if (f->bar_size)
		put(f->config + REG_BAR0, f->bar_home, 4);
	pci_msix_reset(f);
	bar_changed(f);
	pthread_mutex_unlock(&f->lock);
}

static bool within(unsigned int reg, unsigned int size)
{
	return reg < PCI_CONFIG_SIZE && size <= PCI_CONFIG_SIZE - reg;
}

uint32_t pci_config_read(struct pci_function *f, unsigned int reg, unsigned int size)
{
	uint32_t val = 0;

	if (!within(reg, size))
		return UINT32_MAX;
	pthread_mutex_lock(&f->lock);
	memcpy(&val, f->config + reg, size);
	pthread_mutex_unlock(&f->lock);
	return val;
}

void pci_config_write(struct pci_function *f, unsigned int reg, unsigned int size, uint32_t val)
{
	if (!within(reg, size))
		return;
	pthread_mutex_lock(&f->lock);
	for (unsigned int i = reg; i < reg + size; i++, val >>= 8) {
		f->config[i] &= (uint8_t)~f->writable[i];
		f->config[i] |= (uint8_t)val & f->writable[i];
	}
	bar_changed(f);
	if (f->nvectors && reg < f->msix_cap + 4u && reg + size > f->msix_cap)
		pci_msix_changed(f);
	pthread_mutex_unlock(&f->lock);
}

void pci_bar_read(struct pci_function *f, uint32_t off, uint8_t *data, unsigned int size)
{
	uint32_t room = f->bar_size - PCI_MSIX_ROOM;
	uint64_t val = UINT64_MAX;

	if (off >= room)
		val = pci_msix_read(f, off - room, size);
	else if (size <= room - off)
		val = f->bar.read(f->bar.arg, off, size);
	memcpy(data, &val, size);
}

void pci_bar_write(struct pci_function *f, uint32_t off, const uint8_t *data, unsigned int size)
{
	uint32_t room = f->bar_size - PCI_MSIX_ROOM;
	uint64_t val = 0;

	memcpy(&val, data, size);
	if (off >= room)
		pci_msix_write(f, off - room, size, val);
	else if (size <= room - off)
		f->bar.write(f->bar.arg, off, size, val);
}
