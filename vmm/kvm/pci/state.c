// SPDX-License-Identifier: GPL-2.0-or-later
/* state.c - a function in a snapshot. */
#include <errno.h>
#include <string.h>

#include "vmm/kvm/pci/pci.h"

#define REG_BAR0    0x10
#define REG_COMMAND 0x04

void pci_save(struct pci_function *f, struct pci_state *s)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_lock(&f->lock);
	memcpy(s->config, f->config, sizeof(s->config));
	for (unsigned int i = 0; i < f->nvectors; i++)
		s->vector[i] = (struct pci_vector_state){
			.address = f->vector[i].msi.address,
			.data = f->vector[i].msi.data,
			.masked = f->vector[i].masked,
			.pending = f->vector[i].pending,
		};
	pthread_mutex_unlock(&f->lock);
}

/* But for what the guest may write it is the same. */
static bool config_fits(const struct pci_function *f, const struct pci_state *s)
{
	for (unsigned int i = 0; i < PCI_CONFIG_SIZE; i++)
		if ((f->config[i] ^ s->config[i]) & ~f->writable[i])
			return false;
	return true;
}

/* As the guest has written it, but the address before it is switched on. */
int pci_restore(struct pci_function *f, const struct pci_state *s)
{
	uint32_t bar, command;

	if (!config_fits(f, s))
		return -EINVAL;
	for (unsigned int i = 0; i < f->nvectors; i++) {
		f->vector[i].msi = (struct pci_msi){s->vector[i].address, s->vector[i].data};
		f->vector[i].masked = s->vector[i].masked;
		f->vector[i].pending = s->vector[i].pending;
	}
	memcpy(&bar, s->config + REG_BAR0, sizeof(bar));
	memcpy(&command, s->config + REG_COMMAND, sizeof(command));
	pci_config_write(f, REG_BAR0, sizeof(bar), bar);
	for (unsigned int i = 0; i < PCI_CONFIG_SIZE; i++)
		if (i < REG_COMMAND || i >= REG_COMMAND + 2)
			pci_config_write(f, i, 1, s->config[i]);
	pci_config_write(f, REG_COMMAND, 2, command);
	return 0;
}
