// SPDX-License-Identifier: GPL-2.0-or-later
/* traps.c - see traps.h */
#include "tracer/probe/critical/traps.h"
#include "tracer/probe/critical/sites.h"

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

static int step_call(struct trace *t, struct flag_step *s, uint64_t target)
{
	uint64_t back = s->regs.rip;
	int ret = guest_write(&t->guest, s->regs.rsp - sizeof(back), &back, sizeof(back));

	s->regs.rsp -= sizeof(back);
	s->regs.rip = target;
	s->changed = true;
	return ret;
}

/* testb $3, CS(%rsp): the parity of one bit is odd, of two it is even. */
static void step_test(struct flag_step *s, uint64_t cs)
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

static int step_insn(struct trace *t, enum flag_insn insn, uint64_t target, struct flag_step *s)
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
	case FLAG_INSN_SYSCALL:
		s->off = true;
		return step_call(t, s, target);
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

int flag_traps_step(struct trace *t, const struct machine_hit *hit, struct flag_step *s)
{
	uint64_t target;
	uint8_t size;
	enum flag_insn insn = flag_sites_insn(t, hit->va - t->guest.slide, &size, &target);
	int ret;

	*s = (struct flag_step){.regs = *hit->regs};
	ret = step_insn(t, insn, target, s);
	/* Nobody sees the vCPU before it has its registers. */
	return !ret && s->changed ? machine_set_regs(t->m, hit->vcpu, &s->regs) : ret;
}
