// SPDX-License-Identifier: GPL-2.0-or-later
/* traps.c - the table of a machine's traps: an array, and two hashes of addresses into it. */
#include "vmm/core/traps.h"

#include <errno.h>
#include <stdlib.h>

#define OUT_SIZE 2 /* of the shortest site that an `out` fits into */

void trap_table_free(struct trap_table *t)
{
	trap_index_free(&t->by_va);
	trap_index_free(&t->by_pa);
	free(t->trap);
	*t = (struct trap_table){0};
}

int trap_check(const struct machine_trap *trap)
{
	if (trap->kind > MACHINE_TRAP_INT3 || trap->action > MACHINE_TRAP_RETURN)
		return -EINVAL;
	if (!trap->size || trap->size > TRAP_SITE_MAX || trap->va > UINT64_MAX - TRAP_SITE_MAX)
		return -EINVAL;
	return trap->kind == MACHINE_TRAP_OUT && trap->size < OUT_SIZE ? -EINVAL : 0;
}

static int table_reserve(struct trap_table *t, size_t more)
{
	size_t room = t->room ? t->room : 64, n = t->n + more;
	struct trap *bigger;
	int rc;

	if (more >= TRAP_INDEX_NONE || n >= TRAP_INDEX_NONE)
		return -ENOMEM;
	while (room < n)
		room *= 2;
	if (room > t->room) {
		bigger = realloc(t->trap, room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		t->trap = bigger;
		t->room = room;
	}
	rc = trap_index_reserve(&t->by_va, n);
	return rc ? rc : trap_index_reserve(&t->by_pa, n);
}

/* What overlaps in memory would be given back in the wrong order, by whatever address it is run. */
static bool table_overlaps(const struct trap_table *t, const struct machine_trap *new)
{
	if (!t->trap)
		return false; /* analysers do not see that the hashes are empty then */
	if (trap_table_find(t, new->va))
		return true;
	for (uint64_t pa = new->pa - (TRAP_SITE_MAX - 1); pa != new->pa + new->size; pa++) {
		uint32_t i = trap_index_get(&t->by_pa, pa);

		if (i != TRAP_INDEX_NONE && pa + t->trap[i].pub.size > new->pa)
			return true;
	}
	return false;
}

int trap_table_add(struct trap_table *t, const struct machine_trap *traps, size_t n)
{
	size_t before = t->n;
	int rc = table_reserve(t, n);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (table_overlaps(t, &traps[i])) {
			trap_table_cut(t, before);
			return -EEXIST;
		}
		t->trap[t->n] = (struct trap){.pub = traps[i]};
		trap_index_put(&t->by_va, traps[i].va, (uint32_t)t->n);
		trap_index_put(&t->by_pa, traps[i].pa, (uint32_t)t->n);
		t->int3 += traps[i].kind == MACHINE_TRAP_INT3;
		t->n++;
	}
	return 0;
}

void trap_table_cut(struct trap_table *t, size_t n)
{
	while (t->n > n)
		trap_table_remove(t, &t->trap[t->n - 1]);
}

void trap_table_remove(struct trap_table *t, struct trap *trap)
{
	struct trap *last = &t->trap[--t->n];

	t->int3 -= trap->pub.kind == MACHINE_TRAP_INT3;
	trap_index_del(&t->by_va, trap->pub.va);
	trap_index_del(&t->by_pa, trap->pub.pa);
	if (trap == last)
		return;
	*trap = *last;
	trap_index_put(&t->by_va, trap->pub.va, (uint32_t)(trap - t->trap));
	trap_index_put(&t->by_pa, trap->pub.pa, (uint32_t)(trap - t->trap));
}

struct trap *trap_table_find(const struct trap_table *t, uint64_t va)
{
	uint32_t i = trap_index_get(&t->by_va, va);

	return i == TRAP_INDEX_NONE ? NULL : &t->trap[i];
}

int trap_table_check(const struct trap_table *t, const uint64_t *vas, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!trap_table_find(t, vas[i]))
			return -ENOENT;
	}
	return 0;
}
