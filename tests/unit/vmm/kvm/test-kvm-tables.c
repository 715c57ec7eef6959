// SPDX-License-Identifier: GPL-2.0-or-later
/* test-kvm-tables.c - what a guest is told of its machine: tables, and CPUID; needs no KVM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/acpi-tables.h"
#include "vmm/kvm/cpuid.h"
#include "vmm/kvm/mptable.h"
#include "vmm/machine.h"

/* --- tables -------------------------------------------------------------------------------- */

static uint8_t sum(const uint8_t *p, size_t len)
{
	uint8_t s = 0;

	while (len--)
		s += *p++;
	return s;
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void test_mptable(void **state)
{
	const struct mptable_config cfg = {
		.pa = 0xf0000, .cpus = 3, .lapic = 0xfee00000, .ioapic = 0xfec00000};
	static const uint8_t sizes[] = {20, 8, 8, 8, 8};
	unsigned int seen[5] = {0};
	uint8_t buf[1024];
	const uint8_t *table = buf + 16, *entry = table + 44;
	int len = mptable_build(buf, sizeof(buf), &cfg);
	uint16_t length, entries;

	(void)state;
	assert_true(len > 60);
	assert_memory_equal(buf, "_MP_", 4);
	assert_int_equal(sum(buf, 16), 0);
	assert_int_equal(get32(buf + 4), 0xf0010);
	memcpy(&length, table + 4, 2);
	memcpy(&entries, table + 34, 2);
	assert_memory_equal(table, "PCMP", 4);
	assert_int_equal(length, len - 16);
	assert_int_equal(sum(table, length), 0);
	assert_int_equal(get32(table + 36), 0xfee00000);
	for (unsigned int i = 0; i < entries; i++) {
		assert_in_range(entry[0], 0, 4);
		if (entry[0] == 0) {
			assert_int_equal(entry[1], seen[0]);
			assert_int_equal(entry[3], seen[0] ? 1 : 3); /* the first one boots */
		}
		if (entry[0] == 3) /* ISA line n is input n */
			assert_int_equal(entry[5], entry[7]);
		seen[entry[0]]++;
		entry += sizes[entry[0]];
	}
	assert_ptr_equal(entry, buf + len);
	assert_int_equal(seen[0], 3);
	assert_int_equal(seen[2], 1);
	assert_int_equal(seen[3], 15);
}

static void test_mptable_of_all_vcpus(void **state)
{
	const struct mptable_config cfg = {.pa = 0xf0000, .cpus = MACHINE_MAX_VCPUS};
	uint8_t buf[MPTABLE_MAX];
	const uint8_t *last = buf + 16 + 44 + (MACHINE_MAX_VCPUS - 1) * 20;

	(void)state;
	assert_true(mptable_build(buf, sizeof(buf), &cfg) > 0);
	assert_int_equal(last[0], 0); /* a processor, */
	assert_int_equal(last[1], MACHINE_MAX_VCPUS - 1);
	assert_int_equal(last[20], 1); /* then a bus */
}

static void test_mptable_no_room(void **state)
{
	const struct mptable_config cfg = {.pa = 0xf0000, .cpus = 8};
	uint8_t buf[1024];
	int len = mptable_build(buf, sizeof(buf), &cfg);

	(void)state;
	for (int size = 0; size < len; size++) {
		uint8_t *tight = malloc((size_t)size + 1); /* a sanitizer sees one byte too many */

		assert_int_equal(mptable_build(tight, (size_t)size, &cfg), -ENOSPC);
		free(tight);
	}
}

static const struct acpi_tables_config acpi_cfg = {.pa = 0xe0000,
						   .cpus = 2,
						   .lapic = 0xfee00000,
						   .ioapic = 0xfec00000,
						   .ioapic_id = 2,
						   .sci_irq = 9,
						   .pm_event_port = 0x600,
						   .pm_control_port = 0x604,
						   .reset_port = 0xcf9,
						   .reset_value = 6,
						   .s5_type = 5};

/* The table at guest address pa, its signature and checksum looked at. */
static const uint8_t *acpi_table(const uint8_t *buf, uint64_t pa, int len, const char *signature)
{
	const uint8_t *t;

	assert_in_range(pa, acpi_cfg.pa, acpi_cfg.pa + (uint64_t)len - 36);
	t = buf + (pa - acpi_cfg.pa);
	assert_memory_equal(t, signature, 4);
	assert_true(get32(t + 4) <= (uint64_t)len - (pa - acpi_cfg.pa));
	assert_int_equal(sum(t, get32(t + 4)), 0);
	return t;
}

static void test_acpi_tables(void **state)
{
	const uint8_t *xsdt, *fadt, *madt, *dsdt;
	uint8_t buf[4096];
	int len = acpi_tables_build(buf, sizeof(buf), &acpi_cfg);

	(void)state;
	assert_true(len > 0);
	assert_memory_equal(buf, "RSD PTR ", 8);
	assert_int_equal(sum(buf, 20), 0);
	assert_int_equal(sum(buf, 36), 0);
	xsdt = acpi_table(buf, get64(buf + 24), len, "XSDT");
	assert_int_equal(get32(xsdt + 4), 36 + 16);
	fadt = acpi_table(buf, get64(xsdt + 36), len, "FACP");
	assert_int_equal(get32(fadt + 4), 268); /* of revision 5 */
	assert_int_equal(fadt[8], 5);
	assert_int_equal(get32(fadt + 56), 0x600);
	assert_int_equal(get32(fadt + 64), 0x604);
	assert_int_equal(fadt[88], 4);
	assert_int_equal(fadt[89], 2);
	assert_true(get32(fadt + 112) & 1 << 10);
	assert_false(get32(fadt + 112) & 1 << 4); /* PWR_BUTTON: it would be no fixed feature */
	assert_int_equal(get64(fadt + 120), 0xcf9);
	assert_int_equal(fadt[128], 6);
	assert_int_equal(get64(fadt + 140), get32(fadt + 40));
	assert_int_equal(get64(fadt + 152), 0x600);
	assert_int_equal(get64(fadt + 176), 0x604);
	assert_int_equal(get32(fadt + 36), 0); /* the 64-bit address counts */
	assert_memory_equal(buf + (get64(fadt + 132) - acpi_cfg.pa), "FACS", 4);
	assert_int_equal(get64(fadt + 132) % 64, 0);
	dsdt = acpi_table(buf, get32(fadt + 40), len, "DSDT");
	assert_memory_equal(dsdt + 36, "\x08_S5_\x12\x07\x04\x0a\x05\0\0\0", 13);
	assert_int_equal(get32(dsdt + 4), 36 + 13);
	madt = acpi_table(buf, get64(xsdt + 44), len, "APIC");
	assert_int_equal(get32(madt + 4), 44 + 2 * 8 + 12 + 10 + 6);
	assert_int_equal(get32(madt + 36), 0xfee00000);
}

/* As iasl reads it: a root bridge with bus 0, the ports of its configuration, and a window. */
static void test_acpi_pci(void **state)
{
	struct acpi_tables_config cfg = acpi_cfg;
	const uint8_t *xsdt, *fadt, *dsdt, *pci;
	uint8_t buf[4096];
	int len;

	(void)state;
	cfg.pci_start = 0xd0000000;
	cfg.pci_end = 0xe0000000;
	len = acpi_tables_build(buf, sizeof(buf), &cfg);
	assert_true(len > 0);
	xsdt = acpi_table(buf, get64(buf + 24), len, "XSDT");
	fadt = acpi_table(buf, get64(xsdt + 36), len, "FACP");
	dsdt = acpi_table(buf, get32(fadt + 40), len, "DSDT");
	pci = dsdt + 36 + 13;
	assert_int_equal(pci[0], 0x10);
	assert_int_equal((pci[1] & 15) | pci[2] << 4, get32(dsdt + 4) - 36 - 13 - 1);
	assert_memory_equal(pci + 3, "\\_SB_\x5b\x82", 7);
	assert_memory_equal(pci + 12, "PCI0\x08_HID\x0c\x41\xd0\x0a\x03\x08_CRS\x11", 20);
	assert_memory_equal(pci + 36, "\x88\x0d\0\x02\x0c\0\0\0\0\0\0\0\0\0\x01\0", 16);
	assert_memory_equal(pci + 52, "\x47\x01\xf8\x0c\xf8\x0c\x01\x08", 8);
	assert_int_equal(get32(pci + 70), 0xd0000000);
	assert_int_equal(get32(pci + 74), 0xdfffffff);
	assert_int_equal(get32(pci + 82), 0x10000000);
	assert_memory_equal(pci + 86, "\x79", 2);
	assert_int_equal(get32(dsdt + 4), 36 + 13 + 88);
}

static void test_acpi_no_room(void **state)
{
	uint8_t buf[4096];
	int len = acpi_tables_build(buf, sizeof(buf), &acpi_cfg);

	(void)state;
	for (int size = 0; size < len; size++) {
		uint8_t *tight = malloc((size_t)size + 1);

		assert_int_equal(acpi_tables_build(tight, (size_t)size, &acpi_cfg), -ENOSPC);
		free(tight);
	}
}

/* --- cpuid --------------------------------------------------------------------------------- */

static const struct kvm_cpuid_entry2 leaves[] = {
	{.function = 1, .eax = ~0u, .ebx = ~0u, .ecx = 0x7fffffff & ~(1u << 24), .edx = ~0u},
	{.function = 4, .eax = 0xfc000121, .ebx = 7, .ecx = 63, .edx = 0},
	{.function = 7, .eax = 1, .ebx = ~0u, .ecx = ~0u, .edx = ~0u},
	{.function = 0xb, .index = 0, .edx = 1}, /* all that KVM gives */
	{.function = 0xd, .index = 0, .eax = ~0u, .ebx = 1, .ecx = 1, .edx = 1},
	{.function = 0x40000000, .eax = 0x40000001},
	{.function = 0x40000001, .eax = ~0u, .edx = ~0u},
	{.function = 0x80000001, .eax = 1, .ebx = 1, .ecx = ~0u, .edx = ~0u},
	{.function = 0x80000008, .eax = 48, .ebx = ~0u, .ecx = ~0u, .edx = 1},
};

static struct kvm_cpuid2 *prepare(const struct cpuid_config *cfg)
{
	struct kvm_cpuid2 *c =
		calloc(1, sizeof(*c) + sizeof(leaves) + CPUID_ADDED * sizeof(leaves[0]));

	assert_non_null(c);
	c->nent = sizeof(leaves) / sizeof(leaves[0]);
	memcpy(c->entries, leaves, sizeof(leaves));
	cpuid_prepare(c, cfg);
	return c;
}

static const struct kvm_cpuid_entry2 *leaf(const struct kvm_cpuid2 *c, uint32_t function,
					   uint32_t index)
{
	for (uint32_t i = 0; i < c->nent; i++) {
		if (c->entries[i].function == function && c->entries[i].index == index)
			return &c->entries[i];
	}
	return NULL;
}

static void test_cpuid(void **state)
{
	const struct cpuid_config cfg = {.index = 2, .cpus = 3, .tsc_deadline = true};
	struct kvm_cpuid2 *c = prepare(&cfg);

	(void)state;
	assert_int_equal(leaf(c, 1, 0)->ebx >> 24, 2);
	assert_int_equal(leaf(c, 1, 0)->ebx >> 16 & 0xff, 3);
	assert_int_equal(leaf(c, 1, 0)->ecx, ~0u); /* hypervisor and deadline bits came on */
	assert_int_equal(leaf(c, 4, 0)->eax >> 26, 3);
	assert_int_equal(leaf(c, 7, 0)->ebx, ~0u);
	assert_int_equal(leaf(c, 7, 0)->ecx >> 16 & 1, 0); /* 4 levels of page tables */
	assert_int_equal(leaf(c, 0xb, 0)->ebx, 1);
	assert_int_equal(leaf(c, 0xb, 0)->ecx, 0x100);
	assert_int_equal(leaf(c, 0xb, 0)->flags & leaf(c, 0xb, 1)->flags, 1); /* by index */
	assert_int_equal(leaf(c, 0xb, 1)->eax, 2);
	assert_int_equal(leaf(c, 0xb, 1)->ebx, 3);
	assert_int_equal(leaf(c, 0xb, 1)->ecx, 0x201);
	assert_int_equal(leaf(c, 0xb, 1)->edx, 2);
	assert_null(leaf(c, 0x40000000, 0));
	assert_null(leaf(c, 0x40000001, 0));
	assert_int_equal(leaf(c, 0x80000008, 0)->ecx, 2 << 12 | 2);
	free(c);
}

static void test_cpuid_emulated(void **state)
{
	/* ssse3, cx16, popcnt, the deadline timer, aes, xsave, avx, rdrand */
	static const uint8_t hidden[] = {9, 13, 23, 24, 25, 26, 28, 30};
	const struct cpuid_config cfg = {.cpus = 1, .emulated = true, .tsc_deadline = true};
	struct kvm_cpuid2 *c = prepare(&cfg);

	(void)state;
	for (size_t i = 0; i < sizeof(hidden); i++)
		assert_int_equal(leaf(c, 1, 0)->ecx >> hidden[i] & 1, 0);
	assert_int_equal(leaf(c, 1, 0)->ecx >> 31, 1);
	assert_int_equal(leaf(c, 1, 0)->edx >> 25 & 3, 3); /* user space keeps sse and sse2 */
	assert_int_equal(leaf(c, 1, 0)->edx >> 28 & 1, 0); /* one processor */
	assert_int_equal(leaf(c, 7, 0)->ebx | leaf(c, 7, 0)->ecx | leaf(c, 7, 0)->edx, 0);
	assert_int_equal(leaf(c, 0xd, 0)->eax, 0);
	assert_int_equal(leaf(c, 0x80000001, 0)->edx >> 27 & 1, 0); /* rdtscp */
	assert_int_equal(leaf(c, 0x80000001, 0)->edx >> 20 & 1, 1); /* nx */
	assert_int_equal(leaf(c, 0x80000008, 0)->ebx, 4);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mptable),		cmocka_unit_test(test_mptable_of_all_vcpus),
		cmocka_unit_test(test_mptable_no_room), cmocka_unit_test(test_acpi_tables),
		cmocka_unit_test(test_acpi_pci),	cmocka_unit_test(test_acpi_no_room),
		cmocka_unit_test(test_cpuid),		cmocka_unit_test(test_cpuid_emulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
