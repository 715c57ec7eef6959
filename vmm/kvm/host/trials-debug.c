// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trials-debug.c - breakpoints and steps, as KVM_SET_GUEST_DEBUG makes them: ../traps.c uses them,
 * and QEMU for its gdb stub.
 */
#include "vmm/kvm/host/trials.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define DB_VECTOR  1
#define BP_VECTOR  3
#define IRQ_VECTOR 0x41

#define X86_EFLAGS_IF 0x200

#define DR6_B0	  1
#define DR7_G0	  2
#define DR7_FIXED 0x600 /* GE, and the bit that is always set */

#define NOPS	  8 /* in front of the out of step_code */
#define ELSEWHERE (TINY_CODE + 4)

static const uint8_t step_code[] = {
	0x90, 0x90,	  0x90, 0x90, /* nop */
	0x90, 0x90,	  0x90, 0x90, /* nop */
	0xe6, TRIAL_PORT,	      /* out %al, $port */
};

static int debug_set(struct tiny *t, uint32_t control)
{
	const struct kvm_guest_debug debug = {.control =
						      control ? KVM_GUESTDBG_ENABLE | control : 0};

	return ioctl(t->vcpu_fd, KVM_SET_GUEST_DEBUG, &debug) ? -errno : 0;
}

/* It is how a host that interprets says that it does not know an instruction. */
static bool is_refused(const struct tiny *t)
{
	return t->run->exit_reason == KVM_EXIT_INTERNAL_ERROR &&
	       t->run->internal.suberror == KVM_INTERNAL_ERROR_EMULATION;
}

/* --- int3 ------------------------------------------------------------------------------------- */

static int run_to_int3(struct tiny *t, const uint8_t *code, size_t size, char *text, size_t len)
{
	struct kvm_regs regs;
	int rc = tiny_enter(t, code, size);

	if (!rc)
		rc = debug_set(t, KVM_GUESTDBG_USE_SW_BP);
	if (!rc)
		rc = tiny_run(t);
	if (!rc)
		rc = trial_regs(t, &regs);
	if (rc)
		return rc;
	if (!is_refused(t) &&
	    (t->run->exit_reason != KVM_EXIT_DEBUG || t->run->debug.arch.exception != BP_VECTOR))
		return trial_odd_exit(t, text, len);
	if (regs.rip == TINY_CODE)
		return 0;
	snprintf(text, len, "rip is %+d from it", (int)(regs.rip - TINY_CODE));
	return 1;
}

int trial_int3(struct tiny *t, char *text, size_t len)
{
	static const uint8_t code[] = {0xcc, 0xe6, TRIAL_PORT};
	int rc = run_to_int3(t, code, sizeof(code), text, len);

	if (!rc)
		snprintf(text, len, "%s",
			 is_refused(t) ? "KVM's emulator refuses it, which does as well"
				       : "rip is on it");
	return rc;
}

/* As kvm_arch_handle_exit() of QEMU's target/i386/kvm/kvm.c does (7.2). */
static int inject_int3(struct tiny *t)
{
	struct kvm_vcpu_events events;

	if (ioctl(t->vcpu_fd, KVM_GET_VCPU_EVENTS, &events))
		return -errno;
	events.exception.injected = 1;
	events.exception.nr = BP_VECTOR;
	return ioctl(t->vcpu_fd, KVM_SET_VCPU_EVENTS, &events) ? -errno : 0;
}

/* As int3_deliver() of ../traps.c does. */
static int give_back(struct tiny *t)
{
	struct kvm_regs regs;

	if (!is_refused(t))
		return debug_set(t, KVM_GUESTDBG_USE_SW_BP | KVM_GUESTDBG_INJECT_BP);
	if (ioctl(t->vcpu_fd, KVM_GET_REGS, &regs))
		return -errno;
	regs.rip++;
	if (ioctl(t->vcpu_fd, KVM_SET_REGS, &regs))
		return -errno;
	return inject_int3(t);
}

/* Its handler must see the address behind the int3. */
int trial_guest_int3(struct tiny *t, char *text, size_t len)
{
	enum { HANDLER = 3 };
	static const uint8_t code[] = {
		0xcc,			      /* int3 */
		0xe6, TRIAL_PORT,	      /* out %al, $port */
		0x48, 0x8b,	  0x04, 0x24, /* its handler: mov (%rsp), %rax */
		0x48, 0xcf,		      /* iretq */
	};
	struct kvm_regs regs;
	int rc;

	tiny_gate(t, BP_VECTOR, TINY_CODE + HANDLER);
	rc = run_to_int3(t, code, sizeof(code), text, len);
	if (!rc)
		rc = give_back(t);
	if (!rc)
		rc = trial_run(t, &regs, text, len);
	if (rc)
		return rc;
	snprintf(text, len, "its handler returns to %+d", (int)(regs.rax - TINY_CODE));
	return regs.rax != TINY_CODE + 1;
}

/* An interrupt that waits, at an APIC that is enabled. */
static int request_irq(struct tiny *t)
{
	enum { APIC_SVR = 0xf0, APIC_IRR = 0x200, ENABLED = 1 };
	struct kvm_lapic_state apic;

	if (ioctl(t->vcpu_fd, KVM_GET_LAPIC, &apic))
		return -errno;
	apic.regs[APIC_SVR + 1] |= ENABLED;
	apic.regs[APIC_IRR + IRQ_VECTOR / 32 * 0x10 + IRQ_VECTOR % 32 / 8] |= 1 << IRQ_VECTOR % 8;
	return ioctl(t->vcpu_fd, KVM_SET_LAPIC, &apic) ? -errno : 0;
}

static int allow_irqs(struct tiny *t)
{
	struct kvm_regs regs;

	if (ioctl(t->vcpu_fd, KVM_GET_REGS, &regs))
		return -errno;
	regs.rflags |= X86_EFLAGS_IF;
	return ioctl(t->vcpu_fd, KVM_SET_REGS, &regs) ? -errno : 0;
}

/*
 * The way of QEMU to give an int3 back: both must come. Without nrips KVM drops the int3
 * (kvm-int3.h of vmm/qemu), and no guest of QEMU can be traced.
 */
int trial_int3_and_irq(struct tiny *t, char *text, size_t len)
{
	enum { HANDLER = 3, IRQ_HANDLER = 9 };
	static const uint8_t code[] = {
		0xcc,			      /* int3 */
		0xe6, TRIAL_PORT,	      /* out %al, $port */
		0x48, 0x8b,	  0x04, 0x24, /* its handler: mov (%rsp), %rax */
		0x48, 0xcf,		      /* iretq */
		0x48, 0xff,	  0xc1,	      /* the interrupt's: inc %rcx */
		0x48, 0xcf,		      /* iretq */
	};
	struct kvm_regs regs;
	int rc;

	tiny_gate(t, BP_VECTOR, TINY_CODE + HANDLER);
	tiny_gate(t, IRQ_VECTOR, TINY_CODE + IRQ_HANDLER);
	rc = run_to_int3(t, code, sizeof(code), text, len);
	if (!rc && is_refused(t)) {
		snprintf(text, len, "KVM interprets: QEMU cannot use it");
		return -EOPNOTSUPP;
	}
	if (!rc)
		rc = allow_irqs(t);
	if (!rc)
		rc = inject_int3(t);
	if (!rc)
		rc = request_irq(t);
	if (!rc)
		rc = trial_run(t, &regs, text, len);
	if (rc)
		return rc;
	if (regs.rax == TINY_CODE + 1 && regs.rcx == 1)
		snprintf(text, len, "both come");
	else
		snprintf(text, len, "%s is lost", regs.rcx ? "int3" : "the interrupt");
	return regs.rax != TINY_CODE + 1 || regs.rcx != 1;
}

/* --- hardware breakpoints and steps ----------------------------------------------------------- */

static bool is_debug_at(const struct tiny *t, uint64_t rip)
{
	return t->run->exit_reason == KVM_EXIT_DEBUG && t->run->debug.arch.exception == DB_VECTOR &&
	       t->run->debug.arch.pc == rip;
}

int trial_hw_breakpoint(struct tiny *t, char *text, size_t len)
{
	const struct kvm_guest_debug debug = {
		.control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP,
		.arch.debugreg = {[0] = ELSEWHERE, [7] = DR7_FIXED | DR7_G0},
	};
	int rc = tiny_enter(t, step_code, sizeof(step_code));

	if (!rc && ioctl(t->vcpu_fd, KVM_SET_GUEST_DEBUG, &debug))
		rc = -errno;
	if (!rc)
		rc = tiny_run(t);
	if (rc)
		return rc;
	if (is_debug_at(t, ELSEWHERE) && t->run->debug.arch.dr6 & DR6_B0) {
		snprintf(text, len, "rip is on it");
		return 0;
	}
	if (t->run->exit_reason != KVM_EXIT_IO)
		return trial_odd_exit(t, text, len);
	snprintf(text, len, "the guest runs past it");
	return 1;
}

int trial_step(struct tiny *t, char *text, size_t len)
{
	int rc = tiny_enter(t, step_code, sizeof(step_code));

	if (!rc)
		rc = debug_set(t, KVM_GUESTDBG_SINGLESTEP);
	for (unsigned int i = 1; i < NOPS && !rc; i++) {
		rc = tiny_run(t);
		if (rc)
			return rc;
		if (!is_debug_at(t, TINY_CODE + i)) {
			snprintf(text, len, "step %u: exit reason %u", i, t->run->exit_reason);
			return 1;
		}
	}
	if (!rc)
		snprintf(text, len, "one instruction at a time");
	return rc;
}

static int go_elsewhere(struct tiny *t)
{
	const struct kvm_regs regs = {.rip = ELSEWHERE, .rsp = TINY_STACK, .rflags = 2};

	return ioctl(t->vcpu_fd, KVM_SET_REGS, &regs) ? -errno : 0;
}

/*
 * KVM remembers the rip that a step was asked at, and sets TF at no other one (__kvm_set_rflags()
 * in arch/x86/kvm/x86.c, 6.1): whoever asks first and then writes rip sees the guest run away. That
 * is to be known, and is no fault; rip first must step.
 */
int trial_step_elsewhere(struct tiny *t, char *text, size_t len)
{
	bool runs_away;
	int rc = tiny_enter(t, step_code, sizeof(step_code));

	if (!rc)
		rc = debug_set(t, KVM_GUESTDBG_SINGLESTEP);
	if (!rc)
		rc = go_elsewhere(t);
	if (!rc)
		rc = tiny_run(t);
	if (rc)
		return rc;
	runs_away = t->run->exit_reason == KVM_EXIT_IO;
	if (!runs_away && !is_debug_at(t, ELSEWHERE + 1))
		return trial_odd_exit(t, text, len);
	rc = go_elsewhere(t);
	if (!rc)
		rc = debug_set(t, KVM_GUESTDBG_SINGLESTEP);
	if (!rc)
		rc = tiny_run(t);
	if (rc)
		return rc;
	snprintf(text, len, "asked for before rip is written: the guest %s",
		 runs_away ? "runs away, as is known of KVM" : "steps");
	return !is_debug_at(t, ELSEWHERE + 1);
}
