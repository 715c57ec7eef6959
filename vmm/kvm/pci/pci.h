/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci.h - a PCI bus: functions with a configuration space, one memory BAR and MSI-X each.
 *
 * PCI Local Bus Specification 3.0: 3.2.2.3.2 (configuration mechanism #1), 6.1 (header), 6.2.5.1
 * (base addresses), 6.8.2 (MSI-X). No interrupt pins, no I/O ports, no bridges but the host's.
 *
 * Threads: configuration and BARs are accessed on the vCPUs' threads, several at a time;
 * pci_signal() on any.
 */
#ifndef HVTRACE_VMM_KVM_PCI_PCI_H
#define HVTRACE_VMM_KVM_PCI_PCI_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCI_CONFIG_SIZE 256
#define PCI_SLOTS	32
#define PCI_VECTORS_MAX 16

/* A message that interrupts a vCPU. */
struct pci_msi {
	uint64_t address;
	uint32_t data;
};

/* What takes the messages. Called with the function's lock held: it calls nothing of pci.h. */
struct pci_host {
	/* From now on this is the message of a vector, which can be fired. */
	void (*route)(void *arg, unsigned int vector, const struct pci_msi *msi);
	void (*fire)(void *arg, unsigned int vector);
	void *arg;
};

/*
 * What is behind the BAR, but for its last 8 KiB, which are the MSI-X table's. off + size does not
 * go over that; size is 1 to 8, and off of any alignment.
 */
struct pci_bar {
	uint64_t (*read)(void *arg, uint32_t off, unsigned int size);
	void (*write)(void *arg, uint32_t off, unsigned int size, uint64_t val);
	/* It is at `to` from now on; 0: nowhere. With the function's lock held. May be NULL. */
	void (*moved)(void *arg, uint64_t from, uint64_t to);
	void *arg;
};

#define PCI_MSIX_ROOM 0x2000u

struct pci_identity {
	uint16_t vendor, device, subsystem_vendor, subsystem;
	uint32_t class_code; /* 24 bits: class, subclass, programming interface */
	uint8_t revision;
};

struct pci_vector {
	struct pci_msi msi, routed;
	bool masked, pending, is_routed;
};

struct pci_function {
	struct pci_host host;
	struct pci_bar bar;
	uint32_t bar_size;    /* 0: it has none, nor vectors */
	uint32_t bar_home;    /* where it is until the guest moves it */
	_Atomic uint64_t at;  /* of the BAR; 0: not to be reached */
	pthread_mutex_t lock; /* what follows */
	uint8_t config[PCI_CONFIG_SIZE];
	uint8_t writable[PCI_CONFIG_SIZE]; /* bits that the guest may change */
	uint8_t last_cap, msix_cap;
	uint16_t free_cap;
	unsigned int nvectors;
	struct pci_vector vector[PCI_VECTORS_MAX];
};

/* A function without a BAR, such as the host bridge. */
void pci_function_init(struct pci_function *f, const struct pci_identity *id);
/*
 * The BAR, of 32 bits: size is a power of two with PCI_MSIX_ROOM at its end; at: where it is until
 * the guest moves it, a multiple of the size; nvectors: 1 to PCI_VECTORS_MAX. Before the vCPUs run.
 */
void pci_function_bar(struct pci_function *f, const struct pci_bar *bar, uint32_t size, uint32_t at,
		      const struct pci_host *host, unsigned int nvectors);
/* A capability with this id; bytes: what follows its two bytes of header. Its offset, or -ENOSPC.
 */
int pci_add_capability(struct pci_function *f, uint8_t id, const void *bytes, size_t len);
/* Whatever the guest has written is gone; no vCPU runs. */
void pci_function_reset(struct pci_function *f);
void pci_function_exit(struct pci_function *f);

uint32_t pci_config_read(struct pci_function *f, unsigned int reg, unsigned int size);
void pci_config_write(struct pci_function *f, unsigned int reg, unsigned int size, uint32_t val);
void pci_bar_read(struct pci_function *f, uint32_t off, uint8_t *data, unsigned int size);
void pci_bar_write(struct pci_function *f, uint32_t off, const uint8_t *data, unsigned int size);

/* Interrupt the guest by this vector, or once it unmasks it. What is no vector is ignored. */
void pci_signal(struct pci_function *f, unsigned int vector);

/* All that the guest has changed of a function; for a snapshot, and from one. */
struct pci_state {
	uint8_t config[PCI_CONFIG_SIZE];
	struct pci_vector_state {
		uint64_t address;
		uint32_t data;
		uint8_t masked, pending, padding[2];
	} vector[PCI_VECTORS_MAX];
};

void pci_save(struct pci_function *f, struct pci_state *s);
/*
 * Into one that is as it was made, before the vCPUs run: BAR and messages are where they were. 0,
 * or -EINVAL: the state is that of another function.
 */
int pci_restore(struct pci_function *f, const struct pci_state *s);

/* --- the bus -------------------------------------------------------------------------------- */

struct pci_bus {
	_Atomic uint32_t address; /* CONFIG_ADDRESS */
	struct pci_function *slot[PCI_SLOTS];
};

/* The register CONFIG_DATA, port & 3 of it on. What is not there reads as all ones. */
uint32_t pci_bus_read(struct pci_bus *bus, unsigned int port, unsigned int size);
void pci_bus_write(struct pci_bus *bus, unsigned int port, unsigned int size, uint32_t val);
/* The function whose BAR is there, and the offset in it; NULL: none. */
struct pci_function *pci_bus_find(struct pci_bus *bus, uint64_t pa, unsigned int size,
				  uint32_t *off);

/* --- between function.c and msix.c ------------------------------------------------------------ */

/* Called with the lock held. */
void pci_msix_add(struct pci_function *f, unsigned int nvectors);
void pci_msix_changed(struct pci_function *f); /* its control register was written */
void pci_msix_reset(struct pci_function *f);

/* Take the lock. off: into the room of the table. */
uint64_t pci_msix_read(struct pci_function *f, uint32_t off, unsigned int size);
void pci_msix_write(struct pci_function *f, uint32_t off, unsigned int size, uint64_t val);

#endif
