/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest.h - what the files of the test guest share; also read by the assembler. */
#ifndef HVTRACE_TESTS_GUEST_H
#define HVTRACE_TESTS_GUEST_H

#define VIRT_BASE   0xffffffff80000000
#define DIRECT_BASE 0xffff888000000000
#define DIRECT_GIB  8
#define SMALL_PMD   8 /* physical 16 MiB: where the guest's text begins */

#define MAX_CPUS   8
#define STACK_SIZE 16384
#define AP_START   0x8000

#define CODE32_SEG 0x08
#define CODE_SEG   0x10
#define DATA_SEG   0x18

#define NR_VECTORS	48
#define VECTOR_STUB	16
#define VECTOR_INT3	3
#define VECTOR_TIMER	32
#define VECTOR_IPI	33
#define VECTOR_SPURIOUS 47

#define NR_WORK 8

#define CYC2NS_SIZE 40 /* of struct cyc2ns */

#define HARDIRQ_OFFSET 0x10000 /* in preempt_count */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOINLINE   __attribute__((noinline))
#define NOT_TRACED __attribute__((no_instrument_function))

#define PER_CPU_SLOT(cpu) ((uint64_t)(cpu)*NR_WORK * 8)

struct frame {
	uint64_t vector;
	/* As Linux has it (struct pt_regs), but for the order of what is pushed by hand. */
	struct regs {
		uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
		uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
		uint64_t error;
		uint64_t rip, cs, rflags, rsp, ss;
	} regs;
};

static inline void outb(uint16_t port, uint8_t val)
{
	__asm__ volatile("outb %0, %1" : : "a"(val), "Nd"(port));
}

static inline void outw(uint16_t port, uint16_t val)
{
	__asm__ volatile("outw %0, %1" : : "a"(val), "Nd"(port));
}

static inline uint8_t inb(uint16_t port)
{
	uint8_t val;

	__asm__ volatile("inb %1, %0" : "=a"(val) : "Nd"(port));
	return val;
}

static inline uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline void *phys_ptr(uint64_t pa)
{
	return (void *)(DIRECT_BASE + pa);
}

/* start.S, work.S */
extern uint8_t cpu_stacks[], irq_stacks[];
extern const uint8_t vector_stubs[], ap_trampoline[], ap_trampoline_end[];
extern uint64_t work_count[MAX_CPUS][NR_WORK];
uint64_t work_0(uint64_t slot, uint64_t x);
uint64_t work_1(uint64_t slot, uint64_t x);
uint64_t work_2(uint64_t slot, uint64_t x);
uint64_t work_3(uint64_t slot, uint64_t x);
uint64_t work_4(uint64_t slot, uint64_t x);
uint64_t work_5(uint64_t slot, uint64_t x);
uint64_t work_6(uint64_t slot, uint64_t x);
uint64_t work_7(uint64_t slot, uint64_t x);
void bench_loop(void);
extern volatile uint64_t bench_count; /* what the host measures has been done so often */
void call_on_irq_stack(void (*function)(struct frame *), struct frame *arg);
void halt(void) __attribute__((noreturn));

/* console.c */
void print(const char *text);
void print_number(const char *name, uint64_t val); /* "name=val " */
void console_listen(void);
int console_read(void); /* -1: nothing there */

/* params.c: the words of the command line */
void params_init(uint64_t boot_params);
bool param_is(const char *name, const char *val);
uint64_t param_number(const char *name, uint64_t otherwise);

/* start.S: what each CPU has one of; %gs with these addresses gets at its own */
struct cyc2ns_data {
	uint32_t cyc2ns_mul, cyc2ns_shift;
	uint64_t cyc2ns_offset;
};

struct cyc2ns {
	struct cyc2ns_data data[2];
	uint32_t seq;
};

struct percpu {
	uint32_t cpu_number, preempt_count;
	struct task_struct *current_task;
	void *hardirq_stack_ptr;
	struct cyc2ns cyc2ns;
};

extern const struct percpu percpu_linked;

/* kernel.c */
struct mutex {
	uint64_t owner; /* 0: it is free */
};

extern struct mutex text_mutex;
void kernel_init(void);
void clock_init(uint64_t mhz); /* of the TSC, whose ticks become nanoseconds so */
uint64_t clock_ns(uint64_t ticks);
void clock_wait(uint64_t start, uint64_t ns); /* until ns after the TSC was start */
void ftrace_init(void);
void returns_init(void);
void free_initmem(void);
bool function_is_traced(const void *function); /* somebody has changed its site */
bool sites_are_nops(void);
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

/* interrupt.c */
void idt_init(void);
void idt_load(void);
void guest_interrupt(struct frame *frame);
extern volatile uint64_t int3_count, int3_rip, ipi_count[MAX_CPUS], timer_count[MAX_CPUS];
extern volatile uint64_t interrupt_count[MAX_CPUS]; /* of all kinds */
extern uint64_t timer_busy_ns;			    /* what the timer's interrupt takes at least */
extern uint64_t timer_ticks;			    /* so many of each CPU's timer; 0: all */
extern volatile uint64_t leaf_count[MAX_CPUS];

/* apic.c */
void apic_init(void);
unsigned int apic_cpus(void); /* as the MP table says */
void apic_start_cpu(unsigned int cpu);
void apic_send_ipi(unsigned int cpu);
void apic_timer(uint32_t period);
void apic_eoi(void);

/* jobs.c */
extern volatile uint64_t job_go, job_stop; /* set by the host */
bool job_run(unsigned int cpu);
void job_end(void);

/* irqs.c: what the guest knows of the windows that it has made, in ticks */
#define IRQS_SEEN_MAX 256

struct irqs_seen {
	uint64_t nr, insns,
		exit; /* what twenty instructions take, and a way to the host and back */
	struct irqs_window {
		uint64_t us, inside, around;
	} window[IRQS_SEEN_MAX];
};

extern volatile struct irqs_seen irqs_seen;
void paravirt_init(void);
bool paravirt_is_traced(void);
void irqentry_enter(const struct regs *regs);
void irqentry_exit(const struct regs *regs);
void idle_wait(void); /* until there is an interrupt */
bool job_irqs(unsigned int cpu);

/* mmio.c */
bool job_mmio(unsigned int cpu);
bool job_register(unsigned int cpu);

/* tree.c */
bool job_tree(unsigned int cpu);
bool job_deep(unsigned int cpu);
bool job_spin(unsigned int cpu);

/* main.c */
void guest_main(uint64_t boot_params);
void guest_ap_main(unsigned int cpu);
extern volatile uint32_t ap_number;

#endif
#endif
