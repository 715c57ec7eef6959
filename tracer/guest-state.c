// SPDX-License-Identifier: GPL-2.0-or-later
/* guest-state.c - reads the guest's current task, preemption count and clock at a hit. */
#include "tracer/guest.h"
#include "tracer/entry.h"

#include <stdatomic.h>
#include <string.h>

/* Fields of preempt_count (include/linux/preempt.h; bit 31: arch/x86/include/asm/preempt.h). */
#define PREEMPT_MASK	     0x000000ffu
#define SOFTIRQ_SERVED	     0x00000100u
#define SOFTIRQ_MASK	     0x0000ff00u
#define SOFTIRQ_DISABLED     0x0000fe00u
#define HARDIRQ_MASK	     0x000f0000u
#define NMI_MASK	     0x00f00000u
#define PREEMPT_NO_RESCHED   0x80000000u /* inverted: clear when a reschedule is due */
#define TIF_NEED_RESCHED_BIT (1u << 3)	 /* arch/x86/include/asm/thread_info.h */
#define RFLAGS_IF	     (1u << 9)
#define NIBBLE_MAX	     15u

static const void *percpu_ptr(struct guest *g, uint64_t base, uint64_t var, size_t len)
{
	return var == GUEST_NONE ? NULL : guest_ptr(g, base + var, len);
}

/* The vCPU's per-CPU area; vCPU n is CPU n, since the machine lists them in that order. */
static const struct guest_cpu *guest_cpu(struct guest *g, unsigned int vcpu)
{
	struct guest_cpu *c = &g->cpu[vcpu];
	uint64_t base = guest_image_u64(g, g->at.per_cpu_offset + 8 * vcpu, 0);
	size_t clock_len = g->at.c2n_data + 2 * g->at.c2n_size + sizeof(uint32_t);

	if (base == c->base && c->current)
		return c;
	c->base = base;
	c->current = percpu_ptr(g, base, g->at.current_task, sizeof(*c->current));
	c->preempt_count = percpu_ptr(g, base, g->at.preempt_count, sizeof(*c->preempt_count));
	c->cyc2ns = percpu_ptr(g, base, g->at.cyc2ns, clock_len);
	return c;
}

static uint8_t nibble(uint32_t n)
{
	return n < NIBBLE_MAX ? (uint8_t)n : NIBBLE_MAX;
}

/* As tracing_gen_ctx_irq_test() (kernel/trace/trace.c, 6.1). */
static void state_from_count(struct guest_state *st, uint32_t count)
{
	if (count & NMI_MASK)
		st->flags |= TRACE_FLAG_NMI;
	if (count & HARDIRQ_MASK)
		st->flags |= TRACE_FLAG_HARDIRQ;
	if (count & SOFTIRQ_SERVED)
		st->flags |= TRACE_FLAG_SOFTIRQ;
	if (count & SOFTIRQ_DISABLED)
		st->flags |= TRACE_FLAG_BH_OFF;
	if (!(count & PREEMPT_NO_RESCHED))
		st->flags |= TRACE_FLAG_PREEMPT_RESCHED;
	st->preempt_count = nibble(count & PREEMPT_MASK);
}

/* A member of the task, which may straddle pages: slow but right for those. */
static uint64_t task_member(struct guest *g, uint64_t task, uint64_t off, size_t len)
{
	uint64_t value = 0;
	const void *p;

	if (off == GUEST_NONE)
		return 0;
	p = guest_ptr(g, task + off, len);
	if (p)
		memcpy(&value, p, len);
	else if (guest_read(g, task + off, &value, len))
		return 0;
	return value;
}

static void state_from_task(struct guest *g, struct guest_state *st, uint64_t task)
{
	const struct guest_layout *at = &g->at;
	uint32_t disabled;

	st->pid = (int32_t)task_member(g, task, at->task_pid, sizeof(st->pid));
	st->tgid = (int32_t)task_member(g, task, at->task_tgid, sizeof(st->tgid));
	if (task_member(g, task, at->task_flags, sizeof(uint64_t)) & TIF_NEED_RESCHED_BIT)
		st->flags |= TRACE_FLAG_NEED_RESCHED;
	disabled = (uint16_t)task_member(g, task, at->task_migration_disabled, sizeof(uint16_t));
	st->preempt_count |= (uint8_t)(nibble(disabled) << 4);
	if (at->task_comm == GUEST_NONE ||
	    guest_read(g, task + at->task_comm, st->comm, GUEST_COMM_LEN))
		st->comm[0] = '\0';
	st->comm[GUEST_COMM_LEN - 1] = '\0';
}

void guest_get_state(struct guest *g, unsigned int vcpu, const struct machine_regs *regs,
		     struct guest_state *st)
{
	const struct guest_cpu *c = guest_cpu(g, vcpu);

	memset(st, 0, sizeof(*st));
	if (!(regs->rflags & RFLAGS_IF))
		st->flags |= TRACE_FLAG_IRQS_OFF;
	if (c->preempt_count)
		state_from_count(st, __atomic_load_n(c->preempt_count, __ATOMIC_RELAXED));
	if (c->current)
		state_from_task(g, st, __atomic_load_n(c->current, __ATOMIC_RELAXED));
}

/*
 * Parameters of the TSC's conversion: one of two copies, told by the sequence count's low bit. A
 * guest that keeps changing the count is not waited for.
 */
static uint64_t cycles_to_ns(const struct guest_layout *at, const uint8_t *cyc2ns, uint64_t tsc)
{
	uint32_t seq, now, mul, shift;
	uint64_t offset;

	memcpy(&now, cyc2ns + at->c2n_seq, sizeof(now));
	for (int tries = 0; tries < 4; tries++) {
		const uint8_t *data = cyc2ns + at->c2n_data + (now & 1) * at->c2n_size;

		seq = now;
		memcpy(&mul, data + at->c2n_mul, sizeof(mul));
		memcpy(&shift, data + at->c2n_shift, sizeof(shift));
		memcpy(&offset, data + at->c2n_offset, sizeof(offset));
		atomic_signal_fence(memory_order_acq_rel); /* x86 itself keeps loads in order */
		memcpy(&now, cyc2ns + at->c2n_seq, sizeof(now));
		if (now == seq)
			break;
	}
	return offset + (uint64_t)(((unsigned __int128)tsc * mul) >> (shift & 63));
}

uint64_t guest_sched_clock(struct guest *g, unsigned int vcpu, uint64_t tsc, bool stable)
{
	const struct guest_cpu *c = guest_cpu(g, vcpu);
	const struct guest_layout *at = &g->at;
	uint64_t ns;

	if (c->cyc2ns && (int32_t)guest_image_u32(g, at->use_tsc, 0) > 0)
		ns = cycles_to_ns(at, c->cyc2ns, tsc);
	else
		ns = (guest_image_u64(g, at->jiffies, at->jiffies_start) - at->jiffies_start) *
		     guest_image_u64(g, at->tick_nsec, 0);
	if (stable)
		ns += guest_image_u64(g, at->sched_clock_offset, 0);
	return ns;
}
