// SPDX-License-Identifier: GPL-2.0-or-later
/* engine-trap.c - the engine that makes each hit an exit to the host. */
#include "tracer/probe/critical/traps.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"

#include <errno.h>
#include <stdlib.h>

/*
 * What fires once stands at the beginning of a function or behind a call: two bytes that belong
 * to it alone, and that nothing jumps into the middle of.
 */
enum { ONCE_SIZE = 2 };

static int trap_make(struct trace *t, uint32_t which, struct machine_trap *trap)
{
	const struct probe *p = &t->probes.v[which];

	*trap = (struct machine_trap){
		.va = p->va + t->guest.slide,
		.size = SITE_SIZE,
		.kind = MACHINE_TRAP_OUT,
		.action = MACHINE_TRAP_SKIP,
		.cookie = which,
	};
	if (p->flags & PROBE_FL_ONCE) {
		trap->size = ONCE_SIZE;
		trap->action = MACHINE_TRAP_ONCE;
	} else if (p->flags & PROBE_FL_EXIT) {
		trap->size = returns_size(t, p->va);
		trap->action = MACHINE_TRAP_RETURN;
	} else if (p->flags & PROBE_FL_FLAG) {
		flag_traps_make(t, p->va, trap);
	}
	if (trap->size == 1)
		trap->kind = MACHINE_TRAP_INT3;
	return guest_translate(&t->guest, trap->va, &trap->pa);
}

static int trap_insert(struct trace *t, const uint32_t *which, size_t n)
{
	struct machine_trap *traps = calloc(n ? n : 1, sizeof(*traps));
	int ret = 0;

	if (!traps)
		return -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++)
		ret = trap_make(t, which[i], &traps[i]);
	if (!ret)
		ret = machine_traps_set(t->m, traps, n);
	free(traps);
	return ret;
}

static int trap_remove(struct trace *t, const uint32_t *which, size_t n)
{
	uint64_t *vas = malloc((n ? n : 1) * sizeof(*vas));
	int ret;

	if (!vas)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		vas[i] = t->probes.v[which[i]].va + t->guest.slide;
	ret = machine_traps_clear(t->m, vas, n);
	free(vas);
	return ret;
}

const struct probe_ops trap_probe_ops = {
	.name = "trap",
	.desc = "each hit exits to the host",
	.insert = trap_insert,
	.remove = trap_remove,
};
