/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keeper-local.h - what the keeper and its tracer have in common. */
#ifndef HVTRACE_VMM_QEMU_KEEPER_LOCAL_H
#define HVTRACE_VMM_QEMU_KEEPER_LOCAL_H

#include "vmm/qemu/keeper.h"

/* What the tracer says in the end, or nothing; and before, with a descriptor. */
enum { MEMORY = 'm', HOLD = 'h', GOODBYE = 'g', GOODBYE_DETACH = 'd', GOODBYE_LET_GO = 'l' };

struct keeper_shared {
	char first[KEEPER_FIRST_MAX];
	char also[KEEPER_ALSO_MAX];
	char pin[KEEPER_PIN_MAX];
	char detach[KEEPER_DETACH_MAX];
	struct keeper_word word;
	atomic_bool has_word;
	atomic_bool stands; /* keeper_stands() */
	/* One list is gone by while the other one is written. */
	_Atomic uint32_t which;
	size_t n[2];
	struct keeper_byte byte[2][KEEPER_BYTES_MAX];
};

/* What follows fork(), in the child. */
_Noreturn void keeper_main(int sock, int alive, bool run_on, pid_t tracer,
			   const struct keeper_shared *share);

#endif
