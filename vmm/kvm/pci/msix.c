// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * msix.c - MSI-X: which messages a function has, and which of them wait for being unmasked.
 *
 * The table has a page of its own, and the pending bits the next one.
 */
#include <string.h>

#include "vmm/kvm/pci/pci.h"

#define CAP_MSIX     0x11
#define PENDING_PAGE 0x1000u
#define ENTRY_SIZE   16

enum { CONTROL_MASK = 1 << 14, CONTROL_ENABLE = 1 << 15 };
enum { ENTRY_ADDRESS = 0, ENTRY_DATA = 8, ENTRY_CONTROL = 12 };

void pci_msix_add(struct pci_function *f, unsigned int nvectors)
{
	uint32_t table = f->bar_size - PCI_MSIX_ROOM, pending = table + PENDING_PAGE;
	uint16_t control = (uint16_t)(nvectors - 1);
	uint8_t bytes[10];
	int at;

	memcpy(bytes, &control, 2);
	memcpy(bytes + 2, &table, 4); /* its lowest bits: BAR 0 */
	memcpy(bytes + 6, &pending, 4);
	at = pci_add_capability(f, CAP_MSIX, bytes, sizeof(bytes));
	if (at < 0)
		return;
	f->msix_cap = (uint8_t)at;
	f->nvectors = nvectors;
	f->writable[at + 3] = (CONTROL_ENABLE | CONTROL_MASK) >> 8;
	for (unsigned int i = 0; i < nvectors; i++)
		f->vector[i].masked = true;
}

/* What the host has a vector routed to stays until it is another message. */
void pci_msix_reset(struct pci_function *f)
{
	for (unsigned int i = 0; i < f->nvectors; i++) {
		struct pci_vector *v = &f->vector[i];

		v->msi = (struct pci_msi){0};
		v->masked = true;
		v->pending = false;
	}
}

static bool is_open(const struct pci_function *f, const struct pci_vector *v)
{
	return (f->config[f->msix_cap + 3] & (CONTROL_ENABLE | CONTROL_MASK) >> 8) ==
		       CONTROL_ENABLE >> 8 &&
	       !v->masked;
}

/* Called with the lock held. */
static void vector_changed(struct pci_function *f, unsigned int i)
{
	struct pci_vector *v = &f->vector[i];

	if (!is_open(f, v))
		return;
	if (!v->is_routed || v->msi.address != v->routed.address || v->msi.data != v->routed.data) {
		v->routed = v->msi;
		v->is_routed = true;
		f->host.route(f->host.arg, i, &v->msi);
	}
	if (v->pending)
		f->host.fire(f->host.arg, i);
	v->pending = false;
}

void pci_msix_changed(struct pci_function *f)
{
	for (unsigned int i = 0; i < f->nvectors; i++)
		vector_changed(f, i);
}

void pci_signal(struct pci_function *f, unsigned int vector)
{
	if (vector >= f->nvectors)
		return;
	pthread_mutex_lock(&f->lock);
	if (is_open(f, &f->vector[vector]))
		f->host.fire(f->host.arg, vector);
	else
		f->vector[vector].pending = true;
	pthread_mutex_unlock(&f->lock);
}

/* Called with the lock held. The table as the guest sees it. */
static void entry_get(const struct pci_vector *v, uint8_t bytes[ENTRY_SIZE])
{
	uint32_t control = v->masked;

	memcpy(bytes + ENTRY_ADDRESS, &v->msi.address, 8);
	memcpy(bytes + ENTRY_DATA, &v->msi.data, 4);
	memcpy(bytes + ENTRY_CONTROL, &control, 4);
}

static void entry_set(struct pci_vector *v, const uint8_t bytes[ENTRY_SIZE])
{
	memcpy(&v->msi.address, bytes + ENTRY_ADDRESS, 8);
	memcpy(&v->msi.data, bytes + ENTRY_DATA, 4);
	v->masked = bytes[ENTRY_CONTROL] & 1;
}

static uint64_t pending_bits(const struct pci_function *f)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < f->nvectors; i++)
		bits |= (uint64_t)f->vector[i].pending << i;
	return bits;
}

/* The entry that these bytes belong to, all of them; -1: none. */
static int entry_of(const struct pci_function *f, uint32_t off, unsigned int size)
{
	uint32_t i = off / ENTRY_SIZE;

	return i < f->nvectors && off % ENTRY_SIZE + size <= ENTRY_SIZE ? (int)i : -1;
}

uint64_t pci_msix_read(struct pci_function *f, uint32_t off, unsigned int size)
{
	int i = entry_of(f, off, size);
	uint8_t bytes[ENTRY_SIZE];
	uint64_t val = 0;

	pthread_mutex_lock(&f->lock);
	if (i >= 0) {
		entry_get(&f->vector[i], bytes);
		memcpy(&val, bytes + off % ENTRY_SIZE, size);
	} else if (off >= PENDING_PAGE && off < PENDING_PAGE + 8) {
		val = pending_bits(f) >> 8 * (off - PENDING_PAGE);
	}
	pthread_mutex_unlock(&f->lock);
	return val;
}

void pci_msix_write(struct pci_function *f, uint32_t off, unsigned int size, uint64_t val)
{
	int i = entry_of(f, off, size);
	uint8_t bytes[ENTRY_SIZE];

	if (i < 0)
		return;
	pthread_mutex_lock(&f->lock);
	entry_get(&f->vector[i], bytes);
	memcpy(bytes + off % ENTRY_SIZE, &val, size);
	entry_set(&f->vector[i], bytes);
	vector_changed(f, (unsigned int)i);
	pthread_mutex_unlock(&f->lock);
}
