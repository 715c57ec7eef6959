// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traps.c - sites in guest text that exit to us instead of being executed.
 *
 * The table changes only while no other vCPU is inside (pause.c), so a vCPU looks its hit up
 * without a lock. Of all that a hit costs the exit is by far the most; rip goes back to the guest
 * through the registers that KVM takes over with the next KVM_RUN, so there is no other ioctl.
 *
 * MACHINE_TRAP_OUT: KVM has stepped over an `out` to port 0x7e before it exits (its OUT_7E quirk,
 * kvm_fast_pio_out() in arch/x86/kvm/x86.c), and its emulator always does; a KVM without the quirk
 * leaves rip on the instruction. rip is moved behind the site before the handler runs: were it
 * left inside the site, an interrupt could keep that as the place to return to, and once the trap
 * is cleared the guest would execute the tail of the original instruction there.
 *
 * MACHINE_TRAP_INT3: KVM_EXIT_DEBUG, for which KVM must be asked and then tells us about the
 * guest's own int3 as well. Hosts that interpret kernel mode refuse int3 as an instruction they
 * cannot emulate, whether asked or not.
 */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#define TRAP_PORT 0x7e
#define OUT_SIZE  2
#define BP_VECTOR 3

#define INSN_INT3   0xcc
#define INSN_OUT_AL 0xe6 /* out %al, imm8 */
#define INSN_NOP    0x90

/* --- the guest's text ---------------------------------------------------------------------- */

static size_t text_size(const struct trap *trap)
{
	return trap->pub.kind == MACHINE_TRAP_INT3 ? 1 : trap->pub.size;
}

static void text_take(struct kvm_machine *m, struct trap *trap)
{
	static const uint8_t insn[][TRAP_SITE_MAX] = {
		[MACHINE_TRAP_OUT] = {INSN_OUT_AL, TRAP_PORT, INSN_NOP, INSN_NOP, INSN_NOP,
				      INSN_NOP, INSN_NOP, INSN_NOP},
		[MACHINE_TRAP_INT3] = {INSN_INT3},
	};
	size_t size = text_size(trap);
	uint8_t *text = kvm_host_ptr(m, trap->pub.pa, size);

	memcpy(trap->bytes, text, size);
	memcpy(text, insn[trap->pub.kind], size);
}

static void text_give_back(struct kvm_machine *m, const struct trap *trap)
{
	size_t size = text_size(trap);

	memcpy(kvm_host_ptr(m, trap->pub.pa, size), trap->bytes, size);
}

/* --- setting and clearing: called with the machine paused and m->traps_lock held ------------- */

/* KVM tells about breakpoints only while there are any of ours: the guest has its own, too. */
bool kvm_vcpu_debug(struct kvm_vcpu *v, uint32_t what)
{
	struct kvm_guest_debug debug = {.control = what};

	if (v->m->traps.int3)
		debug.control |= KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP;
	if (kvm_follow_breakpoints(v, &debug))
		debug.control |= KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP;
	return !ioctl(v->fd, KVM_SET_GUEST_DEBUG, &debug);
}

static void debug_update(struct kvm_machine *m, bool had_int3)
{
	if ((m->traps.int3 > 0) == had_int3)
		return;
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		if (!kvm_vcpu_debug(&m->vcpu[i], 0))
			machine_end(&m->base, MACHINE_EVENT_ERROR, i,
				    "KVM cannot set breakpoints on vCPU %u: %s", i,
				    strerror(errno));
	}
}

static int traps_set(struct kvm_machine *m, const struct machine_trap *new, size_t n,
		     const struct kvm_own_trap *own)
{
	size_t first = m->traps.n;
	bool had_int3 = m->traps.int3;
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (!kvm_host_ptr(m, new[i].pa, new[i].size))
			return -EFAULT;
	}
	rc = trap_table_add(&m->traps, new, n);
	if (rc)
		return rc;
	for (size_t i = first; i < m->traps.n; i++) {
		m->traps.trap[i].own = own;
		text_take(m, &m->traps.trap[i]);
	}
	debug_update(m, had_int3);
	return 0;
}

static int traps_clear(struct kvm_machine *m, const uint64_t *vas, size_t n)
{
	bool had_int3 = m->traps.int3;
	int rc = trap_table_check(&m->traps, vas, n);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		struct trap *trap = trap_table_find(&m->traps, vas[i]);

		if (!trap)
			continue; /* named twice */
		text_give_back(m, trap);
		trap_table_remove(&m->traps, trap);
	}
	debug_update(m, had_int3);
	return 0;
}

int kvm_traps_set(struct machine *base, const struct machine_trap *traps, size_t n)
{
	struct kvm_machine *m = kvm_machine(base);
	int rc;

	pthread_mutex_lock(&m->traps_lock);
	rc = traps_set(m, traps, n, NULL);
	pthread_mutex_unlock(&m->traps_lock);
	return rc;
}

int kvm_traps_clear(struct machine *base, const uint64_t *vas, size_t n)
{
	struct kvm_machine *m = kvm_machine(base);
	int rc;

	pthread_mutex_lock(&m->traps_lock);
	rc = traps_clear(m, vas, n);
	pthread_mutex_unlock(&m->traps_lock);
	return rc;
}

int kvm_traps_set_own(struct kvm_machine *m, uint64_t va, uint64_t pa, uint8_t size,
		      const struct kvm_own_trap *own)
{
	struct machine_trap trap = {
		.va = va,
		.pa = pa,
		.size = size,
		.kind = MACHINE_TRAP_OUT,
		.action = MACHINE_TRAP_SKIP,
	};
	int rc = trap_check(&trap);

	if (rc)
		return rc;
	kvm_pause(&m->base);
	pthread_mutex_lock(&m->traps_lock);
	rc = traps_set(m, &trap, 1, own);
	pthread_mutex_unlock(&m->traps_lock);
	kvm_resume(&m->base);
	return rc;
}

void kvm_traps_forget(struct kvm_machine *m)
{
	pthread_mutex_lock(&m->traps_lock);
	trap_table_cut(&m->traps, 0);
	pthread_mutex_unlock(&m->traps_lock);
}

/* --- what a snapshot has none of ------------------------------------------------------------ */

bool kvm_traps_foreign(struct kvm_machine *m)
{
	bool foreign = false;

	pthread_mutex_lock(&m->traps_lock);
	for (size_t i = 0; i < m->traps.n; i++)
		foreign |= !m->traps.trap[i].own;
	pthread_mutex_unlock(&m->traps_lock);
	return foreign;
}

void kvm_traps_lift(struct kvm_machine *m)
{
	pthread_mutex_lock(&m->traps_lock);
	for (size_t i = 0; i < m->traps.n; i++)
		text_give_back(m, &m->traps.trap[i]);
	pthread_mutex_unlock(&m->traps_lock);
}

void kvm_traps_lay(struct kvm_machine *m)
{
	pthread_mutex_lock(&m->traps_lock);
	for (size_t i = 0; i < m->traps.n; i++)
		text_take(m, &m->traps.trap[i]);
	pthread_mutex_unlock(&m->traps_lock);
}

/* --- hits ----------------------------------------------------------------------------------- */

/* Take a trap out that fires once. False: another vCPU's hit of it was first. */
static bool trap_spend(struct kvm_machine *m, uint64_t va)
{
	return !machine_traps_clear(&m->base, &va, 1);
}

/* What stands for the site's instruction, or the address of that itself. */
static bool trap_step(struct kvm_vcpu *v, const struct machine_trap *trap, struct kvm_regs *now)
{
	uint64_t to;

	now->rip = trap->va + (trap->action == MACHINE_TRAP_SKIP ? trap->size : 0);
	if (trap->action != MACHINE_TRAP_RETURN)
		return true;
	if (kvm_virt_read(v, now->rsp, &to, sizeof(to)))
		return false;
	now->rip = to;
	now->rsp += sizeof(to);
	return true;
}

static void trap_hit(struct kvm_vcpu *v, const struct trap *found, uint64_t tsc)
{
	struct kvm_machine *m = v->m;
	struct trap trap = *found; /* the table may change from here on */
	struct kvm_regs *now = kvm_vcpu_regs(v);
	uint64_t rsp = now->rsp;
	struct machine_regs regs;
	struct machine_hit hit = {
		.vcpu = v->index,
		.tsc = kvm_vcpu_tsc(v, tsc),
		.cookie = trap.pub.cookie,
		.va = trap.pub.va,
		.regs = &regs,
	};

	if (!trap_step(v, &trap.pub, now)) {
		machine_end(&m->base, MACHINE_EVENT_ERROR, v->index,
			    "vCPU %u returns, and its stack is not there", v->index);
		return;
	}
	kvm_vcpu_regs_changed(v);
	if (trap.pub.action == MACHINE_TRAP_ONCE && !trap_spend(m, trap.pub.va))
		return;
	if (trap.own) {
		const struct kvm_own_trap *own = trap.own;

		own->fn(v, own->arg);
		return;
	}
	if (!m->cfg.trap)
		return;
	memcpy(&regs, now, sizeof(regs));
	regs.rsp = rsp;
	m->cfg.trap(&m->base, &hit, m->cfg.arg);
	kvm_pause_handler_done(v);
}

bool kvm_traps_out(struct kvm_vcpu *v, uint64_t tsc)
{
	uint64_t rip = kvm_vcpu_regs(v)->rip;
	const struct trap *trap;

	if (v->run->io.port != TRAP_PORT || v->run->io.direction != KVM_EXIT_IO_OUT)
		return false;
	trap = trap_table_find(&v->m->traps, rip - OUT_SIZE);
	if (!trap)
		trap = trap_table_find(&v->m->traps, rip);
	if (!trap || trap->pub.kind != MACHINE_TRAP_OUT)
		return false;
	trap_hit(v, trap, tsc);
	return true;
}

/* The guest's own breakpoint: let it have its exception, with rip behind the int3. */
static bool int3_deliver(struct kvm_vcpu *v)
{
	if (v->run->exit_reason == KVM_EXIT_DEBUG)
		return kvm_vcpu_debug(v, KVM_GUESTDBG_INJECT_BP);
	kvm_vcpu_regs(v)->rip++;
	kvm_vcpu_regs_changed(v);
	return !kvm_vcpu_inject(v, BP_VECTOR, false, 0);
}

bool kvm_traps_int3(struct kvm_vcpu *v, uint64_t tsc)
{
	uint64_t rip = kvm_vcpu_regs(v)->rip;
	const struct trap *trap = trap_table_find(&v->m->traps, rip);
	uint8_t insn;

	if (trap && trap->pub.kind == MACHINE_TRAP_INT3) {
		trap_hit(v, trap, tsc);
		return true;
	}
	if (v->run->exit_reason != KVM_EXIT_DEBUG &&
	    (kvm_virt_read(v, rip, &insn, 1) || insn != INSN_INT3))
		return false;
	return int3_deliver(v);
}
