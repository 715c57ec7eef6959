// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * acpi-tables.c - RSDP, XSDT, FADT, FACS, DSDT and MADT of a machine, as the ACPI
 * Specification 6.4, chapter 5.2, lays them out.
 */
#include "vmm/kvm/acpi-tables.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct acpi_rsdp {
	char signature[8];
	uint8_t checksum;
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t length;
	uint64_t xsdt;
	uint8_t full_checksum, reserved[3];
} __attribute__((packed));

struct acpi_header {
	char signature[4];
	uint32_t length;
	uint8_t revision, checksum;
	char oem_id[6], oem_table_id[8];
	uint32_t oem_revision;
	char creator_id[4];
	uint32_t creator_revision;
} __attribute__((packed));

struct acpi_address { /* generic address structure, 5.2.3.2 */
	uint8_t space, bit_width, bit_offset, access;
	uint64_t address;
} __attribute__((packed));

#define RTC_CENTURY	0x32 /* register of the real-time clock */
#define PCI_CONFIG_PORT 0xcf8

enum { SPACE_IO = 1 };
enum { ACCESS_BYTE = 1, ACCESS_WORD = 2 };

struct acpi_fadt { /* 5.2.9, revision 5 */
	uint32_t facs, dsdt;
	uint8_t reserved0, profile;
	uint16_t sci_irq;
	uint32_t smi_command;
	uint8_t acpi_enable, acpi_disable, s4bios, pstate;
	uint32_t pm1a_event, pm1b_event, pm1a_control, pm1b_control, pm2_control, pm_timer;
	uint32_t gpe0, gpe1;
	uint8_t pm1_event_len, pm1_control_len, pm2_control_len, pm_timer_len;
	uint8_t gpe0_len, gpe1_len, gpe1_base, cst;
	uint16_t c2_latency, c3_latency, flush_size, flush_stride;
	uint8_t duty_offset, duty_width, day_alarm, month_alarm, century;
	uint16_t boot_flags;
	uint8_t reserved1;
	uint32_t flags;
	struct acpi_address reset;
	uint8_t reset_value;
	uint16_t arm_flags;
	uint8_t minor;
	uint64_t x_facs, x_dsdt;
	struct acpi_address x_pm1a_event, x_pm1b_event, x_pm1a_control, x_pm1b_control;
	struct acpi_address x_pm2_control, x_pm_timer, x_gpe0, x_gpe1, sleep_control, sleep_status;
} __attribute__((packed));

enum {
	FADT_WBINVD = 1 << 0,
	FADT_C1 = 1 << 2, /* hlt works on all processors */
	/* 1 << 4 would be that the power button is no fixed feature: it is */
	FADT_NO_SLEEP_BUTTON = 1 << 5,
	FADT_NO_RTC_WAKE = 1 << 6,
	FADT_RESET = 1 << 10, /* the reset register is there */
};

enum {
	BOOT_LEGACY_DEVICES = 1 << 0, /* a serial port */
	BOOT_NO_VGA = 1 << 2,
};

struct acpi_facs {
	char signature[4];
	uint32_t length, hardware, waking, lock, flags;
	uint64_t x_waking;
	uint8_t version, reserved[31];
} __attribute__((packed));

struct acpi_madt {
	uint32_t lapic, flags;
} __attribute__((packed));

enum { MADT_PIC = 1 << 0 }; /* the two 8259 are there as well */
enum { MADT_LAPIC = 0, MADT_IOAPIC = 1, MADT_OVERRIDE = 2, MADT_LAPIC_NMI = 4 };

struct madt_lapic {
	uint8_t type, length, processor, apic_id;
	uint32_t flags;
} __attribute__((packed));

struct madt_ioapic {
	uint8_t type, length, id, reserved;
	uint32_t address, first_gsi;
} __attribute__((packed));

struct madt_override {
	uint8_t type, length, bus, irq;
	uint32_t gsi;
	uint16_t flags;
} __attribute__((packed));

enum { OVERRIDE_ACTIVE_HIGH_LEVEL = 0x0d };

struct madt_lapic_nmi {
	uint8_t type, length, processor;
	uint16_t flags;
	uint8_t pin;
} __attribute__((packed));

/* --- writing ------------------------------------------------------------------------------- */

struct acpi_writer {
	uint8_t *buf;
	size_t size, len;
	bool full;
};

static void acpi_add(struct acpi_writer *w, const void *bytes, size_t len)
{
	if (len > w->size - w->len) {
		w->full = true;
		return;
	}
	memcpy(w->buf + w->len, bytes, len);
	w->len += len;
}

static void acpi_align(struct acpi_writer *w, size_t align)
{
	static const uint8_t zeros[64];

	if (w->len % align)
		acpi_add(w, zeros, align - w->len % align);
}

static uint8_t acpi_checksum(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += p[i];
	return (uint8_t)-sum;
}

/* Begin a table; returns its offset, which acpi_end() wants. */
static size_t acpi_begin(struct acpi_writer *w, const char *signature, uint8_t revision)
{
	struct acpi_header h = {.revision = revision,
				.oem_id = {'H', 'V', 'T', 'R', 'C', 'E'},
				.oem_table_id = {'H', 'V', 'T', 'R', 'A', 'C', 'E', ' '},
				.oem_revision = 1,
				.creator_id = {'H', 'V', 'T', ' '},
				.creator_revision = 1};
	size_t start;

	memcpy(h.signature, signature, sizeof(h.signature));
	acpi_align(w, 16);
	start = w->len;
	acpi_add(w, &h, sizeof(h));
	return start;
}

static void acpi_end(struct acpi_writer *w, size_t start)
{
	struct acpi_header h;

	if (w->full)
		return;
	memcpy(&h, w->buf + start, sizeof(h));
	h.length = (uint32_t)(w->len - start);
	memcpy(w->buf + start, &h, sizeof(h));
	h.checksum = acpi_checksum(w->buf + start, h.length);
	memcpy(w->buf + start, &h, sizeof(h));
}

/* --- tables -------------------------------------------------------------------------------- */

static size_t acpi_add_facs(struct acpi_writer *w)
{
	struct acpi_facs facs = {
		.signature = {'F', 'A', 'C', 'S'}, .length = sizeof(facs), .version = 2};
	size_t start;

	acpi_align(w, 64);
	start = w->len;
	acpi_add(w, &facs, sizeof(facs));
	return start;
}

/* Word Address Space, I/O port and DWord Address Space descriptors: 6.4.3.5.3, 6.4.2.5, 6.4.3.5.2
 */
struct acpi_pci_resources {
	uint8_t bus_tag;
	uint16_t bus_len;
	uint8_t bus_type, bus_flags, bus_type_flags;
	uint16_t bus_granularity, bus_min, bus_max, bus_translation, bus_count;
	uint8_t io_tag, io_decode16;
	uint16_t io_min, io_max;
	uint8_t io_align, io_count;
	uint8_t memory_tag;
	uint16_t memory_len;
	uint8_t memory_type, memory_flags, memory_type_flags;
	uint32_t memory_granularity, memory_min, memory_max, memory_translation, memory_size;
	uint8_t end_tag, end_checksum;
} __attribute__((packed));

enum { RANGE_MEMORY = 0, RANGE_BUS = 2, RANGE_FIXED = 0x0c, MEMORY_WRITABLE = 1 };

/* Lengths of packages, 20.2.4, in two bytes. Both count themselves. */
#define PACKAGE(len) 0x40 | ((len)&15), (len) >> 4

/* Scope (\_SB) { Device (PCI0) { Name (_HID, EisaId ("PNP0A03")) Name (_CRS, Buffer { … }) } } */
struct acpi_pci_root {
	uint8_t scope[8], device[8], hid[10], crs[10];
	struct acpi_pci_resources resources;
} __attribute__((packed));

#define PCI_SCOPE_LEN  (sizeof(struct acpi_pci_root) - 1)
#define PCI_DEVICE_LEN (PCI_SCOPE_LEN - 7 - 2)
#define PCI_CRS_LEN    (sizeof(struct acpi_pci_resources) + 4)

static void acpi_add_pci(struct acpi_writer *w, const struct acpi_tables_config *cfg)
{
	const struct acpi_pci_root root = {
		.scope = {0x10, PACKAGE(PCI_SCOPE_LEN), '\\', '_', 'S', 'B', '_'},
		.device = {0x5b, 0x82, PACKAGE(PCI_DEVICE_LEN), 'P', 'C', 'I', '0'},
		.hid = {0x08, '_', 'H', 'I', 'D', 0x0c, 0x41, 0xd0, 0x0a, 0x03},
		.crs = {0x08, '_', 'C', 'R', 'S', 0x11, PACKAGE(PCI_CRS_LEN), 0x0a,
			sizeof(struct acpi_pci_resources)},
		.resources = {
			.bus_tag = 0x88,
			.bus_len = 13,
			.bus_type = RANGE_BUS,
			.bus_flags = RANGE_FIXED,
			.bus_count = 1,
			.io_tag = 0x47,
			.io_decode16 = 1,
			.io_min = PCI_CONFIG_PORT,
			.io_max = PCI_CONFIG_PORT,
			.io_align = 1,
			.io_count = 8,
			.memory_tag = 0x87,
			.memory_len = 23,
			.memory_type = RANGE_MEMORY,
			.memory_flags = RANGE_FIXED,
			.memory_type_flags = MEMORY_WRITABLE,
			.memory_min = cfg->pci_start,
			.memory_max = cfg->pci_end - 1,
			.memory_size = cfg->pci_end - cfg->pci_start,
			.end_tag = 0x79,
		}};

	acpi_add(w, &root, sizeof(root));
}

static size_t acpi_add_dsdt(struct acpi_writer *w, const struct acpi_tables_config *cfg)
{
	/* Name (\_S5, Package (4) { type, 0, 0, 0 }), 20.2.5 */
	const uint8_t s5[] = {0x08, '_',
			      'S',  '5',
			      '_', /* NameOp, name */
			      0x12, 7,
			      4, /* PackageOp, length from here, elements */
			      0x0a, cfg->s5_type,
			      0x00, 0x00,
			      0x00};
	size_t start = acpi_begin(w, "DSDT", 2);

	acpi_add(w, s5, sizeof(s5));
	if (cfg->pci_end)
		acpi_add_pci(w, cfg);
	acpi_end(w, start);
	return start;
}

static struct acpi_address acpi_port(uint16_t port, uint8_t bytes, uint8_t access)
{
	return (struct acpi_address){.space = SPACE_IO,
				     .bit_width = (uint8_t)(bytes * 8),
				     .access = access,
				     .address = port};
}

static size_t acpi_add_fadt(struct acpi_writer *w, const struct acpi_tables_config *cfg,
			    size_t facs, size_t dsdt)
{
	const struct acpi_fadt fadt = {
		.dsdt = (uint32_t)(cfg->pa + dsdt),
		.sci_irq = cfg->sci_irq,
		.pm1a_event = cfg->pm_event_port,
		.pm1a_control = cfg->pm_control_port,
		.pm1_event_len = 4,
		.pm1_control_len = 2,
		.c2_latency = 0xffff, /* no C2, no C3 */
		.c3_latency = 0xffff,
		.century = RTC_CENTURY,
		.boot_flags = BOOT_LEGACY_DEVICES | BOOT_NO_VGA,
		.flags = FADT_WBINVD | FADT_C1 | FADT_NO_SLEEP_BUTTON | FADT_NO_RTC_WAKE |
			 FADT_RESET,
		.reset = acpi_port(cfg->reset_port, 1, ACCESS_BYTE),
		.reset_value = cfg->reset_value,
		.minor = 1,
		.x_facs = cfg->pa + facs,
		.x_dsdt = cfg->pa + dsdt,
		.x_pm1a_event = acpi_port(cfg->pm_event_port, 4, ACCESS_WORD),
		.x_pm1a_control = acpi_port(cfg->pm_control_port, 2, ACCESS_WORD),
	};
	size_t start = acpi_begin(w, "FACP", 5);

	acpi_add(w, &fadt, sizeof(fadt));
	acpi_end(w, start);
	return start;
}

static size_t acpi_add_madt(struct acpi_writer *w, const struct acpi_tables_config *cfg)
{
	const struct acpi_madt madt = {.lapic = cfg->lapic, .flags = MADT_PIC};
	const struct madt_ioapic ioapic = {.type = MADT_IOAPIC,
					   .length = sizeof(ioapic),
					   .id = cfg->ioapic_id,
					   .address = cfg->ioapic};
	const struct madt_override sci = {.type = MADT_OVERRIDE,
					  .length = sizeof(sci),
					  .irq = cfg->sci_irq,
					  .gsi = cfg->sci_irq,
					  .flags = OVERRIDE_ACTIVE_HIGH_LEVEL};
	const struct madt_lapic_nmi nmi = {
		.type = MADT_LAPIC_NMI, .length = sizeof(nmi), .processor = 0xff, .pin = 1};
	size_t start = acpi_begin(w, "APIC", 4);

	acpi_add(w, &madt, sizeof(madt));
	for (unsigned int i = 0; i < cfg->cpus; i++) {
		const struct madt_lapic cpu = {.type = MADT_LAPIC,
					       .length = sizeof(cpu),
					       .processor = (uint8_t)i,
					       .apic_id = (uint8_t)i,
					       .flags = 1};

		acpi_add(w, &cpu, sizeof(cpu));
	}
	acpi_add(w, &ioapic, sizeof(ioapic));
	acpi_add(w, &sci, sizeof(sci));
	acpi_add(w, &nmi, sizeof(nmi));
	acpi_end(w, start);
	return start;
}

static size_t acpi_add_xsdt(struct acpi_writer *w, const struct acpi_tables_config *cfg,
			    size_t fadt, size_t madt)
{
	const uint64_t tables[] = {cfg->pa + fadt, cfg->pa + madt};
	size_t start = acpi_begin(w, "XSDT", 1);

	acpi_add(w, tables, sizeof(tables));
	acpi_end(w, start);
	return start;
}

int acpi_tables_build(void *buf, size_t size, const struct acpi_tables_config *cfg)
{
	struct acpi_rsdp rsdp = {.signature = {'R', 'S', 'D', ' ', 'P', 'T', 'R', ' '},
				 .oem_id = {'H', 'V', 'T', 'R', 'C', 'E'},
				 .revision = 2,
				 .length = sizeof(rsdp)};
	struct acpi_writer w = {.buf = buf, .size = size};
	size_t facs, dsdt, fadt, madt;

	acpi_add(&w, &rsdp, sizeof(rsdp));
	facs = acpi_add_facs(&w);
	dsdt = acpi_add_dsdt(&w, cfg);
	fadt = acpi_add_fadt(&w, cfg, facs, dsdt);
	madt = acpi_add_madt(&w, cfg);
	rsdp.xsdt = cfg->pa + acpi_add_xsdt(&w, cfg, fadt, madt);
	if (w.full)
		return -ENOSPC;
	rsdp.checksum = acpi_checksum(&rsdp, 20); /* the part that ACPI 1.0 knew */
	rsdp.full_checksum = acpi_checksum(&rsdp, sizeof(rsdp));
	memcpy(buf, &rsdp, sizeof(rsdp));
	return (int)w.len;
}
