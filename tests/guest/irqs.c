// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * irqs.c - interrupts off and on again, as a tracer of latencies finds that in Linux: calls through
 * pv_ops that become cli and sti at boot, the entry and the end of interrupts, idle. And windows
 * whose lengths the guest knows itself.
 */
#include "guest.h"

#define PATCHED_SIZE 6

/* Functions of their own, however alike. */
#define APART NOT_TRACED __attribute__((noipa))

/* --- paravirtualised operations -------------------------------------------------------------- */

struct paravirt_site {
	uint8_t *insn;
	uint8_t type, len;
};

_Static_assert(sizeof(struct paravirt_site) == 16, "as Linux has it");

extern const struct paravirt_site __parainstructions[], __parainstructions_end[];

enum { PV_IRQ_DISABLE, PV_IRQ_ENABLE };

NOT_TRACED static void native_irq_disable(void)
{
	__asm__ volatile("cli" : : : "memory");
}

NOT_TRACED static void native_irq_enable(void)
{
	__asm__ volatile("sti" : : : "memory");
}

/* Not const: the calls are indirect. */
void (*volatile pv_ops[])(void) = {
	[PV_IRQ_DISABLE] = native_irq_disable,
	[PV_IRQ_ENABLE] = native_irq_enable,
};

#define PV_CALL(op)                                                                                \
	__asm__ volatile("771:	call *pv_ops + 8 * %c0(%%rip)\n"                                    \
			 "772:\n"                                                                  \
			 "	.pushsection .parainstructions, \"a\"\n"                                \
			 "	.balign 8\n"                                                            \
			 "	.quad 771b\n"                                                           \
			 "	.byte %c0, 772b - 771b\n"                                               \
			 "	.balign 8\n"                                                            \
			 "	.popsection"                                                            \
			 :                                                                         \
			 : "i"(op)                                                                 \
			 : "rax", "memory", "cc")

static const uint8_t patched[][PATCHED_SIZE] = {
	[PV_IRQ_DISABLE] = {0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00},
	[PV_IRQ_ENABLE] = {0xfb, 0x0f, 0x1f, 0x44, 0x00, 0x00},
};

/* As Linux does on hardware, where nothing has to be called for it. */
NOT_TRACED void paravirt_init(void)
{
	for (const struct paravirt_site *s = __parainstructions; s < __parainstructions_end; s++)
		for (unsigned int i = 0; i < PATCHED_SIZE; i++)
			((volatile uint8_t *)s->insn)[i] = patched[s->type][i];
}

/* All sites are changed at once. */
bool paravirt_is_traced(void)
{
	return *(volatile uint8_t *)__parainstructions[0].insn !=
	       patched[__parainstructions[0].type][0];
}

/* --- where else the flag changes ------------------------------------------------------------- */

APART void irqentry_enter(const struct regs *regs)
{
	__asm__ volatile("" : : "r"(regs));
}

APART void irqentry_exit(const struct regs *regs)
{
	__asm__ volatile("" : : "r"(regs));
}

/* In Linux, user mode is near where it returns. */
APART static void syscall_exit_to_user_mode(struct regs *regs)
{
	__asm__ volatile("" : : "r"(regs));
}

APART static void ct_idle_enter(void)
{
	__asm__ volatile("");
}

void idle_wait(void)
{
	PV_CALL(PV_IRQ_DISABLE);
	ct_idle_enter();
	__asm__ volatile("sti; hlt" : : : "memory");
}

/* Written here, read by the host. */
volatile struct irqs_seen irqs_seen;

/* --- windows --------------------------------------------------------------------------------- */

/* The TSC before and behind the moments at which interrupts go off and on. */
struct window {
	uint64_t before, begin, end, behind;
};

/* Not as fentry functions, for their records would make the windows longer. */
#define WINDOW(us)                                                                                 \
	APART static void irqs_off_##us(struct window *w)                                          \
	{                                                                                          \
		w->before = rdtsc();                                                               \
		PV_CALL(PV_IRQ_DISABLE);                                                           \
		w->begin = rdtsc();                                                                \
	}                                                                                          \
	APART static void irqs_on_##us(struct window *w)                                           \
	{                                                                                          \
		w->end = rdtsc();                                                                  \
		PV_CALL(PV_IRQ_ENABLE);                                                            \
		w->behind = rdtsc();                                                               \
	}

WINDOW(50)
WINDOW(100)
WINDOW(500)
WINDOW(5000)

/* As the end of a system call does it. */
APART static void irqs_off_200(struct window *w)
{
	w->before = rdtsc();
	PV_CALL(PV_IRQ_DISABLE);
	w->begin = rdtsc();
}

APART static void irqs_on_user(struct window *w)
{
	w->end = rdtsc();
	syscall_exit_to_user_mode(NULL);
	w->behind = rdtsc();
	__asm__ volatile("sti" : : : "memory");
}

static const struct {
	unsigned int us;
	void (*off)(struct window *w), (*on)(struct window *w);
} windows[] = {
	{50, irqs_off_50, irqs_on_50},	     {100, irqs_off_100, irqs_on_100},
	{200, irqs_off_200, irqs_on_user},   {500, irqs_off_500, irqs_on_500},
	{5000, irqs_off_5000, irqs_on_5000},
};

#define COST_TRIES 10

NOT_TRACED static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What a tracer may add to a window: some instructions, and the way to a host and back. */
NOT_TRACED static void costs_measure(void)
{
	irqs_seen.insns = irqs_seen.exit = UINT64_MAX;
	for (unsigned int i = 0; i < COST_TRIES; i++) {
		uint64_t start = rdtsc(), between;

		outb(0x80, 0);
		between = rdtsc();
		__asm__ volatile(".rept 20; movq (%%rsp), %%rax; .endr" : : : "rax", "memory");
		irqs_seen.insns = least(irqs_seen.insns, rdtsc() - between);
		irqs_seen.exit = least(irqs_seen.exit, between - start);
	}
}

NOT_TRACED static void window_make(size_t k)
{
	uint64_t n = irqs_seen.nr;
	struct window w;

	if (param_number("warm", 0)) {
		windows[k].off(&w);
		windows[k].on(&w);
	}
	windows[k].off(&w);
	clock_wait(w.begin, windows[k].us * UINT64_C(1000));
	windows[k].on(&w);
	if (n == IRQS_SEEN_MAX)
		return;
	irqs_seen.window[n] = (struct irqs_window){
		.us = windows[k].us,
		.inside = w.end - w.begin,
		.around = w.behind - w.before,
	};
	irqs_seen.nr = n + 1;
}

static void print_windows(void)
{
	print("irqs: ");
	print_number("insns", clock_ns(irqs_seen.insns));
	print("\n");
	for (uint64_t i = 0; i < irqs_seen.nr; i++) {
		print("irqs: ");
		print_number("inside", clock_ns(irqs_seen.window[i].inside));
		print_number("around", clock_ns(irqs_seen.window[i].around));
		print("\n");
	}
}

/*
 * Windows of `us` microseconds each, or of all lengths, count of them, with their lengths by this
 * guest's own TSC.
 */
bool job_irqs(unsigned int cpu)
{
	uint64_t us = param_number("us", 0), n = param_number("count", 1);

	if (cpu)
		return true;
	while (param_number("go", 0) && !job_go)
		__builtin_ia32_pause();
	costs_measure();
	__asm__ volatile("sti" : : : "memory");
	for (uint64_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(windows) / sizeof(windows[0]); k++)
			if (!us || windows[k].us == us)
				window_make(k);
	__asm__ volatile("cli" : : : "memory");
	if (us)
		print_windows();
	return true;
}
