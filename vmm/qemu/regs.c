// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * regs.c - registers of a vCPU that stands.
 *
 * The stub's answers are kept until the guest runs again: a hit asks for them more than once. It
 * does not tell the descriptor tables; QEMU's monitor does, but prints pages of each vCPU for it.
 * So it is asked once until the guest runs again, and a trap's handler gets them as they were when
 * they were last asked for outside of one.
 *
 * A guest may be reset while it stands, and nobody tells. It would begin where it was to go on. So
 * all registers are asked for behind those that are written, before QEMU does anything else: one
 * that was reset meanwhile gets back what it begins with, and from then on nothing is written.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_among(const struct gdb_reg_value *regs, unsigned int n, enum gdb_reg reg)
{
	for (unsigned int i = 0; i < n; i++)
		if (regs[i].reg == reg)
			return true;
	return false;
}

/*
 * A vCPU that is in a kernel keeps these until that runs another task. A reset has none of them.
 */
bool qemu_vcpu_was_reset(const uint64_t *before, const uint64_t *now,
			 const struct gdb_reg_value *written, unsigned int n)
{
	static const enum gdb_reg same[] = {GDB_CR0, GDB_CR3,	  GDB_CR4,
					    GDB_CS,  GDB_GS_BASE, GDB_EFER};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (now[same[i]] != before[same[i]] && !is_among(written, n, same[i]))
			return true;
	return false;
}

/* What a processor begins with (x86_cpu_reset() in target/i386/cpu.c of QEMU 7.2). */
static void give_back_reset(struct qemu_machine *m, const struct qemu_vcpu *v,
			    const struct gdb_reg_value *written, unsigned int n)
{
	struct gdb_reg_value first[GDB_NR_REGS];
	uint64_t after[GDB_NR_REGS];

	for (unsigned int i = 0; i < n; i++) {
		enum gdb_reg reg = written[i].reg;
		uint64_t value = reg == GDB_RIP ? 0xfff0 : reg == GDB_EFLAGS ? 2 : 0;

		first[i] = (struct gdb_reg_value){reg, value};
	}
	/* Should QEMU not answer there is nothing else to be done. */
	gdb_write_regs(m->gdb, v->thread, first, n, after);
}

static int write_regs(struct qemu_machine *m, struct qemu_vcpu *v, const struct gdb_reg_value *regs,
		      unsigned int n)
{
	uint64_t now[GDB_NR_REGS];
	int rc = m->was_reset ? -ESTALE : gdb_write_regs(m->gdb, v->thread, regs, n, now);

	if (!rc && qemu_vcpu_was_reset(v->reg, now, regs, n)) {
		m->was_reset = true;
		give_back_reset(m, v, regs, n);
		rc = -ESTALE;
	}
	v->known = !rc;
	if (!rc)
		memcpy(v->reg, now, sizeof(now));
	return rc;
}

int qemu_vcpu_set(struct qemu_machine *m, struct qemu_vcpu *v, enum gdb_reg reg, uint64_t value)
{
	const struct gdb_reg_value one = {reg, value};
	int rc = qemu_vcpu_fetch(m, v);

	return rc || v->reg[reg] == value ? rc : write_regs(m, v, &one, 1);
}

int qemu_vcpu_set_all(struct qemu_machine *m, struct qemu_vcpu *v, const struct gdb_reg_value *regs,
		      unsigned int n)
{
	int rc = qemu_vcpu_fetch(m, v);

	return rc || !n ? rc : write_regs(m, v, regs, n);
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
