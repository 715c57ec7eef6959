// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - a bare-metal guest that does what its command line says, and counts what it does.
 *
 *   job=NAME     what each vCPU runs (jobs.c)         count=N   how often
 *   end=NAME     how it ends: halt, triple, i8042, cf9, poweroff
 *   nops=1       turn the calls of __fentry__ into NOPs first, as Linux does in ftrace_init()
 *   timer=N      local APIC timer, every N ns, while jobs run
 */
#include "guest.h"

volatile uint32_t ap_number;

static volatile uint32_t cpus_up, cpus_done, cpus_failed;

static void cpu_run(unsigned int cpu)
{
	uint64_t timer = param_number("timer", 0);

	if (timer) {
		apic_timer((uint32_t)timer);
		__asm__ volatile("sti");
	}
	if (!job_run(cpu))
		__atomic_fetch_add(&cpus_failed, 1, __ATOMIC_SEQ_CST);
	apic_timer(0);
	__asm__ volatile("cli");
	__atomic_fetch_add(&cpus_done, 1, __ATOMIC_SEQ_CST);
}

void guest_ap_main(unsigned int cpu)
{
	idt_load();
	apic_init();
	__atomic_fetch_add(&cpus_up, 1, __ATOMIC_SEQ_CST);
	cpu_run(cpu);
}

/* Not itself instrumented, like ftrace_init()'s callees that run while the sites change. */
__attribute__((no_instrument_function)) static void sites_to_nops(void)
{
	extern const uint64_t __start_mcount_loc[], __stop_mcount_loc[];
	static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	for (const uint64_t *site = __start_mcount_loc; site < __stop_mcount_loc; site++) {
		volatile uint8_t *text = (uint8_t *)*site;

		for (unsigned int i = 0; i < sizeof(nop); i++)
			text[i] = nop[i];
	}
}

void guest_main(uint64_t boot_params)
{
	unsigned int cpus;

	params_init(boot_params);
	if (param_number("nops", 0))
		sites_to_nops();
	idt_init();
	idt_load();
	apic_init();
	cpus = apic_cpus();
	print("test guest: ");
	print_number("cpus", cpus);
	print("\n");
	for (unsigned int cpu = 1; cpu < cpus; cpu++) {
		ap_number = cpu;
		apic_start_cpu(cpu);
		while (cpus_up != cpu)
			__builtin_ia32_pause();
	}
	cpu_run(0);
	while (cpus_done != cpus)
		__builtin_ia32_pause();
	print(cpus_failed ? "failed\n" : "ok\n");
	job_end();
}
