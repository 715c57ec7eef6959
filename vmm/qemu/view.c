// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view.c - whose page tables QEMU goes by when it writes a breakpoint into guest text.
 *
 * Under KVM a breakpoint is an int3 that QEMU writes where the page tables of one vCPU lead: of the
 * one that the stub has been told to continue (gdb_breakpoint_insert() in gdbstub.c,
 * kvm_arch_insert_sw_breakpoint() in target/i386/kvm/kvm.c of QEMU 7.2). With page table isolation
 * a vCPU in user mode has tables without the kernel's text. There QEMU can neither write a
 * breakpoint nor take one out, and one that it cannot take out when the stub is detached from it
 * forgets, with the int3 still in place.
 *
 * So a vCPU is chosen that sees the text. If all are in user mode one is given the kernel's half of
 * its pair of page tables (arch/x86/include/asm/pgtable.h of Linux 6.1, kernel_to_user_pgdp()) for
 * as long as the breakpoints are written; the guest stands meanwhile.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>

#define PTI_USER   (UINT64_C(1) << 12) /* PTI_PGTABLE_SWITCH_BIT */
#define USER_CS	   0x33		       /* __USER_CS, arch/x86/include/asm/segment.h */
#define LARGE_PAGE (UINT64_C(2) << 20)

/* The traps at these addresses. */
struct sites {
	const uint64_t *vas;
	size_t n;
};

/*
 * All of them: what user mode has of the kernel may be its image and not its modules
 * (pti_clone_kernel_text() in arch/x86/mm/pti.c). Of those in 2 MiB one is enough.
 */
static bool sees(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t cr3,
		 const struct sites *sites)
{
	uint64_t found, seen = 0;

	for (size_t i = 0; i < sites->n; i++) {
		const struct trap *trap = trap_table_find(&m->traps, sites->vas[i]);

		if (!trap)
			return false;
		if (trap->pub.va / LARGE_PAGE == seen / LARGE_PAGE)
			continue;
		seen = trap->pub.va;
		if (qemu_walk_standing(m, v, cr3, seen, &found) || found != trap->pub.pa)
			return false;
	}
	return true;
}

/*
 * Of a vCPU in 32-bit code QEMU takes the lower half of a register only, though it gives all of it
 * (gdb_write_reg_cs64() in target/i386/gdbstub.c).
 */
static bool can_be_lent(const struct qemu_vcpu *v)
{
	return v->reg[GDB_CS] == USER_CS || v->reg[GDB_CR3] <= UINT32_MAX;
}

/* Of those whose registers are known already first: the others take a question each. */
static struct qemu_vcpu *find(struct qemu_machine *m, const struct sites *sites, bool lent,
			      bool known)
{
	for (unsigned int i = 0; i < m->nvcpus; i++) {
		struct qemu_vcpu *v = &m->vcpu[i];

		if (!v->gone && v->known == known && !qemu_vcpu_fetch(m, v) &&
		    (!lent || can_be_lent(v)) &&
		    sees(m, v, v->reg[GDB_CR3] & ~(lent ? PTI_USER : 0), sites))
			return v;
	}
	return NULL;
}

/* Give it the kernel's tables; should this process be killed, it gets its own back. */
static int show(struct qemu_machine *m, struct qemu_vcpu *v)
{
	const struct gdb_reg_value own = {GDB_CR3, v->reg[GDB_CR3]};
	char packets[KEEPER_FIRST_MAX];
	int rc = gdb_regs_packets(m->gdb, v->thread, &own, 1, packets, sizeof(packets));

	if (!rc)
		rc = keeper_first(&m->keeper, packets);
	if (!rc)
		rc = qemu_vcpu_set(m, v, GDB_CR3, own.value & ~PTI_USER);
	if (!rc) {
		m->view = v;
		m->view_cr3 = own.value;
	}
	if (rc != -ESTALE)
		return rc;
	/* It was reset, and sees nothing of what was there. */
	keeper_first(&m->keeper, NULL);
	return -EFAULT;
}

int qemu_view_begin(struct qemu_machine *m, const uint64_t *vas, size_t n)
{
	const struct sites sites = {vas, n};
	struct qemu_vcpu *v;
	int rc = 0;

	/* Without their memory nobody's page tables can be looked at: QEMU's choice has to do. */
	if (!m->kvm || !m->ram.direct)
		return 0;
	v = find(m, &sites, false, true);
	v = v ? v : find(m, &sites, false, false);
	if (!v) {
		v = find(m, &sites, true, true);
		rc = v ? show(m, v) : -EFAULT;
	}
	return rc ? rc : gdb_select_breakpoints(m->gdb, v->thread);
}

int qemu_view_end(struct qemu_machine *m)
{
	struct qemu_vcpu *v = m->view;
	int rc;

	if (!v)
		return 0;
	m->view = NULL;
	rc = qemu_vcpu_set(m, v, GDB_CR3, m->view_cr3);
	if (!rc || rc == -ESTALE)
		keeper_first(&m->keeper, NULL);
	return rc;
}
