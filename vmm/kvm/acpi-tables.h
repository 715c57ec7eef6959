/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acpi-tables.h - the bytes of the ACPI tables that describe a machine, with PCI or without. */
#ifndef HVTRACE_VMM_KVM_ACPI_TABLES_H
#define HVTRACE_VMM_KVM_ACPI_TABLES_H

#include <stddef.h>
#include <stdint.h>

struct acpi_tables_config {
	uint64_t pa; /* where the guest will find them; 16-byte aligned */
	unsigned int cpus;
	uint32_t lapic, ioapic; /* addresses of the interrupt controllers */
	uint8_t ioapic_id;
	uint8_t sci_irq;
	uint16_t pm_event_port;	  /* PM1a event block: 2 + 2 bytes */
	uint16_t pm_control_port; /* PM1a control block: 2 bytes */
	uint16_t reset_port;
	uint8_t reset_value;
	uint8_t s5_type;	     /* SLP_TYP that means soft-off */
	uint32_t pci_start, pci_end; /* where BARs may lie; both 0: there is no PCI */
};

/* Bytes written (the RSDP first), or -ENOSPC. */
int acpi_tables_build(void *buf, size_t size, const struct acpi_tables_config *cfg);

#endif
