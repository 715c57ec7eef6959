// SPDX-License-Identifier: GPL-2.0-or-later
/* stacks.c - see stacks.h */
#include "tracer/graph/stacks.h"
#include "tracer/guest/tasks.h"

#define IRQ_STACK (16u << 10) /* IRQ_STACK_SIZE without KASAN */

bool pairing_stacks_read(struct guest_kernel *g, const struct guestsym *gs, unsigned int vcpus,
			 struct pairing_stacks *stacks)
{
	struct task_layout at;

	*stacks = (struct pairing_stacks){.irq_size = IRQ_STACK};
	stacks->thread_size = task_layout_learn(&at, gs, g) ? IRQ_STACK : (uint32_t)at.stack_size;
	for (unsigned int i = 0; i < vcpus; i++) {
		uint64_t top = guest_irq_stack(g, i);

		if (!top && i)
			continue; /* it has never been up: irq_init_percpu_irqstack() */
		if (!top)
			return false;
		/* Its highest word is not used. */
		stacks->irq_start[stacks->nr_irq++] = (uint32_t)(top + 8 - IRQ_STACK);
	}
	return true;
}
