// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * alone.c - has one vCPU of a guest that stands go from an address to a breakpoint.
 *
 * With the breakpoint in place, with interrupts off and with the other vCPUs standing, it can get
 * nowhere else: whether it has come to the breakpoint or not, only registers have changed, and
 * these are put back, by the keeper if need be. Unless the guest is reset meanwhile: then all vCPUs
 * run, and what this one has is the next kernel's, or the firmware's, which must not get ours.
 *
 * It is never single-stepped. QEMU tells KVM to step before it tells it of the new rip, and KVM
 * then steps at the old one only (kvm_update_guest_debug() of QEMU 7.2 comes before
 * kvm_arch_put_registers(); __kvm_set_rflags() in arch/x86/kvm/x86.c of Linux 6.1): the vCPU would
 * run away.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <string.h>

#define RFLAGS_TF (1u << 8)
#define RFLAGS_IF (1u << 9)

/* The vCPU alone, until it stops or has to. */
static int run(struct qemu_machine *m, struct qemu_vcpu *v, int patience_ms, struct gdb_stop *stop)
{
	int rc;

	qemu_clock_running(m);
	qemu_vcpu_runs(v);
	rc = gdb_continue_one(m->gdb, v->thread);
	if (!rc)
		rc = gdb_wait_stop(m->gdb, stop, patience_ms);
	if (rc == -ETIMEDOUT) {
		gdb_interrupt(m->gdb);
		rc = gdb_wait_stop(m->gdb, stop, QEMU_ALONE_MS);
	}
	qemu_clock_stopped(m);
	return rc ? rc : qemu_vcpu_fetch(m, v);
}

/*
 * 0: it is there; -EAGAIN: not, it is on its way or in an NMI's handler; -ESTALE: it was reset;
 * others: QEMU's.
 */
static int go(struct qemu_machine *m, struct qemu_vcpu *v, const struct qemu_way *way,
	      const uint64_t *before)
{
	for (unsigned int i = 0; i < way->tries; i++) {
		struct gdb_stop stop;
		int rc = run(m, v, way->patience_ms, &stop);

		if (rc)
			return rc;
		/* An NMI's handler has what it was called from. */
		if (qemu_vcpu_was_reset(before, v->reg, NULL, 0))
			return -ESTALE;
		/* One that was stopped may stand there without having run. */
		if (v->reg[GDB_RIP] == way->to && stop.kind == GDB_STOP_SIGNAL &&
		    stop.signal == GDB_SIGNAL_TRAP)
			return 0;
	}
	return -EAGAIN;
}

/* All that stood have run, and are another kernel's. */
static void reset_seen(struct qemu_machine *m)
{
	m->was_reset = true;
	for (unsigned int i = 0; i < m->nvcpus; i++)
		qemu_vcpu_runs(&m->vcpu[i]);
}

int qemu_alone(struct qemu_machine *m, struct qemu_vcpu *v, const struct qemu_way *way,
	       struct machine_regs *there)
{
	const struct gdb_reg_value begin[] = {
		{GDB_EFLAGS, v->reg[GDB_EFLAGS] & ~(uint64_t)(RFLAGS_IF | RFLAGS_TF)},
		{GDB_RIP, way->from},
	};
	struct gdb_reg_value before[QEMU_NR_GENERAL];
	uint64_t all[GDB_NR_REGS];
	char packets[KEEPER_FIRST_MAX];
	int rc, undone;

	qemu_vcpu_general(v, before);
	memcpy(all, v->reg, sizeof(all));
	rc = gdb_regs_packets(m->gdb, v->thread, before, QEMU_NR_GENERAL, packets, sizeof(packets));
	/* A tracer that is killed must not leave the vCPU there. */
	if (!rc)
		rc = keeper_first(&m->keeper, packets);
	if (rc)
		return rc;
	rc = qemu_vcpu_set_all(m, v, begin, 2);
	if (!rc)
		rc = go(m, v, way, all);
	if (!rc)
		qemu_vcpu_regs(v, there);
	if (rc == -ESTALE)
		reset_seen(m);
	undone = qemu_vcpu_set_all(m, v, before, QEMU_NR_GENERAL);
	if (!undone || undone == -ESTALE)
		keeper_first(&m->keeper, NULL);
	return undone ? undone : rc;
}
