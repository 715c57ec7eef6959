// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traps.c - see traps.h
 *
 * What the payload does with a window in the guest (payload/flags.S) is done here from the hit's
 * registers. The way to the host and back is not to be measured, as far as that is possible: a
 * window begins when its hit has been dealt with, and ends when the vCPU has left the guest. What
 * is within are the way back into the guest from the one, and the way out at the other.
 */
#include "tracer/probe/critical/traps.h"
#include "tracer/payload/event-ring.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/stat/latencies.h"
#include "tracer/payload/record.h"
#include "tracer/unwind/unwind.h"

#include <errno.h>

#define RFLAGS_CF (1u << 0)
#define RFLAGS_PF (1u << 2)
#define RFLAGS_ZF (1u << 6)
#define RFLAGS_SF (1u << 7)
#define RFLAGS_IF (1u << 9)
#define RFLAGS_OF (1u << 11)

/* Offsets in struct pt_regs (arch/x86/include/uapi/asm/ptrace-abi.h) */
#define REGS_CS	   0x88
#define REGS_FLAGS 0x90

#define CS_RPL 3

void flag_traps_make(const struct trace *t, uint64_t va, struct machine_trap *trap)
{
	uint64_t target;
	enum flag_insn insn = flag_sites_insn(t, va, &trap->size, &target);

	if (insn == FLAG_INSN_RETURN)
		trap->action = MACHINE_TRAP_RETURN;
	/* A vCPU may stand between the two instructions: the second one has to stay. */
	if (insn == FLAG_INSN_CLI || insn == FLAG_INSN_STI)
		trap->kind = MACHINE_TRAP_INT3;
}

/* --- instructions ---------------------------------------------------------------------------- */

/* What a hit does to the vCPU, and to the window. */
struct step {
	struct machine_regs regs; /* that it goes on with */
	bool changed;		  /* they are others than those at hand */
	bool off, on;		  /* interrupts go off; they are about to go on */
	uint64_t user;		  /* user mode follows: the privilege level */
};

static int step_call(struct trace *t, struct step *s, uint64_t target)
{
	uint64_t pa, back = s->regs.rip;
	int ret = guest_translate(&t->guest, s->regs.rsp - sizeof(back), &pa);

	if (!ret)
		ret = machine_write(t->m, pa, &back, sizeof(back));
	s->regs.rsp -= sizeof(back);
	s->regs.rip = target;
	s->changed = true;
	return ret;
}

/* testb $3, CS(%rsp): the parity of one bit is odd, of two it is even. */
static void step_test(struct step *s, uint64_t cs)
{
	unsigned int rpl = cs & CS_RPL;

	s->regs.rflags &= ~(uint64_t)(RFLAGS_CF | RFLAGS_PF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_OF);
	if (!rpl)
		s->regs.rflags |= RFLAGS_ZF;
	if (rpl == 0 || rpl == 3)
		s->regs.rflags |= RFLAGS_PF;
	s->user = rpl;
	s->changed = true;
}

/* Whether interrupts are on where this struct pt_regs leads back to. */
static int read_saved(struct trace *t, uint64_t regs, uint64_t *cs, bool *on)
{
	uint64_t flags = 0;
	int ret = guest_read(&t->guest, regs + REGS_FLAGS, &flags, sizeof(flags));

	*on = flags & RFLAGS_IF;
	return ret ? ret : guest_read(&t->guest, regs + REGS_CS, cs, sizeof(*cs));
}

static int step_insn(struct trace *t, enum flag_insn insn, uint64_t target, struct step *s)
{
	bool on = s->regs.rflags & RFLAGS_IF;
	uint64_t cs = 0;
	int ret;

	switch (insn) {
	case FLAG_INSN_CLI:
		s->off = on;
		s->regs.rflags &= ~(uint64_t)RFLAGS_IF;
		s->changed = on;
		return 0;
	case FLAG_INSN_STI:
		s->on = !on;
		s->regs.rflags |= RFLAGS_IF;
		s->changed = !on;
		return 0;
	case FLAG_INSN_ENTER:
		ret = read_saved(t, s->regs.rdi, &cs, &s->off);
		return ret ? ret : step_call(t, s, target);
	case FLAG_INSN_LEAVE:
		ret = read_saved(t, s->regs.rsp, &cs, &s->on);
		step_test(s, cs);
		return ret;
	case FLAG_INSN_RETURN:
		s->on = true;
		return 0;
	case FLAG_INSN_IDLE:
		s->on = true;
		return step_call(t, s, target);
	default:
		return -EINVAL;
	}
}

/* --- windows --------------------------------------------------------------------------------- */

static void record_make(struct trace *t, const struct machine_hit *hit, unsigned int type,
			struct payload_record *r)
{
	struct guest_state st;

	record_of_hit(t, hit, type, r, &st);
	r->state |= STATE_IRQS_OFF;
	if (t->instances->options & OUTPUT_RECORD_CMD)
		comms_note(t->comms, st.pid, st.tgid, st.comm);
}

static void stack_look(struct trace *t, const struct machine_hit *hit, struct event_stack *stack)
{
	const struct unwind *u = atomic_load(&t->unwind_ready) ? t->unwind : NULL;

	stack->n = unwind_entry(u, &t->guest, hit->va, hit->regs->rsp, hit->regs->rbp, stack->ip,
				NULL, EVENT_STACK_DEPTH);
}

/* It may be one that is kept. */
static void window_found(struct instance *top, const struct machine_hit *hit,
			 struct critical_window *w)
{
	struct event_stack stack;

	if (!top->t->latency_on || latencies_want_stack(top, w)) {
		stack_look(top->t, hit, &stack);
		w->stack = &stack;
	}
	top->tracer->window(top, w);
	w->stack = NULL;
}

/* True: one was found that is long enough. The vCPU's lock is held. */
static bool window_end(struct trace *t, const struct machine_hit *hit, uint64_t user)
{
	struct critical *c = &t->critical[hit->vcpu];
	struct instance *top = t->instances;
	struct critical_window w = {.vcpu = hit->vcpu, .off = c->off};
	bool open = c->open;

	c->open = false;
	if (!open || !top->on || !top->tracer->window)
		return false;
	w.on.tsc = hit->tsc;
	if (critical_ticks(&w) < instance_max_ticks(top))
		return false;
	record_make(t, hit, PAYLOAD_IRQS_ON, &w.on);
	w.on.parent = (uint32_t)user;
	window_found(top, hit, &w);
	return true;
}

/* The vCPU's lock is held. */
static void window_begin(struct trace *t, const struct machine_hit *hit)
{
	const struct instance *top = t->instances;
	struct critical *c = &t->critical[hit->vcpu];

	c->open = top->tracer->critical & CRITICAL_IRQS && top->on && top->cpumask >> hit->vcpu & 1;
	if (!c->open)
		return;
	record_make(t, hit, PAYLOAD_IRQS_OFF, &c->off);
	c->off.tsc = machine_get_tsc(t->m, hit->vcpu);
}

/* There is no collector whose passes end. */
static void windows_keep(struct trace *t)
{
	struct instance *top = t->instances;

	instance_writers_stop(t);
	if (top->tracer->critical)
		top->tracer->pass(top, 0);
	instance_writers_go(t);
	instances_wake(t);
}

void flag_traps_hit(struct trace *t, const struct machine_hit *hit)
{
	struct step s = {.regs = *hit->regs};
	uint64_t target;
	uint8_t size;
	enum flag_insn insn = flag_sites_insn(t, hit->va - t->guest.slide, &size, &target);
	bool found = false;
	int ret = step_insn(t, insn, target, &s);

	/* Nobody sees the vCPU before it has its registers. */
	if (!ret && s.changed)
		ret = machine_set_regs(t->m, hit->vcpu, &s.regs);
	if (ret) {
		trace_note(t, "the guest cannot go on behind a place where interrupts change");
		trace_fail(t, ret);
	}
	pthread_mutex_lock(&t->vcpu_lock[hit->vcpu]);
	trace_seen(t, hit->tsc);
	if (s.on)
		found = window_end(t, hit, s.user);
	if (s.off)
		window_begin(t, hit);
	pthread_mutex_unlock(&t->vcpu_lock[hit->vcpu]);
	if (found)
		windows_keep(t);
}
