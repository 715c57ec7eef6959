// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * follow.c - follows a call from branch to branch, with breakpoints in the debug registers that
 * KVM gives one vCPU (KVM_GUESTDBG_USE_HW_BP).
 *
 * The vCPU stops before each branch; where that is about to go is told from registers and memory,
 * and the next breakpoint is put at the end of the block there. The branch itself is the guest's
 * to execute, with RF set, so nothing of the guest is changed, and interrupts come as they come.
 * It is never single-stepped: TF would get into what pushf and exceptions write to the guest's
 * stack, and would come back from there when nobody steps any more.
 *
 * A branch may turn out otherwise than was told (an exception, memory that another vCPU writes).
 * So there are breakpoints that each call comes to: where it returns to, and `leaves`, since a task
 * leaves its processor in the kernel's scheduler only. Page faults are told by one at the handler.
 *
 * An interrupt begins on the stack of the call, and may come to a breakpoint of it there: it is
 * told apart by its stack pointer, where that of the block can be told.
 */
#include "vmm/core/branch.h"
#include "vmm/kvm/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define RFLAGS_RF (UINT64_C(1) << 16)
#define DR6_BS	  (1u << 14)
#define DR7_FIXED 0x0600u /* and bits of GE */

#define VECTOR_PF 14

#define CHAIN_MAX 16 /* branches behind each other that are gone through at one stop */

/* Which breakpoint is for what. */
enum { AT_BRANCH, AT_RETURN, AT_END, AT_FAULT, NR_AT };

struct kvm_follow {
	struct machine_follow pub;
	bool on;
	uint64_t at[NR_AT]; /* 0: there is none */
	struct branch_end block;
	unsigned int left; /* of pub.steps */
	struct branch_decoder *decoder;
};

/* What the processor pushes for an exception with an error code (SDM vol. 3, 6.14.2). */
struct fault_frame {
	uint64_t error, rip, cs, rflags, rsp, ss;
};

bool kvm_follow_breakpoints(const struct kvm_vcpu *v, struct kvm_guest_debug *debug)
{
	const struct kvm_follow *f = v->follow;

	if (!f || !f->on)
		return false;
	debug->arch.debugreg[7] = DR7_FIXED;
	for (unsigned int i = 0; i < NR_AT; i++) {
		if (!f->at[i])
			continue;
		debug->arch.debugreg[i] = f->at[i];
		debug->arch.debugreg[7] |= 2u << 2 * i; /* of execution, one byte */
	}
	return true;
}

void kvm_follow_forget(struct kvm_vcpu *v)
{
	if (v->follow)
		v->follow->on = false;
}

void kvm_follow_free(struct kvm_vcpu *v)
{
	if (v->follow)
		branch_decoder_free(v->follow->decoder);
	free(v->follow);
	v->follow = NULL;
}

/* --- telling ---------------------------------------------------------------------------------- */

/* False: the owner wants no more. */
static bool tell(struct kvm_vcpu *v, uint64_t tsc, const struct machine_branch *what)
{
	struct kvm_machine *m = v->m;
	struct machine_branch b = *what;
	bool more;

	if (!m->cfg.branch)
		return false;
	b.vcpu = v->index;
	b.tsc = kvm_vcpu_tsc(v, tsc);
	more = m->cfg.branch(&m->base, &b, m->cfg.arg);
	kvm_pause_handler_done(v);
	return more;
}

static void over(struct kvm_vcpu *v, uint64_t tsc, enum machine_follow_end end)
{
	struct machine_regs regs;

	v->follow->on = false;
	memcpy(&regs, kvm_vcpu_regs(v), sizeof(regs));
	tell(v, tsc, &(struct machine_branch){.end = end, .regs = &regs});
}

/* --- from branch to branch -------------------------------------------------------------------- */

static int read_virt(void *arg, uint64_t va, void *buf, size_t len)
{
	return kvm_virt_read(arg, va, buf, len);
}

static struct branch_cpu branch_cpu(struct kvm_vcpu *v, const struct machine_regs *regs)
{
	return (struct branch_cpu){.regs = regs, .read = read_virt, .arg = v};
}

/* The next branch is that of the block which begins with these; where it cannot be told there is
 * none. */
static void await_branch(struct kvm_vcpu *v, const struct machine_regs *regs)
{
	struct kvm_follow *f = v->follow;
	const struct branch_cpu cpu = branch_cpu(v, regs);

	if (branch_block_end(f->decoder, &cpu, &f->block))
		f->at[AT_BRANCH] = 0;
	else
		f->at[AT_BRANCH] = f->block.va;
}

/* Not an interrupt's, which is deeper in the same stack at first and may execute the same code. */
static bool is_of_call(const struct kvm_follow *f, uint64_t rsp)
{
	return !f->block.rsp_known || f->block.rsp == rsp;
}

/* False: that was the last one. Else regs are those behind it. */
static bool pass_branch(struct kvm_vcpu *v, uint64_t tsc, struct machine_regs *regs)
{
	struct kvm_follow *f = v->follow;
	const struct branch_cpu cpu = branch_cpu(v, regs);
	const uint64_t rip = regs->rip, rsp = regs->rsp;
	struct branch b;

	if (branch_look(f->decoder, &cpu, &b) || b.kind == BRANCH_OTHER)
		return false;
	if (b.taken &&
	    !tell(v, tsc, &(struct machine_branch){.from = rip, .to = b.next, .regs = regs}))
		over(v, tsc, MACHINE_FOLLOW_STOPPED);
	else if (b.taken && b.next == f->at[AT_RETURN] && rsp == f->pub.sp)
		over(v, tsc, MACHINE_FOLLOW_RETURNED);
	else if (b.to_user || b.next == f->at[AT_END])
		over(v, tsc, MACHINE_FOLLOW_LEFT);
	regs->rip = b.next;
	regs->rsp = b.rsp;
	regs->rcx = b.rcx;
	regs->rflags = b.rflags;
	return f->on;
}

/*
 * A block that is a branch alone (`ret` of a return thunk, by which interrupts go as well) is gone
 * through at once, without a stop: nothing that it depends on is changed in between. Not behind a
 * call, which has yet to put on the stack where it returns to.
 */
static void at_branch(struct kvm_vcpu *v, uint64_t tsc)
{
	struct kvm_follow *f = v->follow;
	struct machine_regs regs;
	unsigned int n = 0;
	uint64_t rsp;

	memcpy(&regs, kvm_vcpu_regs(v), sizeof(regs));
	do {
		f->at[AT_BRANCH] = 0;
		rsp = regs.rsp;
		if (!pass_branch(v, tsc, &regs))
			return;
		await_branch(v, &regs);
	} while (f->at[AT_BRANCH] == regs.rip && regs.rsp >= rsp && ++n < CHAIN_MAX);
}

/* A handler has been entered: out of this call, if that was on the same stack. */
static void at_fault(struct kvm_vcpu *v, uint64_t tsc)
{
	struct fault_frame frame;
	struct machine_regs regs;

	memcpy(&regs, kvm_vcpu_regs(v), sizeof(regs));
	if (kvm_virt_read(v, regs.rsp, &frame, sizeof(frame)) ||
	    !branch_is_within(frame.rsp, v->follow->pub.sp))
		return;
	if (tell(v, tsc,
		 &(struct machine_branch){.from = frame.rip, .to = regs.rip, .regs = &regs}))
		await_branch(v, &regs);
	else
		over(v, tsc, MACHINE_FOLLOW_STOPPED);
}

static void at_breakpoint(struct kvm_vcpu *v, uint64_t tsc)
{
	struct kvm_follow *f = v->follow;
	uint64_t rip = kvm_vcpu_regs(v)->rip, rsp = kvm_vcpu_regs(v)->rsp;

	if (!f->left--)
		over(v, tsc, MACHINE_FOLLOW_BOUND);
	else if (!branch_is_within(rsp, f->pub.sp))
		return; /* an interrupt's, on a stack of its own */
	else if (rip == f->at[AT_RETURN] && rsp == f->pub.sp + sizeof(uint64_t))
		over(v, tsc, MACHINE_FOLLOW_RETURNED);
	else if (rip == f->at[AT_END])
		over(v, tsc, MACHINE_FOLLOW_LEFT);
	else if (rip == f->at[AT_FAULT])
		at_fault(v, tsc);
	else if (rip == f->at[AT_BRANCH] && is_of_call(f, rsp))
		at_branch(v, tsc);
}

void kvm_follow_stop(struct kvm_vcpu *v, uint64_t tsc)
{
	uint32_t what = 0;

	/* The guest's own, a single step of a task's: KVM has asked us only. */
	if (!v->follow || !v->follow->on || v->run->debug.arch.dr6 & DR6_BS)
		what = KVM_GUESTDBG_INJECT_DB;
	else
		at_breakpoint(v, tsc);
	if (!what) {
		kvm_vcpu_regs(v)->rflags |= RFLAGS_RF;
		kvm_vcpu_regs_changed(v);
	}
	if (!kvm_vcpu_debug(v, what))
		machine_end(&v->m->base, MACHINE_EVENT_ERROR, v->index,
			    "KVM cannot set breakpoints on vCPU %u: %s", v->index, strerror(errno));
}

/* --- beginning -------------------------------------------------------------------------------- */

/* Where page faults go: SDM vol. 3, 6.14.1. 0: it cannot be told. */
static uint64_t fault_handler(struct kvm_vcpu *v)
{
	struct kvm_sregs sregs;
	uint32_t gate[4];

	if (kvm_vcpu_get_sregs(v, &sregs) || sregs.idt.limit < VECTOR_PF * sizeof(gate) ||
	    kvm_virt_read(v, sregs.idt.base + VECTOR_PF * sizeof(gate), gate, sizeof(gate)))
		return 0;
	return (uint64_t)gate[2] << 32 | (gate[1] & 0xffff0000u) | (gate[0] & 0xffffu);
}

static int follow_alloc(struct kvm_vcpu *v)
{
	if (v->follow)
		return 0;
	v->follow = calloc(1, sizeof(*v->follow));
	if (v->follow)
		v->follow->decoder = branch_decoder_new();
	if (v->follow && v->follow->decoder)
		return 0;
	kvm_follow_free(v);
	return -ENOMEM;
}

int kvm_follow(struct machine *base, const struct machine_follow *follow)
{
	struct kvm_machine *m = kvm_machine(base);
	struct kvm_vcpu *v = &m->vcpu[follow->vcpu % MACHINE_MAX_VCPUS];
	struct machine_regs regs;
	uint64_t to;
	int rc;

	/* The emulator of KVM looks at breakpoints, but not at RF. */
	if (m->cal.emulated)
		return -EOPNOTSUPP;
	if (follow->vcpu >= m->nvcpus)
		return -EINVAL;
	if (v->follow && v->follow->on)
		return -EBUSY;
	if (kvm_virt_read(v, follow->sp, &to, sizeof(to)))
		return -EFAULT;
	rc = follow_alloc(v);
	if (rc)
		return rc;
	v->follow->pub = *follow;
	v->follow->left = follow->steps;
	v->follow->at[AT_RETURN] = to;
	v->follow->at[AT_END] = follow->leaves;
	v->follow->at[AT_FAULT] = fault_handler(v);
	memcpy(&regs, kvm_vcpu_regs(v), sizeof(regs));
	await_branch(v, &regs);
	v->follow->on = true;
	if (kvm_vcpu_debug(v, 0))
		return 0;
	rc = -errno;
	v->follow->on = false;
	return rc;
}
