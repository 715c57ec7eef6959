// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rdtsc.c - has a vCPU that stands execute one rdtsc, to learn its TSC.
 *
 * The instruction is found in the kernel's text; what follows it there is not for us, so first of
 * all a breakpoint is put behind it. With that in place, with interrupts off and with the other
 * vCPUs standing, the vCPU can get nowhere else: whether it has executed the instruction or not,
 * only registers have changed, and these are put back.
 *
 * It is never single-stepped. QEMU tells KVM to step before it tells it of the new rip, and KVM
 * then steps at the old one only (kvm_update_guest_debug() of QEMU 7.2 comes before
 * kvm_arch_put_registers(); __kvm_set_rflags() in arch/x86/kvm/x86.c of Linux 6.1): the vCPU would
 * run away.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STOP_MS	   5000
#define TRIES	   4 /* a busy host has not let it run until then */
#define LARGE_PAGE (UINT64_C(2) << 20)
#define SCAN_CHUNK (64 << 10)
#define PAGE_SIZE  4096
#define RFLAGS_TF  (1u << 8)
#define RFLAGS_IF  (1u << 9)

static const uint8_t rdtsc_insn[] = {0x0f, 0x31};

#define INSN_SIZE sizeof(rdtsc_insn)

/* The instruction, and the byte behind it. */
struct place {
	uint64_t va, pa;
};

/* --- a place ------------------------------------------------------------------------------------
 */

/* Is this address of the vCPU's the one of this memory? */
static bool maps_to(struct qemu_machine *m, const struct qemu_vcpu *v, const struct place *at)
{
	uint64_t found;

	return !qemu_walk_standing(m, v, v->reg[GDB_CR3], at->va, &found) && found == at->pa;
}

/* All on one page, and the byte behind it nobody else's. */
static bool place_is_good(struct qemu_machine *m, const struct qemu_vcpu *v, const struct place *at)
{
	return at->pa % PAGE_SIZE + INSN_SIZE < PAGE_SIZE &&
	       !trap_table_find(&m->traps, at->va + INSN_SIZE) && maps_to(m, v, at);
}

static bool find_in_chunk(struct qemu_machine *m, const struct qemu_vcpu *v, const uint8_t *bytes,
			  uint64_t va, uint64_t pa, struct place *at)
{
	const uint8_t *from = bytes, *end = bytes + SCAN_CHUNK;

	while ((from = memmem(from, (size_t)(end - from), rdtsc_insn, INSN_SIZE))) {
		uint64_t off = (uint64_t)(from - bytes);

		*at = (struct place){va + off, pa + off};
		if (place_is_good(m, v, at))
			return true;
		from++;
	}
	return false;
}

/* In the 2 MiB around the site; be the bytes meant as an instruction or not. */
static bool find_place(struct qemu_machine *m, const struct qemu_vcpu *v, uint64_t va, uint64_t pa,
		       struct place *at)
{
	uint64_t start = pa & ~(LARGE_PAGE - 1);
	uint8_t *bytes = malloc(SCAN_CHUNK);
	bool found = false;

	for (uint64_t chunk = start; bytes && !found && chunk < start + LARGE_PAGE;
	     chunk += SCAN_CHUNK)
		if (!qemu_read(&m->base, chunk, bytes, SCAN_CHUNK))
			found = find_in_chunk(m, v, bytes, va + chunk - pa, chunk, at);
	free(bytes);
	return found;
}

/* --- the breakpoint behind it -------------------------------------------------------------------
 */

/* Under KVM it is a byte in memory, which is looked at: nothing is done on somebody's word. */
static bool is_as_expected(struct qemu_machine *m, const struct place *at)
{
	uint8_t now[INSN_SIZE + 1];

	return !qemu_read_standing(m, at->pa, now, sizeof(now)) &&
	       !memcmp(now, rdtsc_insn, INSN_SIZE) && (!m->kvm || now[INSN_SIZE] == QEMU_INT3);
}

/* --- running ------------------------------------------------------------------------------------
 */

/* The vCPU alone, until it stops or has to. */
static int run_alone(struct qemu_machine *m, struct qemu_vcpu *v)
{
	struct gdb_stop stop;
	int rc;

	qemu_clock_running(m);
	qemu_vcpu_runs(v);
	rc = gdb_continue_one(m->gdb, v->thread);
	if (!rc)
		rc = gdb_wait_stop(m->gdb, &stop, STOP_MS);
	if (rc == -ETIMEDOUT) {
		gdb_interrupt(m->gdb);
		rc = gdb_wait_stop(m->gdb, &stop, STOP_MS);
	}
	qemu_clock_stopped(m);
	return rc ? rc : qemu_vcpu_fetch(m, v);
}

/* 0: executed; -EAGAIN: not, the vCPU is before it or in an NMI's handler; others: QEMU's. */
static int execute(struct qemu_machine *m, struct qemu_vcpu *v, const struct place *at)
{
	for (int i = 0; i < TRIES; i++) {
		int rc = run_alone(m, v);

		if (rc)
			return rc;
		if (v->reg[GDB_RIP] == at->va + INSN_SIZE)
			return 0;
	}
	return -EAGAIN;
}

static int execute_and_undo(struct qemu_machine *m, struct qemu_vcpu *v, const struct place *at,
			    uint64_t *tsc)
{
	const struct gdb_reg_value there[] = {
		{GDB_EFLAGS, v->reg[GDB_EFLAGS] & ~(uint64_t)(RFLAGS_IF | RFLAGS_TF)},
		{GDB_RIP, at->va},
	};
	struct gdb_reg_value before[QEMU_NR_GENERAL];
	char packets[KEEPER_FIRST_MAX];
	int rc, undone;

	qemu_vcpu_general(v, before);
	rc = gdb_regs_packets(m->gdb, v->thread, before, QEMU_NR_GENERAL, packets, sizeof(packets));
	/* A tracer that is killed must not leave the vCPU there. */
	if (!rc)
		rc = keeper_first(&m->keeper, packets);
	if (rc)
		return rc;
	rc = qemu_vcpu_set_all(m, v, there, 2);
	if (!rc)
		rc = execute(m, v, at);
	if (!rc)
		*tsc = v->reg[GDB_RDX] << 32 | (uint32_t)v->reg[GDB_RAX];
	undone = qemu_vcpu_set_all(m, v, before, QEMU_NR_GENERAL);
	if (undone)
		return undone;
	keeper_first(&m->keeper, NULL);
	return rc;
}

int qemu_rdtsc(struct qemu_machine *m, struct qemu_vcpu *v, uint64_t va, uint64_t pa, uint64_t *tsc)
{
	struct place at;
	int rc, cleared;

	if (!m->ram.direct || !find_place(m, v, va, pa, &at))
		return -ENOENT;
	rc = gdb_breakpoint_set(m->gdb, at.va + INSN_SIZE);
	if (rc)
		return rc;
	rc = is_as_expected(m, &at) ? execute_and_undo(m, v, &at, tsc) : -ENOENT;
	cleared = gdb_breakpoint_clear(m->gdb, at.va + INSN_SIZE);
	return rc ? rc : cleared;
}
