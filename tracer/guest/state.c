// SPDX-License-Identifier: GPL-2.0-or-later
/* state.c - reads the guest's current task, preemption count and clock at a hit. */
#include "tracer/guest/guest.h"
#include "tracer/guest/preempt.h"

#include <stdatomic.h>
#include <string.h>

#define RFLAGS_IF (1u << 9)

/* Bytes of struct cyc2ns that are read: both copies and the sequence count behind them. */
static size_t clock_size(const struct guest_layout *at)
{
	return at->c2n_seq + sizeof(uint32_t);
}

/*
 * Per-CPU variables are linked at 0 and up (the symbols are absolute) until 6.14, from 6.15 on with
 * the kernel image, and then KASLR moves them too (arch/x86/kernel/vmlinux.lds.S).
 */
uint64_t guest_percpu_disp(const struct guest_kernel *g, uint64_t var)
{
	return var - g->text_va < g->text_len ? var + g->slide : var;
}

static void percpu_find(struct guest_kernel *g, uint64_t base, uint64_t var, size_t len,
			struct guest_word *w)
{
	if (var == GUEST_NONE)
		w->found = false;
	else
		guest_find(g, base + guest_percpu_disp(g, var), len, w);
}

/* The vCPU's per-CPU area; vCPU n is CPU n, since the machine lists them in that order. */
static const struct guest_cpu *guest_cpu(struct guest_kernel *g, unsigned int vcpu)
{
	struct guest_cpu *c = &g->cpu[vcpu];
	uint64_t base = guest_image_u64(g, g->at.per_cpu_offset + 8 * vcpu, 0);

	if (base == c->base && c->current.found)
		return c;
	c->base = base;
	percpu_find(g, base, g->at.current_task, sizeof(uint64_t), &c->current);
	percpu_find(g, base, g->at.preempt_count, sizeof(uint32_t), &c->preempt_count);
	percpu_find(g, base, g->at.cyc2ns, clock_size(&g->at), &c->cyc2ns);
	return c;
}

static uint64_t task_member(struct guest_kernel *g, uint64_t task, uint64_t off, size_t len)
{
	uint64_t value = 0;

	if (off == GUEST_NONE || guest_read(g, task + off, &value, len))
		return 0;
	return value;
}

static void state_from_task(struct guest_kernel *g, struct guest_state *st, uint64_t task)
{
	const struct guest_layout *at = &g->at;
	uint32_t disabled;

	st->pid = (int32_t)task_member(g, task, at->task_pid, sizeof(st->pid));
	st->tgid = (int32_t)task_member(g, task, at->task_tgid, sizeof(st->tgid));
	if (task_member(g, task, at->task_flags, sizeof(uint64_t)) & (1u << GUEST_TIF_NEED_RESCHED))
		st->flags |= TRACE_FLAG_NEED_RESCHED;
	disabled = (uint16_t)task_member(g, task, at->task_migration_disabled, sizeof(uint16_t));
	st->preempt_count |= (uint8_t)(preempt_nibble(disabled) << 4);
	if (at->task_comm == GUEST_NONE ||
	    guest_read(g, task + at->task_comm, st->comm, GUEST_COMM_LEN))
		st->comm[0] = '\0';
	st->comm[GUEST_COMM_LEN - 1] = '\0';
}

uint64_t guest_current(struct guest_kernel *g, unsigned int vcpu)
{
	return guest_get(g, &guest_cpu(g, vcpu)->current, sizeof(uint64_t));
}

uint32_t guest_preempt_count(struct guest_kernel *g, unsigned int vcpu)
{
	if (g->call[vcpu].made)
		return g->call[vcpu].preempt_count;
	return (uint32_t)guest_get(g, &guest_cpu(g, vcpu)->preempt_count, sizeof(uint32_t));
}

void guest_get_state(struct guest_kernel *g, unsigned int vcpu, const struct machine_regs *regs,
		     struct guest_state *st)
{
	memset(st, 0, sizeof(*st));
	if (!(regs->rflags & RFLAGS_IF))
		st->flags |= TRACE_FLAG_IRQS_OFF;
	if (guest_cpu(g, vcpu)->preempt_count.found) {
		uint32_t count = guest_preempt_count(g, vcpu);

		st->flags |= preempt_flags(count);
		st->preempt_count = preempt_nibble(count & PREEMPT_MASK);
	}
	if (guest_cpu(g, vcpu)->current.found)
		state_from_task(g, st, guest_current(g, vcpu));
}

static void clock_copy(struct guest_kernel *g, const struct guest_word *w, uint32_t seq,
		       struct guest_clock *c)
{
	const struct guest_layout *at = &g->at;
	uint64_t data = at->c2n_data + (seq & 1) * at->c2n_size;

	guest_copy(g, w, data + at->c2n_mul, &c->mul, sizeof(c->mul));
	guest_copy(g, w, data + at->c2n_shift, &c->shift, sizeof(c->shift));
	guest_copy(g, w, data + at->c2n_offset, &c->offset, sizeof(c->offset));
}

/*
 * Parameters of the TSC's conversion: one of two copies, told by the sequence count's low bit. A
 * guest that keeps changing the count is not waited for.
 */
static void cycles_to_ns(struct guest_kernel *g, const struct guest_word *w, struct guest_clock *c)
{
	uint32_t seq = 0, now = 0;

	guest_copy(g, w, g->at.c2n_seq, &now, sizeof(now));
	for (int tries = 0; tries < 4; tries++) {
		seq = now;
		clock_copy(g, w, seq, c);
		atomic_signal_fence(memory_order_acq_rel); /* x86 itself keeps loads in order */
		guest_copy(g, w, g->at.c2n_seq, &now, sizeof(now));
		if (now == seq)
			break;
	}
}

uint64_t guest_jiffies_ns(struct guest_kernel *g)
{
	const struct guest_layout *at = &g->at;
	uint64_t ticks = guest_image_u64(g, at->jiffies, at->jiffies_start) - at->jiffies_start;

	return ticks * guest_image_u64(g, at->tick_nsec, 0);
}

void guest_get_tick(struct guest_kernel *g, bool stable, struct guest_clock *c)
{
	const struct guest_layout *at = &g->at;

	memset(c, 0, sizeof(*c));
	c->offset = guest_jiffies_ns(g);
	if (stable)
		c->offset += guest_image_u64(g, at->sched_clock_offset, 0);
}

void guest_get_clock(struct guest_kernel *g, unsigned int vcpu, bool stable, struct guest_clock *c)
{
	const struct guest_cpu *cpu = guest_cpu(g, vcpu);

	if (pvclock_get_sched(g, vcpu, c)) {
		if (stable)
			guest_clock_tick(g, vcpu, c);
		return;
	}
	if (!cpu->cyc2ns.found || (int32_t)guest_image_u32(g, g->at.use_tsc, 0) <= 0) {
		guest_get_tick(g, stable, c);
		return;
	}
	memset(c, 0, sizeof(*c));
	cycles_to_ns(g, &cpu->cyc2ns, c);
	if (stable)
		guest_clock_tick(g, vcpu, c);
}

uint64_t guest_irq_stack(struct guest_kernel *g, unsigned int vcpu)
{
	uint64_t base = guest_image_u64(g, g->at.per_cpu_offset + 8 * vcpu, 0), top = 0;
	uint64_t var = g->at.irq_stack;

	if (var == GUEST_NONE || guest_read(g, base + guest_percpu_disp(g, var), &top, sizeof(top)))
		return 0;
	return top;
}
