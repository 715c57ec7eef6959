/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traps.h - the table of a machine's traps. How a site is made to trap, and who may change the
 * table when, is the backend's business.
 */
#ifndef HVTRACE_VMM_CORE_TRAPS_H
#define HVTRACE_VMM_CORE_TRAPS_H

#include "vmm/core/trap-index.h"
#include "vmm/machine.h"

#define TRAP_SITE_MAX 8

struct trap {
	struct machine_trap pub;
	uint8_t bytes[TRAP_SITE_MAX]; /* of the site when the trap was set, for the backend */
	const void *own; /* not NULL: a trap of the backend's own, and this is for it */
};

struct trap_table {
	struct trap *trap;
	size_t n, room;
	size_t int3; /* how many are of this kind */
	struct trap_index by_va, by_pa;
};

void trap_table_free(struct trap_table *t);

/* -EINVAL: no trap can be like that. */
int trap_check(const struct machine_trap *trap);

/* Add n at the end, all or none. -ENOMEM, -EEXIST: one overlaps with another. */
int trap_table_add(struct trap_table *t, const struct machine_trap *traps, size_t n);
/* Keep the first n only. */
void trap_table_cut(struct trap_table *t, size_t n);
/* Remove one; the last takes its place. */
void trap_table_remove(struct trap_table *t, struct trap *trap);

struct trap *trap_table_find(const struct trap_table *t, uint64_t va);
/* Is there a trap at each address? 0 or -ENOENT. */
int trap_table_check(const struct trap_table *t, const uint64_t *vas, size_t n);

#endif
