// SPDX-License-Identifier: GPL-2.0-or-later
/* jobs.c - what the test guest can do, one function per job, and the ways it can end. */
#include "guest.h"

#define PORT_PM_CONTROL 0x604
#define SLEEP_S5	(1 << 13 | 5 << 10) /* SLP_EN, SLP_TYP of the DSDT */

/* Set by the host. */
volatile uint64_t job_stop, job_go;
volatile uint64_t window_pa;

/* Counted by the guest, read by the host. */
volatile uint64_t leaf_count[MAX_CPUS]; /* calls of job=calls */
volatile uint64_t out_count;
volatile uint64_t regs_seen[8];
volatile uint64_t tsc_before, tsc_after;

/* --- jobs: false means that something came out wrong --------------------------------------- */

__attribute__((noinline)) uint64_t traced_leaf(unsigned int cpu, uint64_t x)
{
	leaf_count[cpu]++;
	return x * 2862933555777941757ull + 3037000493ull;
}

__attribute__((noinline)) uint64_t traced_parent(unsigned int cpu, uint64_t x)
{
	return traced_leaf(cpu, x) ^ x;
}

/* What is there of calls before is of no use to who looks where the next ones return to. */
static inline void stack_scrub(void)
{
	__asm__ volatile(".irp below, 8, 16, 24, 32, 40, 48\n"
			 "movq $0, -\\below(%%rsp)\n"
			 ".endr"
			 :
			 :
			 : "memory");
}

static bool job_calls(unsigned int cpu)
{
	uint64_t n = param_number("count", 1000), interrupts = param_number("interrupts", 0);
	uint64_t x = cpu;

	for (uint64_t i = 0; i < n || interrupt_count[cpu] < interrupts; i++) {
		uint64_t want = (x * 2862933555777941757ull + 3037000493ull) ^ x;

		stack_scrub();
		x = traced_parent(cpu, x);
		if (x != want)
			return false;
	}
	return true;
}

static bool job_work(unsigned int cpu)
{
	static uint64_t (*const work[NR_WORK])(uint64_t, uint64_t) = {
		work_0, work_1, work_2, work_3, work_4, work_5, work_6, work_7,
	};
	uint64_t x = 0x0123456789abcdef + cpu;

	for (unsigned int i = 0; !job_stop; i = (i + 1) % NR_WORK) {
		uint64_t want = (x << (i + 1) | x >> (63 - i)) + i;

		x = work[i](PER_CPU_SLOT(cpu), x);
		if (x != want)
			return false;
	}
	return true;
}

static bool job_int3(unsigned int cpu)
{
	uint64_t n = param_number("count", 100);

	if (cpu)
		return true;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t here;

		__asm__ volatile("leaq 1f(%%rip), %0\n\tint3\n1:" : "=r"(here) : : "memory");
		if (int3_count != i + 1 || int3_rip != here)
			return false;
	}
	return true;
}

/* A function with an int3 of its own and an fentry site. */
__attribute__((noinline)) void traced_int3(void)
{
	__asm__ volatile("int3");
}

static bool job_mixed_int3(unsigned int cpu)
{
	uint64_t n = param_number("count", 100);

	if (cpu)
		return true;
	for (uint64_t i = 0; i < n; i++)
		traced_int3();
	return int3_count == n;
}

__attribute__((noinline)) void traced_regs(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	regs_seen[0] = a;
	regs_seen[1] = b;
	regs_seen[2] = c;
	regs_seen[3] = d;
}

static bool job_regs(unsigned int cpu)
{
	if (!cpu)
		traced_regs(0x1111, 0x2222, 0x3333, 0x4444);
	return true;
}

__attribute__((noinline)) void traced_tsc(void)
{
	__asm__ volatile("");
}

static bool job_tsc(unsigned int cpu)
{
	if (cpu)
		return true;
	tsc_before = rdtsc();
	traced_tsc();
	tsc_after = rdtsc();
	return true;
}

/* Answer each number that the host puts into the window; they must come one after the other. */
static bool job_window(unsigned int cpu)
{
	volatile uint64_t *word;

	while (!window_pa)
		__builtin_ia32_pause();
	word = (uint64_t *)phys_ptr(window_pa) + 2 * cpu;
	while (!job_stop) {
		uint64_t next = word[0];

		if (next == word[1])
			continue;
		if (next != word[1] + 1)
			return false;
		word[1] = next;
	}
	return true;
}

static bool job_ipi(unsigned int cpu)
{
	uint64_t n = param_number("count", 100);

	__asm__ volatile("sti");
	if (cpu == 0) {
		for (uint64_t i = 0; i < n; i++) {
			apic_send_ipi(1);
			while (ipi_count[1] != i + 1)
				__builtin_ia32_pause();
		}
	}
	while (ipi_count[1] < n)
		__builtin_ia32_pause();
	__asm__ volatile("cli");
	return ipi_count[1] == n;
}

static bool job_timer(unsigned int cpu)
{
	uint64_t n = param_number("count", 20);

	while (timer_count[cpu] < n)
		idle_wait();
	return true;
}

static bool job_echo(unsigned int cpu)
{
	char text[2] = {0};

	if (cpu)
		return true;
	console_listen();
	do {
		int c = console_read();

		if (c < 0)
			continue;
		text[0] = (char)c;
		print(text);
	} while (text[0] != '.');
	return true;
}

/* Exits with nothing behind them, to compare traps with. */
static bool job_out(unsigned int cpu)
{
	if (cpu)
		return true;
	while (!job_stop) {
		__asm__ volatile("outb %al, $0x7e");
		out_count++;
	}
	return true;
}

/*
 * Lock text_mutex, for which a tracer gives all sites back, and wait until it has taken them again,
 * so often. Needs a tracer that does so.
 */
static bool job_text(unsigned int cpu)
{
	uint64_t n = param_number("count", 3);
	bool ours = true;

	if (cpu)
		return true;
	for (uint64_t i = 0; i < n && ours; i++) {
		while (!function_is_traced(traced_leaf))
			__builtin_ia32_pause();
		traced_leaf(cpu, i);
		mutex_lock(&text_mutex);
		ours = sites_are_nops();
		mutex_unlock(&text_mutex);
	}
	return ours;
}

static bool job_bench(unsigned int cpu)
{
	if (!cpu)
		bench_loop();
	return true;
}

static const struct {
	const char *name;
	bool (*run)(unsigned int cpu);
} jobs[] = {
	{"calls", job_calls},	    {"work", job_work},
	{"int3", job_int3},	    {"mixed-int3", job_mixed_int3},
	{"regs", job_regs},	    {"tsc", job_tsc},
	{"window", job_window},	    {"ipi", job_ipi},
	{"timer", job_timer},	    {"echo", job_echo},
	{"out", job_out},	    {"bench", job_bench},
	{"text", job_text},	    {"tree", job_tree},
	{"deep", job_deep},	    {"spin", job_spin},
	{"irqs", job_irqs},	    {"mmio", job_mmio},
	{"register", job_register},
};

bool job_run(unsigned int cpu)
{
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		if (param_is("job", jobs[i].name))
			return jobs[i].run(cpu);
	}
	return true;
}

/* --- ends ---------------------------------------------------------------------------------- */

static void triple_fault(void)
{
	struct __attribute__((packed)) {
		uint16_t limit;
		uint64_t base;
	} none = {0, 0};

	__asm__ volatile("lidt %0; ud2" : : "m"(none));
}

void job_end(void)
{
	if (param_is("end", "triple"))
		triple_fault();
	else if (param_is("end", "i8042"))
		outb(0x64, 0xfe);
	else if (param_is("end", "cf9"))
		outb(0xcf9, 0x06);
	else if (param_is("end", "poweroff"))
		outw(PORT_PM_CONTROL, SLEEP_S5);
	halt();
}
