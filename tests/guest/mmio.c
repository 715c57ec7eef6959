// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmio.c - memory of devices, of which the guest has none: a hole between its memory and 4 GiB.
 * It is mapped and unmapped through the functions that Linux has for that, as far as a tracer looks
 * at them; what they map is in the direct map anyway.
 */
#include "guest.h"

#define DEVICE_PA   UINT64_C(0xfd000000) /* one for each CPU */
#define DEVICE_SIZE UINT64_C(0x10000)
#define REGISTERS   0x14 /* of a mapping: where it begins in its page, */
#define LENGTH	    0x3c /* and how long it is */
#define PAGE	    UINT64_C(4096)

/* Where the direct map ends: from iounmap() on nothing below it was mapped by __ioremap_caller().
 */
void *high_memory;

NOINLINE int ioremap_page_range(uint64_t addr, uint64_t end, uint64_t phys, uint64_t prot)
{
	__asm__ volatile("" : : "r"(addr), "r"(end), "r"(phys), "r"(prot));
	return 0;
}

NOINLINE int iomem_map_sanity_check(uint64_t addr, uint64_t size)
{
	__asm__ volatile("" : : "r"(addr), "r"(size));
	return 0;
}

NOINLINE void *__ioremap_caller(uint64_t phys, uint64_t size)
{
	uint64_t at = (uint64_t)phys_ptr(phys), page = at & ~(PAGE - 1);

	if (ioremap_page_range(page, (at + size + PAGE - 1) & ~(PAGE - 1), phys & ~(PAGE - 1), 0))
		return NULL;
	iomem_map_sanity_check(phys, size);
	return (void *)at;
}

NOINLINE void iounmap(volatile void *addr)
{
	__asm__ volatile("" : : "r"(addr));
}

/* All widths; whoever reads where nothing is gets all ones. */
NOT_TRACED static bool use_registers(volatile uint8_t *at, uint64_t round)
{
	bool good;

	at[0] = (uint8_t)round;
	*(volatile uint16_t *)(at + 2) = 0x1234;
	*(volatile uint32_t *)(at + 4) = 0x89abcdef;
	*(volatile uint64_t *)(at + 12) = UINT64_C(0x0123456789abcdef);
	good = at[0] == UINT8_MAX;
	good &= *(volatile uint16_t *)(at + 2) == UINT16_MAX;
	good &= *(volatile uint32_t *)(at + 4) == UINT32_MAX;
	good &= *(volatile uint64_t *)(at + 12) == UINT64_MAX;
	return good;
}

/* Each round: two mappings of which the first is used, and one that nobody has mapped. */
bool job_mmio(unsigned int cpu)
{
	uint64_t n = param_number("count", 1), pa = DEVICE_PA + cpu * DEVICE_SIZE;
	bool good = true;

	high_memory = phys_ptr(UINT64_C(0x40000000));
	for (uint64_t i = 0; i < n && good; i++) {
		volatile uint8_t *registers = __ioremap_caller(pa + REGISTERS, LENGTH);
		void *more = __ioremap_caller(pa + 2 * PAGE, PAGE);

		good = registers && more && use_registers(registers, i);
		iounmap(more);
		iounmap(registers);
		/* Of no mapping. */
		good = good && *(volatile uint8_t *)phys_ptr(pa + 4 * PAGE) == UINT8_MAX;
		iounmap(phys_ptr(pa + 4 * PAGE));
		iounmap(phys_ptr(0x1000)); /* RAM: Linux does nothing then */
	}
	return good;
}

/* For measuring: nothing but one register, over and over. */
bool job_register(unsigned int cpu)
{
	volatile uint32_t *at = __ioremap_caller(DEVICE_PA, PAGE);

	if (cpu)
		return true;
	while (!job_stop) {
		if (*at != UINT32_MAX)
			return false;
		bench_count++;
	}
	return true;
}
