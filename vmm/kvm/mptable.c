// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mptable.c - processors and interrupt wiring for guests without ACPI, as the Intel
 * MultiProcessor Specification 1.4 (chapter 4) lays them out.
 *
 * Interrupts are wired as KVM's default routing has them: ISA line n on I/O APIC input n.
 */
#include "vmm/kvm/mptable.h"

#include <errno.h>
#include <string.h>

#include "vmm/kvm/kvm.h"

#define SPEC_1_4       4
#define LAPIC_VERSION  0x14 /* of KVM's controllers */
#define IOAPIC_VERSION 0x11
#define ISA_BUS	       0
#define ISA_LINES      16
#define ISA_CASCADE    2 /* taken by the second interrupt controller: no source of its own */
#define ALL_LAPICS     0xff

enum entry_type { ENTRY_CPU, ENTRY_BUS, ENTRY_IOAPIC, ENTRY_INTERRUPT, ENTRY_LOCAL_INTERRUPT };
enum interrupt_type { INTERRUPT_VECTORED, INTERRUPT_NMI, INTERRUPT_SMI, INTERRUPT_EXTINT };
enum { CPU_ENABLED = 1 << 0, CPU_BOOT = 1 << 1, IOAPIC_ENABLED = 1 << 0 };

struct mp_pointer {
	char signature[4];
	uint32_t table;
	uint8_t paragraphs, revision, checksum, features[5];
} __attribute__((packed));

struct mp_header {
	char signature[4];
	uint16_t length;
	uint8_t revision, checksum;
	char oem[8], product[12];
	uint32_t oem_table;
	uint16_t oem_size, entries;
	uint32_t lapic;
	uint16_t extended_length;
	uint8_t extended_checksum, reserved;
} __attribute__((packed));

struct mp_cpu {
	uint8_t type, apic_id, apic_version, flags;
	uint32_t signature, features, reserved[2];
} __attribute__((packed));

struct mp_bus {
	uint8_t type, id;
	char name[6];
} __attribute__((packed));

struct mp_ioapic {
	uint8_t type, id, version, flags;
	uint32_t address;
} __attribute__((packed));

struct mp_interrupt { /* also a local one, whose target is a local APIC and its LINT pin */
	uint8_t type, kind;
	uint16_t flags; /* 0: as usual for the bus */
	uint8_t bus, line, apic, pin;
} __attribute__((packed));

struct mp_writer {
	uint8_t *buf;
	size_t size, len;
	uint16_t entries;
	bool full;
};

static void mp_add(struct mp_writer *w, const void *entry, size_t len)
{
	if (len > w->size - w->len) {
		w->full = true;
		return;
	}
	memcpy(w->buf + w->len, entry, len);
	w->len += len;
	w->entries++;
}

static void mp_add_interrupt(struct mp_writer *w, enum entry_type type, enum interrupt_type kind,
			     uint8_t line, uint8_t apic, uint8_t pin)
{
	struct mp_interrupt irq = {
		.type = type, .kind = kind, .bus = ISA_BUS, .line = line, .apic = apic, .pin = pin};

	mp_add(w, &irq, sizeof(irq));
}

static void mp_add_entries(struct mp_writer *w, const struct mptable_config *cfg)
{
	uint8_t ioapic_id = (uint8_t)cfg->cpus; /* behind the processors' */
	struct mp_bus isa = {
		.type = ENTRY_BUS, .id = ISA_BUS, .name = {'I', 'S', 'A', ' ', ' ', ' '}};
	struct mp_ioapic ioapic = {.type = ENTRY_IOAPIC,
				   .id = ioapic_id,
				   .version = IOAPIC_VERSION,
				   .flags = IOAPIC_ENABLED,
				   .address = cfg->ioapic};

	for (unsigned int i = 0; i < cfg->cpus; i++) {
		struct mp_cpu cpu = {.type = ENTRY_CPU,
				     .apic_id = (uint8_t)i,
				     .apic_version = LAPIC_VERSION,
				     .flags = CPU_ENABLED | (i ? 0 : CPU_BOOT)};

		mp_add(w, &cpu, sizeof(cpu));
	}
	mp_add(w, &isa, sizeof(isa));
	mp_add(w, &ioapic, sizeof(ioapic));
	for (uint8_t line = 0; line < ISA_LINES; line++)
		if (line != ISA_CASCADE)
			mp_add_interrupt(w, ENTRY_INTERRUPT, INTERRUPT_VECTORED, line, ioapic_id,
					 line);
	mp_add_interrupt(w, ENTRY_LOCAL_INTERRUPT, INTERRUPT_EXTINT, 0, 0, 0);
	mp_add_interrupt(w, ENTRY_LOCAL_INTERRUPT, INTERRUPT_NMI, 0, ALL_LAPICS, 1);
}

static uint8_t mp_checksum(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += p[i];
	return (uint8_t)-sum;
}

int mptable_build(void *buf, size_t size, const struct mptable_config *cfg)
{
	struct mp_pointer pointer = {.signature = {'_', 'M', 'P', '_'},
				     .table = cfg->pa + (uint32_t)sizeof(pointer),
				     .paragraphs = 1,
				     .revision = SPEC_1_4};
	struct mp_header header = {
		.signature = {'P', 'C', 'M', 'P'},
		.revision = SPEC_1_4,
		.oem = {'H', 'V', 'T', 'R', 'A', 'C', 'E', ' '},
		.product = {'K', 'V', 'M', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '},
		.lapic = cfg->lapic};
	const size_t start = sizeof(pointer) + sizeof(header);
	struct mp_writer w = {.buf = buf, .size = size, .len = start};
	uint8_t *table = w.buf + sizeof(pointer);

	if (size < start)
		return -ENOSPC;
	mp_add_entries(&w, cfg);
	if (w.full)
		return -ENOSPC;

	header.length = (uint16_t)(w.len - sizeof(pointer));
	header.entries = w.entries;
	memcpy(table, &header, sizeof(header));
	header.checksum = mp_checksum(table, header.length);
	memcpy(table, &header, sizeof(header));
	pointer.checksum = mp_checksum(&pointer, sizeof(pointer));
	memcpy(buf, &pointer, sizeof(pointer));
	return (int)w.len;
}

int kvm_mptable_write(struct kvm_machine *m)
{
	const struct mptable_config cfg = {.pa = KVM_MPTABLE_START,
					   .cpus = m->nvcpus,
					   .lapic = KVM_LAPIC_ADDR,
					   .ioapic = KVM_IOAPIC_ADDR};
	uint8_t bytes[MPTABLE_MAX];
	int len = mptable_build(bytes, sizeof(bytes), &cfg);

	return len < 0 ? len : kvm_mem_write(m, cfg.pa, bytes, (size_t)len);
}
