// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - a bare-metal guest that does what its command line says, and counts what it does.
 *
 *   job=NAME     what each vCPU runs (jobs.c)         count=N   how often
 *   end=NAME     how it ends: halt, triple, i8042, cf9, poweroff
 *   interrupts=N  job=calls goes on until each vCPU has taken as many
 *   nops=1       turn the calls of __fentry__ into NOPs first, by ftrace_init() as Linux does, and
 *                those through pv_ops into cli and sti
 *   returns=plain  turn the jumps to __x86_return_thunk() into returns, as Linux may
 *   mhz=N        of the TSC: without it, each tick passes for a nanosecond
 *   traced=1     jobs begin once a tracer has changed the places where interrupts go off and on
 *   go=1         job=irqs begins when the host sets job_go
 *   warm=1       each window of job=irqs has a shorter one before it, which is not counted
 *   timer=N      local APIC timer, every N ns, while jobs run
 *   ticks=N      so often on each vCPU at most
 *   busy=N       its interrupt takes N us
 */
#include "guest.h"

volatile uint32_t ap_number;

static volatile uint32_t cpus_up, cpus_done, cpus_failed;
static volatile bool booted;

static void cpu_run(unsigned int cpu)
{
	uint64_t timer = param_number("timer", 0);

	while (param_number("traced", 0) && !paravirt_is_traced())
		__builtin_ia32_pause();
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
	while (!booted)
		__builtin_ia32_pause();
	cpu_run(cpu);
}

void guest_main(uint64_t boot_params)
{
	uint64_t interrupts = 0;
	unsigned int cpus;

	params_init(boot_params);
	clock_init(param_number("mhz", 1000));
	if (param_number("nops", 0)) {
		ftrace_init();
		paravirt_init();
	}
	if (param_is("returns", "plain"))
		returns_init();
	timer_ticks = param_number("ticks", 0);
	timer_busy_ns = param_number("busy", 0) * 1000;
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
	free_initmem();
	booted = true; /* Linux has nothing but idle tasks on the others until then */
	cpu_run(0);
	while (cpus_done != cpus)
		__builtin_ia32_pause();
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		interrupts += interrupt_count[cpu];
	print_number("interrupts", interrupts);
	for (unsigned int cpu = 0; cpu < cpus && leaf_count[cpu]; cpu++)
		print_number("calls", leaf_count[cpu]);
	print("\n");
	print(cpus_failed ? "failed\n" : "ok\n");
	job_end();
}
