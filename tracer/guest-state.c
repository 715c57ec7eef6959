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

/* Bytes of struct cyc2ns that are read: both copies and the sequence count behind them. */
static size_t clock_size(const struct guest_layout *at)
{
	return at->c2n_seq + sizeof(uint32_t);
}

static void percpu_find(struct guest_kernel *g, uint64_t base, uint64_t var, size_t len,
			struct guest_word *w)
{
	if (var == GUEST_NONE)
		w->found = false;
	else
		guest_find(g, base + var, len, w);
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
	if (task_member(g, task, at->task_flags, sizeof(uint64_t)) & TIF_NEED_RESCHED_BIT)
		st->flags |= TRACE_FLAG_NEED_RESCHED;
	disabled = (uint16_t)task_member(g, task, at->task_migration_disabled, sizeof(uint16_t));
	st->preempt_count |= (uint8_t)(nibble(disabled) << 4);
	if (at->task_comm == GUEST_NONE ||
	    guest_read(g, task + at->task_comm, st->comm, GUEST_COMM_LEN))
		st->comm[0] = '\0';
	st->comm[GUEST_COMM_LEN - 1] = '\0';
}

void guest_get_state(struct guest_kernel *g, unsigned int vcpu, const struct machine_regs *regs,
		     struct guest_state *st)
{
	const struct guest_cpu *c = guest_cpu(g, vcpu);

	memset(st, 0, sizeof(*st));
	if (!(regs->rflags & RFLAGS_IF))
		st->flags |= TRACE_FLAG_IRQS_OFF;
	if (c->preempt_count.found)
		state_from_count(st, (uint32_t)guest_get(g, &c->preempt_count, sizeof(uint32_t)));
	if (c->current.found)
		state_from_task(g, st, guest_get(g, &c->current, sizeof(uint64_t)));
}

struct clock_data {
	uint32_t mul, shift;
	uint64_t offset;
};

static void clock_copy(struct guest_kernel *g, const struct guest_word *w, uint32_t seq,
		       struct clock_data *d)
{
	const struct guest_layout *at = &g->at;
	uint64_t data = at->c2n_data + (seq & 1) * at->c2n_size;

	guest_copy(g, w, data + at->c2n_mul, &d->mul, sizeof(d->mul));
	guest_copy(g, w, data + at->c2n_shift, &d->shift, sizeof(d->shift));
	guest_copy(g, w, data + at->c2n_offset, &d->offset, sizeof(d->offset));
}

/*
 * Parameters of the TSC's conversion: one of two copies, told by the sequence count's low bit. A
 * guest that keeps changing the count is not waited for.
 */
static uint64_t cycles_to_ns(struct guest_kernel *g, const struct guest_word *w, uint64_t tsc)
{
	struct clock_data d = {0};
	uint32_t seq = 0, now = 0;

	guest_copy(g, w, g->at.c2n_seq, &now, sizeof(now));
	for (int tries = 0; tries < 4; tries++) {
		seq = now;
		clock_copy(g, w, seq, &d);
		atomic_signal_fence(memory_order_acq_rel); /* x86 itself keeps loads in order */
		guest_copy(g, w, g->at.c2n_seq, &now, sizeof(now));
		if (now == seq)
			break;
	}
	return d.offset + (uint64_t)(((unsigned __int128)tsc * d.mul) >> (d.shift & 63));
}

uint64_t guest_sched_clock(struct guest_kernel *g, unsigned int vcpu, uint64_t tsc, bool stable)
{
	const struct guest_cpu *c = guest_cpu(g, vcpu);
	const struct guest_layout *at = &g->at;
	uint64_t ns;

	if (c->cyc2ns.found && (int32_t)guest_image_u32(g, at->use_tsc, 0) > 0)
		ns = cycles_to_ns(g, &c->cyc2ns, tsc);
	else
		ns = (guest_image_u64(g, at->jiffies, at->jiffies_start) - at->jiffies_start) *
		     guest_image_u64(g, at->tick_nsec, 0);
	if (stable)
		ns += guest_image_u64(g, at->sched_clock_offset, 0);
	return ns;
}
