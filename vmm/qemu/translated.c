// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * translated.c - has QEMU throw away what it has translated of the guest's code.
 *
 * Under TCG vCPUs execute what has been translated, not what is in memory. QEMU throws all of it
 * away once a vCPU has come to a breakpoint (gdb_vm_state_change() in gdbstub.c of QEMU 7.2,
 * gdbstub/system.c since; 10.2 no longer does): the vCPU's thread does so after the stop has been
 * told, but before that vCPU executes anything (qemu_wait_io_event_common() in softmmu/cpus.c). So
 * one that stands in the kernel comes to a breakpoint where it is already, and nothing is executed,
 * and then again: behind the second stop nothing is left of what there was at the first.
 *
 * The monitor's `info jit` would tell how much there is, but QEMU may die of being asked while it
 * is thrown away: as many chains of one length as of another make qdist_pr_internal() in
 * util/qdist.c (7.2) divide nothing by nothing, and what comes out is an index.
 */
#include "vmm/qemu/qemu.h"

#define KERNEL_CS   0x10 /* arch/x86/include/asm/segment.h */
#define KERNEL_HALF (UINT64_C(1) << 63)
#define PATIENCE_MS 500
#define STOPS	    2
#define KEEPS_FROM  1001 /* 10.1: 10.1.50, which became 10.2, has that number, too */

/* One that is halted would not come to a breakpoint, and one at a trap of ours is about to. */
static bool would_come(struct qemu_machine *m, struct qemu_vcpu *v)
{
	return !v->gone && !qemu_vcpu_fetch(m, v) && v->reg[GDB_CS] == KERNEL_CS &&
	       v->reg[GDB_RIP] >= KERNEL_HALF && !trap_table_find(&m->traps, v->reg[GDB_RIP]) &&
	       !gdb_thread_is_halted(m->gdb, v->thread);
}

static struct qemu_vcpu *find(struct qemu_machine *m)
{
	for (unsigned int i = 0; i < m->nvcpus; i++)
		if (would_come(m, &m->vcpu[i]))
			return &m->vcpu[i];
	return NULL;
}

static int come(struct qemu_machine *m, struct qemu_vcpu *v)
{
	const struct qemu_way way = {
		.from = v->reg[GDB_RIP],
		.to = v->reg[GDB_RIP],
		.patience_ms = PATIENCE_MS,
		.tries = 1,
	};
	struct machine_regs there;
	int cleared, rc = gdb_breakpoint_set(m->gdb, way.to);

	if (rc)
		return rc;
	for (unsigned int i = 0; i < STOPS && !rc; i++)
		rc = qemu_alone(m, v, &way, &there);
	cleared = gdb_breakpoint_clear(m->gdb, way.to);
	return rc ? rc : cleared;
}

/* Of a version that does not tell its number nothing is known. */
static bool throws_away(struct qemu_machine *m)
{
	unsigned int version = qemu_version(m);

	return version && version < KEEPS_FROM;
}

bool qemu_translated_forget(struct qemu_machine *m)
{
	struct qemu_vcpu *v = m->keeps_translated ? NULL : find(m);

	if (!v)
		return false;
	m->keeps_translated = !throws_away(m) || come(m, v);
	return !m->keeps_translated;
}
