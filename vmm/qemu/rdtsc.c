// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rdtsc.c - has a vCPU that stands execute one rdtsc, to learn its TSC.
 *
 * The instruction is found in the kernel's text; what follows it there is not for us, so first of
 * all a breakpoint is put behind it, and then the vCPU goes there: alone.c.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIES	   4 /* a busy host has not let it run until then */
#define LARGE_PAGE (UINT64_C(2) << 20)
#define SCAN_CHUNK (64 << 10)
#define PAGE_SIZE  4096

static const uint8_t rdtsc_insn[] = {0x0f, 0x31};

#define INSN_SIZE sizeof(rdtsc_insn)

/* The instruction, and the byte behind it. */
struct place {
	uint64_t va, pa;
};

/* --- a place ------------------------------------------------------------------------------------
 */

/* All on one page, and the byte behind it nobody else's. */
static bool place_is_good(struct qemu_machine *m, const struct qemu_vcpu *v, const struct place *at)
{
	return at->pa % PAGE_SIZE + INSN_SIZE < PAGE_SIZE &&
	       !trap_table_find(&m->traps, at->va + INSN_SIZE) &&
	       qemu_maps_to(m, v, at->va, at->pa);
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

/* --- asking ------------------------------------------------------------------------------------
 */

static int execute(struct qemu_machine *m, struct qemu_vcpu *v, const struct place *at,
		   uint64_t *tsc)
{
	const struct qemu_way way = {
		.from = at->va,
		.to = at->va + INSN_SIZE,
		.patience_ms = QEMU_ALONE_MS,
		.tries = TRIES,
	};
	struct machine_regs there;
	int rc = qemu_alone(m, v, &way, &there);

	if (!rc)
		*tsc = there.rdx << 32 | (uint32_t)there.rax;
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
	rc = is_as_expected(m, &at) ? execute(m, v, &at, tsc) : -ENOENT;
	cleared = gdb_breakpoint_clear(m->gdb, at.va + INSN_SIZE);
	return rc ? rc : cleared;
}
