// SPDX-License-Identifier: GPL-2.0-or-later
/* apic.c - the local APIC, and the MP table that says how many vCPUs there are. */
#include "guest.h"

#define LAPIC 0xfee00000

#define LAPIC_EOI      0x0b0
#define LAPIC_SPURIOUS 0x0f0
#define LAPIC_ICR_LOW  0x300
#define LAPIC_ICR_HIGH 0x310
#define LAPIC_TIMER    0x320
#define LAPIC_COUNT    0x380
#define LAPIC_DIVIDE   0x3e0

#define ICR_INIT       0x4500
#define ICR_STARTUP    0x4600
#define TIMER_PERIODIC 0x20000
#define DIVIDE_BY_1    0xb

#define BIOS_START   0xf0000
#define BIOS_END     0x100000
#define MP_ENTRY_CPU 0

static void lapic_write(uint32_t reg, uint32_t val)
{
	*(volatile uint32_t *)phys_ptr(LAPIC + reg) = val;
}

void apic_init(void)
{
	lapic_write(LAPIC_SPURIOUS, 0x100 | VECTOR_SPURIOUS);
}

void apic_eoi(void)
{
	lapic_write(LAPIC_EOI, 0);
}

/* MultiProcessor Specification 1.4, chapter 4: processors come first, 20 bytes each. */
unsigned int apic_cpus(void)
{
	for (uint64_t pa = BIOS_START; pa < BIOS_END; pa += 16) {
		const uint32_t *pointer = phys_ptr(pa);
		const uint8_t *table, *entry;
		unsigned int cpus = 0;

		if (pointer[0] != 0x5f504d5f) /* _MP_ */
			continue;
		table = phys_ptr(pointer[1]);
		for (entry = table + 44; entry[0] == MP_ENTRY_CPU; entry += 20)
			cpus++;
		return cpus;
	}
	return 1;
}

void apic_start_cpu(unsigned int cpu)
{
	volatile uint8_t *to = phys_ptr(AP_START);

	for (size_t i = 0; ap_trampoline + i < ap_trampoline_end; i++)
		to[i] = ap_trampoline[i];
	lapic_write(LAPIC_ICR_HIGH, cpu << 24);
	lapic_write(LAPIC_ICR_LOW, ICR_INIT);
	lapic_write(LAPIC_ICR_HIGH, cpu << 24);
	lapic_write(LAPIC_ICR_LOW, ICR_STARTUP | AP_START >> 12);
}

void apic_send_ipi(unsigned int cpu)
{
	lapic_write(LAPIC_ICR_HIGH, cpu << 24);
	lapic_write(LAPIC_ICR_LOW, VECTOR_IPI);
}

void apic_timer(uint32_t period)
{
	lapic_write(LAPIC_DIVIDE, DIVIDE_BY_1);
	lapic_write(LAPIC_TIMER, TIMER_PERIODIC | VECTOR_TIMER);
	lapic_write(LAPIC_COUNT, period);
}
