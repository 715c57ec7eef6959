// SPDX-License-Identifier: GPL-2.0-or-later
/* bus.c - from CONFIG_ADDRESS, or an address of memory, to the function that is meant. */
#include "vmm/kvm/pci/pci.h"

#define ADDRESS_ENABLE (UINT32_C(1) << 31)

/* NULL: nothing is there. There is one bus, and each device has one function. */
static struct pci_function *bus_selected(const struct pci_bus *bus, unsigned int *reg)
{
	uint32_t address = bus->address;

	*reg = address & 0xfc;
	if (!(address & ADDRESS_ENABLE) || (address >> 16 & 0xff) || (address >> 8 & 7))
		return NULL;
	return bus->slot[address >> 11 & (PCI_SLOTS - 1)];
}

uint32_t pci_bus_read(struct pci_bus *bus, unsigned int port, unsigned int size)
{
	unsigned int reg;
	struct pci_function *f = bus_selected(bus, &reg);

	return f ? pci_config_read(f, reg + (port & 3), size) : UINT32_MAX;
}

void pci_bus_write(struct pci_bus *bus, unsigned int port, unsigned int size, uint32_t val)
{
	unsigned int reg;
	struct pci_function *f = bus_selected(bus, &reg);

	if (f)
		pci_config_write(f, reg + (port & 3), size, val);
}

struct pci_function *pci_bus_find(struct pci_bus *bus, uint64_t pa, unsigned int size,
				  uint32_t *off)
{
	for (unsigned int i = 0; i < PCI_SLOTS; i++) {
		struct pci_function *f = bus->slot[i];
		uint64_t at = f ? f->at : 0;

		if (!at || pa < at || pa - at > f->bar_size - size)
			continue;
		*off = (uint32_t)(pa - at);
		return f;
	}
	return NULL;
}
