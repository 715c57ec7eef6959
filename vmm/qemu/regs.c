// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * regs.c - registers of a vCPU that stands.
 *
 * The stub's answers are kept until the guest runs again: a hit asks for them more than once. It
 * does not tell the descriptor tables; QEMU's monitor does, but prints pages of each vCPU for it.
 * So it is asked once until the guest runs again, and a trap's handler gets them as they were when
 * they were last asked for outside of one.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdlib.h>

/* Where each general register of machine.h comes from, in the order of struct machine_regs. */
static const enum gdb_reg general[] = {
	GDB_RAX, GDB_RBX, GDB_RCX, GDB_RDX, GDB_RSI, GDB_RDI, GDB_RSP, GDB_RBP, GDB_R8,
	GDB_R9,	 GDB_R10, GDB_R11, GDB_R12, GDB_R13, GDB_R14, GDB_R15, GDB_RIP, GDB_EFLAGS,
};

union general_regs {
	struct machine_regs regs;
	uint64_t value[QEMU_NR_GENERAL];
};

_Static_assert(sizeof(general) / sizeof(general[0]) == QEMU_NR_GENERAL, "all of them");

void qemu_vcpu_runs(struct qemu_vcpu *v)
{
	v->known = v->tables = false;
}

int qemu_vcpu_fetch(struct qemu_machine *m, struct qemu_vcpu *v)
{
	int rc = v->known ? 0 : gdb_read_regs(m->gdb, v->thread, v->reg);

	v->known = !rc;
	return rc;
}

int qemu_vcpu_set(struct qemu_machine *m, struct qemu_vcpu *v, enum gdb_reg reg, uint64_t value)
{
	int rc = qemu_vcpu_fetch(m, v);

	if (rc || v->reg[reg] == value)
		return rc;
	rc = gdb_write_reg(m->gdb, v->thread, reg, value);
	if (rc)
		v->known = false;
	else
		v->reg[reg] = value;
	return rc;
}

int qemu_vcpu_set_all(struct qemu_machine *m, struct qemu_vcpu *v, const struct gdb_reg_value *regs,
		      unsigned int n)
{
	int rc = qemu_vcpu_fetch(m, v);

	if (!rc)
		rc = gdb_write_regs(m->gdb, v->thread, regs, n);
	if (rc)
		v->known = false;
	for (unsigned int i = 0; i < n && !rc; i++)
		v->reg[regs[i].reg] = regs[i].value;
	return rc;
}

int qemu_vcpu_tables(struct qemu_machine *m)
{
	char *text;
	int rc = gdb_monitor(m->gdb, "info registers -a", &text);

	if (rc)
		return rc;
	rc = qemu_monitor_tables(text, m->vcpu, m->nvcpus);
	free(text);
	return rc;
}

void qemu_vcpu_regs(const struct qemu_vcpu *v, struct machine_regs *regs)
{
	union general_regs all;

	for (size_t i = 0; i < QEMU_NR_GENERAL; i++)
		all.value[i] = v->reg[general[i]];
	*regs = all.regs;
}

void qemu_vcpu_general(const struct qemu_vcpu *v, struct gdb_reg_value regs[QEMU_NR_GENERAL])
{
	for (size_t i = 0; i < QEMU_NR_GENERAL; i++)
		regs[i] = (struct gdb_reg_value){general[i], v->reg[general[i]]};
}

/* The vCPU with its registers known and m->io held, or an error and m->io free. */
static int vcpu_begin(struct qemu_machine *m, unsigned int vcpu)
{
	int rc;

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	pthread_mutex_lock(&m->io);
	rc = m->vcpu[vcpu].gone ? -ENODEV : qemu_vcpu_fetch(m, &m->vcpu[vcpu]);
	if (rc)
		pthread_mutex_unlock(&m->io);
	return rc;
}

int qemu_get_regs(struct machine *base, unsigned int vcpu, struct machine_regs *regs)
{
	struct qemu_machine *m = qemu_machine(base);
	int rc = vcpu_begin(m, vcpu);

	if (rc)
		return rc;
	qemu_vcpu_regs(&m->vcpu[vcpu], regs);
	pthread_mutex_unlock(&m->io);
	return 0;
}

/* Only what differs is sent. */
static int general_set(struct qemu_machine *m, struct qemu_vcpu *v, const union general_regs *all)
{
	struct gdb_reg_value changed[QEMU_NR_GENERAL];
	unsigned int n = 0;

	for (size_t i = 0; i < QEMU_NR_GENERAL; i++)
		if (v->reg[general[i]] != all->value[i])
			changed[n++] = (struct gdb_reg_value){general[i], all->value[i]};
	return qemu_vcpu_set_all(m, v, changed, n);
}

int qemu_set_regs(struct machine *base, unsigned int vcpu, const struct machine_regs *regs)
{
	struct qemu_machine *m = qemu_machine(base);
	const union general_regs all = {.regs = *regs};
	int rc = vcpu_begin(m, vcpu);

	if (rc)
		return rc;
	rc = general_set(m, &m->vcpu[vcpu], &all);
	pthread_mutex_unlock(&m->io);
	return rc;
}

int qemu_get_sregs(struct machine *base, unsigned int vcpu, struct machine_sregs *sregs)
{
	struct qemu_machine *m = qemu_machine(base);
	const struct qemu_vcpu *v = &m->vcpu[vcpu];
	int rc = vcpu_begin(m, vcpu);

	if (rc)
		return rc;
	if (!v->tables && !qemu_run_is_thread(m)) {
		rc = qemu_vcpu_tables(m);
		if (rc == -EPROTO && v->tables)
			rc = 0; /* it is another one that has been unplugged */
	}
	*sregs = (struct machine_sregs){
		.cr0 = v->reg[GDB_CR0],
		.cr2 = v->reg[GDB_CR2],
		.cr3 = v->reg[GDB_CR3],
		.cr4 = v->reg[GDB_CR4],
		.efer = v->reg[GDB_EFER],
		.fs_base = v->reg[GDB_FS_BASE],
		.gs_base = v->reg[GDB_GS_BASE],
		.kernel_gs_base = v->reg[GDB_K_GS_BASE],
		.idt_base = v->idt_base,
		.gdt_base = v->gdt_base,
		.idt_limit = v->idt_limit,
		.gdt_limit = v->gdt_limit,
		.cs = (uint16_t)v->reg[GDB_CS],
		.ss = (uint16_t)v->reg[GDB_SS],
		.cpl = v->reg[GDB_CS] & 3,
	};
	pthread_mutex_unlock(&m->io);
	return rc;
}
