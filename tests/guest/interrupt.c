// SPDX-License-Identifier: GPL-2.0-or-later
/* interrupt.c - the test guest's exceptions and interrupts. */
#include "guest.h"

#define GATE_INTERRUPT 0x8e00

struct gate {
	uint16_t offset_low, segment, type, offset_mid;
	uint32_t offset_high, zero;
};

struct __attribute__((packed)) idt_pointer {
	uint16_t limit;
	uint64_t base;
};

static struct gate idt[NR_VECTORS];

volatile uint64_t int3_count, int3_rip, ipi_count[MAX_CPUS], timer_count[MAX_CPUS];
volatile uint64_t interrupt_count[MAX_CPUS];
uint64_t timer_busy_ns, timer_ticks;

void idt_init(void)
{
	for (unsigned int i = 0; i < NR_VECTORS; i++) {
		uint64_t at = (uint64_t)vector_stubs + i * VECTOR_STUB;

		idt[i] = (struct gate){
			.offset_low = (uint16_t)at,
			.segment = CODE_SEG,
			.type = GATE_INTERRUPT,
			.offset_mid = (uint16_t)(at >> 16),
			.offset_high = (uint32_t)(at >> 32),
		};
	}
}

void idt_load(void)
{
	struct idt_pointer pointer = {sizeof(idt) - 1, (uint64_t)idt};

	__asm__ volatile("lidt %0" : : "m"(pointer));
}

static unsigned int frame_cpu(const struct frame *frame)
{
	return (unsigned int)(((uint64_t)frame - (uint64_t)cpu_stacks) / STACK_SIZE);
}

/* As Linux does it: the way in on the stack that was interrupted, the rest on one of its own. */
NOINLINE static void handle_interrupt(struct frame *frame)
{
	unsigned int cpu = frame_cpu(frame);

	switch (frame->vector) {
	case VECTOR_TIMER:
		if (++timer_count[cpu] == timer_ticks)
			apic_timer(0);
		clock_wait(rdtsc(), timer_busy_ns);
		break;
	case VECTOR_IPI:
		ipi_count[cpu]++;
		break;
	case VECTOR_SPURIOUS:
		return;
	default:
		print("unexpected ");
		print_number("vector", frame->vector);
		print_number("error", frame->regs.error);
		print_number("rip", frame->regs.rip);
		print("\n");
		halt();
	}
	apic_eoi();
}

__attribute__((section(".irqentry.text"))) void guest_interrupt(struct frame *frame)
{
	irqentry_enter(&frame->regs);
	interrupt_count[frame_cpu(frame)]++;
	if (frame->vector == VECTOR_INT3) {
		int3_count++;
		int3_rip = frame->regs.rip;
	} else {
		call_on_irq_stack(handle_interrupt, frame);
	}
	irqentry_exit(&frame->regs);
}
