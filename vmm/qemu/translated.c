// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * translated.c - has QEMU throw away what it has translated of the guest's code.
 *
 * Under TCG vCPUs execute what has been translated, not what is in memory. QEMU throws all of it
 * away once a vCPU has come to a breakpoint (gdb_vm_state_change() in gdbstub.c of QEMU 7.2,
 * gdbstub/system.c since; 10.2 no longer does), a little after it has said so; its monitor tells
 * how much there is. So a vCPU that stands in the kernel comes to a breakpoint where it is already,
 * and nothing is executed.
 */
#include "vmm/qemu/qemu.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>

#define KERNEL_CS   0x10 /* arch/x86/include/asm/segment.h */
#define KERNEL_HALF (UINT64_C(1) << 63)
#define PATIENCE_MS 500
#define FORGET_MS   200
#define ASKED	    1000 /* times at most until then */

/* Blocks of code; ULONG_MAX: nobody knows. */
static unsigned long translated(struct qemu_machine *m)
{
	unsigned long blocks;
	char *answer;

	if (gdb_monitor(m->gdb, "info jit", &answer))
		return ULONG_MAX;
	blocks = qemu_monitor_translated(answer);
	free(answer);
	return blocks;
}

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
	rc = qemu_alone(m, v, &way, &there);
	cleared = gdb_breakpoint_clear(m->gdb, way.to);
	return rc ? rc : cleared;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* It is asked again, as all is thrown away by the vCPU's thread. */
static bool forget(struct qemu_machine *m)
{
	struct qemu_vcpu *v = find(m);
	unsigned long blocks = ULONG_MAX;
	int64_t end;

	if (!v)
		return false;
	m->keeps_translated = true;
	if (come(m, v))
		return false;
	end = now_ms() + FORGET_MS;
	for (unsigned int i = 0; i < ASKED && blocks && now_ms() < end; i++)
		blocks = translated(m);
	m->keeps_translated = blocks;
	return !blocks;
}

bool qemu_translated_is_nothing(struct qemu_machine *m, bool forgets)
{
	unsigned long blocks = translated(m);

	if (!blocks || blocks == ULONG_MAX || !forgets || m->keeps_translated)
		return !blocks;
	return forget(m);
}
