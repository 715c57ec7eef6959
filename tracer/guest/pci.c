// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pci.c - walks the kernel's buses (drivers/pci/probe.c): all devices of a bus have been found
 * before those behind its bridges.
 */
#include "tracer/guest/pci.h"

#include <errno.h>
#include <inttypes.h>

/* More there are not, or the lists make no sense. */
#define DEVICES_MAX 4096
#define DEPTH_MAX   32

#define RESOURCES	7 /* six regions and the ROM */
#define DRIVER_NAME_MAX 64

#define REGION_FLAG_MASK 0xf	    /* PCI_REGION_FLAG_MASK */
#define IORESOURCE_BUSY	 0x80000000 /* include/linux/ioport.h */

struct pci_layout {
	uint64_t bus_node, bus_devices, bus_number;    /* in struct pci_bus */
	uint64_t dev_node, subordinate, devfn, vendor; /* in struct pci_dev */
	uint64_t device, irq, resource, driver;
	uint64_t start, end, flags; /* in struct resource */
	uint64_t name;		    /* in struct pci_driver */
	uint32_t resource_size;
};

struct pci_walk {
	struct guest_kernel *g;
	struct pci_layout at;
	unsigned int left; /* devices and buses */
	struct text *out;
};

static int layout_learn(struct pci_layout *at, const struct guestsym *gs)
{
	const struct {
		const char *path;
		uint64_t *to;
	} fields[] = {
		{"pci_bus.node", &at->bus_node},
		{"pci_bus.devices", &at->bus_devices},
		{"pci_bus.number", &at->bus_number},
		{"pci_dev.bus_list", &at->dev_node},
		{"pci_dev.subordinate", &at->subordinate},
		{"pci_dev.devfn", &at->devfn},
		{"pci_dev.vendor", &at->vendor},
		{"pci_dev.device", &at->device},
		{"pci_dev.irq", &at->irq},
		{"pci_dev.resource", &at->resource},
		{"pci_dev.driver", &at->driver},
		{"resource.start", &at->start},
		{"resource.end", &at->end},
		{"resource.flags", &at->flags},
		{"pci_driver.name", &at->name},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct guestsym_field f;

		if (guestsym_field(gs, fields[i].path, &f))
			return -ENODATA;
		*fields[i].to = f.offset;
	}
	return guestsym_type_size(gs, "resource", &at->resource_size) ? -ENODATA : 0;
}

/* Little endian; what cannot be read is 0. */
static uint64_t number_at(struct pci_walk *w, uint64_t va, size_t len)
{
	uint64_t value = 0;

	return guest_read(w->g, va, &value, len) ? 0 : value;
}

/* --- a device --------------------------------------------------------------------------------- */

struct pci_region {
	uint64_t start, end, flags;
};

static void read_regions(struct pci_walk *w, uint64_t dev, struct pci_region r[RESOURCES])
{
	for (unsigned int i = 0; i < RESOURCES; i++) {
		uint64_t at = dev + w->at.resource + (uint64_t)i * w->at.resource_size;

		r[i].start = number_at(w, at + w->at.start, 8);
		r[i].end = number_at(w, at + w->at.end, 8);
		r[i].flags = number_at(w, at + w->at.flags, 8);
	}
}

/* As pci_dev_driver(): up to the first character that no name has. */
static void put_driver(struct pci_walk *w, uint64_t dev, const struct pci_region r[RESOURCES])
{
	uint64_t driver = number_at(w, dev + w->at.driver, 8), name;

	for (unsigned int i = 0; !driver && i < RESOURCES; i++) {
		if (r[i].flags & IORESOURCE_BUSY) {
			text_puts(w->out, "compat");
			return;
		}
	}
	name = driver ? number_at(w, driver + w->at.name, 8) : 0;
	for (unsigned int i = 0; name && i < DRIVER_NAME_MAX; i++) {
		char c = (char)number_at(w, name + i, 1);

		if (c <= ' ' || c > '~')
			break;
		text_putc(w->out, c);
	}
}

static void print_device(struct pci_walk *w, uint8_t bus, uint64_t dev)
{
	struct pci_region r[RESOURCES];

	read_regions(w, dev, r);
	text_printf(w->out, "PCIDEV %02x%02x %04x%04x %x", bus,
		    (unsigned int)number_at(w, dev + w->at.devfn, 4),
		    (unsigned int)number_at(w, dev + w->at.vendor, 2),
		    (unsigned int)number_at(w, dev + w->at.device, 2),
		    (unsigned int)number_at(w, dev + w->at.irq, 4));
	for (unsigned int i = 0; i < RESOURCES; i++)
		text_printf(w->out, " %" PRIx64, r[i].start | (r[i].flags & REGION_FLAG_MASK));
	for (unsigned int i = 0; i < RESOURCES; i++)
		text_printf(w->out, " %" PRIx64,
			    r[i].start < r[i].end ? r[i].end - r[i].start + 1 : 0);
	text_putc(w->out, ' ');
	put_driver(w, dev, r);
	text_putc(w->out, '\n');
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Of each entry of a list, by the address of its node; false: it makes no sense, or is too long. */
static bool each(struct pci_walk *w, uint64_t head, void (*fn)(struct pci_walk *, uint64_t, int),
		 int arg)
{
	uint64_t node = number_at(w, head, 8);

	while (node && node != head && w->left) {
		w->left--; /* before those that fn takes */
		fn(w, node, arg);
		node = number_at(w, node, 8);
	}
	return node == head;
}

static void take_device(struct pci_walk *w, uint64_t node, int bus)
{
	print_device(w, (uint8_t)bus, node - w->at.dev_node);
}

static void walk_bus(struct pci_walk *w, uint64_t bus, int depth);

static void take_bridge(struct pci_walk *w, uint64_t node, int depth)
{
	uint64_t bus = number_at(w, node - w->at.dev_node + w->at.subordinate, 8);

	if (bus && depth < DEPTH_MAX)
		walk_bus(w, bus, depth + 1);
}

static void walk_bus(struct pci_walk *w, uint64_t bus, int depth)
{
	uint64_t devices = bus + w->at.bus_devices;

	if (each(w, devices, take_device, (int)number_at(w, bus + w->at.bus_number, 1)))
		each(w, devices, take_bridge, depth);
}

static void take_root(struct pci_walk *w, uint64_t node, int depth)
{
	walk_bus(w, node - w->at.bus_node, depth);
}

void pci_print_devices(struct guest_kernel *g, const struct guestsym *gs, struct text *out)
{
	uint64_t roots = guestsym_addr(gs, "pci_root_buses");
	struct pci_walk w = {.g = g, .left = 2 * DEVICES_MAX, .out = out};

	if (roots && !layout_learn(&w.at, gs))
		each(&w, roots + g->slide, take_root, 0);
}
