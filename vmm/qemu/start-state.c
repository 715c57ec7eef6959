// SPDX-License-Identifier: GPL-2.0-or-later
/* start-state.c - where a guest is that does not come to its kernel, in words for its user. */
#include "vmm/qemu/start.h"

#include <inttypes.h>
#include <stdio.h>

#define CR0_PE	      UINT64_C(1)
#define CR0_PG	      (UINT64_C(1) << 31)
#define EFER_LMA      (UINT64_C(1) << 10)
#define FIRMWARE_END  UINT64_C(0x100000)   /* boot loaders are below it, */
#define FIRMWARE_HIGH UINT64_C(0xfffc0000) /* and a BIOS' own place below 4 GiB */
#define UPPER_HALF    (UINT64_C(1) << 63)
#define INSN_HLT      0xf4

bool qemu_start_is_user(const uint64_t reg[GDB_NR_REGS])
{
	return qemu_start_walks(reg) && (reg[GDB_CS] & 3) == 3;
}

enum start_place qemu_start_place(const struct start_state *s)
{
	if (qemu_start_is_user(s->reg))
		return s->mapped ? START_PASSED : START_ELSEWHERE;
	if (!(s->reg[GDB_CR0] & CR0_PE) || s->reg[GDB_RIP] < FIRMWARE_END ||
	    (s->reg[GDB_RIP] >= FIRMWARE_HIGH && s->reg[GDB_RIP] <= UINT32_MAX))
		return START_FIRMWARE;
	/* Interrupts are off all the time while a kernel is unpacked. */
	if (!(s->reg[GDB_RIP] & UPPER_HALF))
		return s->insn[0] == INSN_HLT || s->insn[1] == INSN_HLT ? START_GIVEN_UP
									: START_UNPACKING;
	return s->mapped ? START_PASSED : START_ELSEWHERE;
}

bool qemu_start_walks(const uint64_t reg[GDB_NR_REGS])
{
	return reg[GDB_CR0] & CR0_PG && reg[GDB_EFER] & EFER_LMA;
}

void qemu_start_explain(const struct start_state *s, uint64_t entry, int seconds, char *err,
			size_t errlen)
{
	static const char *const places[] = {
		[START_FIRMWARE] =
			"it is in its firmware or boot loader, which --console may show; with much "
			"to load it may need more memory (-m)",
		[START_UNPACKING] =
			"it still unpacks its kernel: this host is too busy, or the kernel is none "
			"that fits the memory (-m)",
		[START_GIVEN_UP] =
			"what unpacks its kernel has given up, and has said why on the console "
			"(--console); most often it needs more memory (-m)",
		[START_ELSEWHERE] =
			"its kernel runs, but not where it was linked to, as if there were no "
			"nokaslr on its command line: attach to it instead (hvtrace attach)",
		[START_PASSED] =
			"its kernel runs and has passed that place: hardware breakpoints do not "
			"work in guests of this host, so use --machine kvm or hvtrace attach",
	};

	snprintf(err, errlen,
		 "the guest did not come by its kernel's first function at 0x%" PRIx64
		 " in %d s (rip 0x%" PRIx64 "): %s",
		 entry, seconds, s->reg[GDB_RIP], places[qemu_start_place(s)]);
}
