// SPDX-License-Identifier: GPL-2.0-or-later
/* kprobe-traps.c - see kprobe-traps.h */
#include "tracer/dynevent/kprobe-traps.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/guest/site.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"

#define KPROBE_COOKIE (BORROW_COOKIE - 3)

#define INSN_MAX 15

static struct machine_trap trap_make(struct trace *t)
{
	return trampoline_trap(t, trampoline_text(t)->kprobe_trap, KPROBE_COOKIE);
}

int kprobe_traps_insert(struct trace *t)
{
	const struct machine_trap trap = trap_make(t);

	return machine_traps_set(t->m, &trap, 1);
}

int kprobe_traps_remove(struct trace *t)
{
	const uint64_t va = trap_make(t).va;

	return machine_traps_clear(t->m, &va, 1);
}

bool kprobe_traps_hit(struct trace *t, const struct machine_hit *hit)
{
	if (hit->cookie != KPROBE_COOKIE)
		return false;
	probe_events_stop(t->probe_events, hit);
	return true;
}

/* --- sites ----------------------------------------------------------------------------------- */

/*
 * At a function's entry it is the kernel's ftrace that makes room for a probe: behind an endbr64,
 * where there is one. Elsewhere it puts an int3 there, and perhaps a jump later, which takes the
 * place of as many instructions as it is long.
 */
static bool may_patch(uint64_t addr, const struct probe *p, uint64_t va)
{
	if (p->flags & (PROBE_FL_EXIT | PROBE_FL_FLAG))
		return va + PAYLOAD_FORM_MAX > addr && va < addr + SITE_SIZE + INSN_MAX;
	return va == addr || va == addr + ENDBR_SIZE;
}

static bool is_left(const struct trace *t, const struct probe *p, const uint64_t *addr, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (may_patch(addr[i], p, p->va + t->guest.slide))
			return true;
	return false;
}

int kprobe_traps_leave(struct trace *t, const uint64_t *addr, size_t n)
{
	int ret;

	trace_change_begin(t);
	for (size_t i = 0; i < t->probes.nr; i++) {
		struct probe *p = &t->probes.v[i];

		p->flags &= (uint16_t)~PROBE_FL_GUESTS;
		if (!is_left(t, p, addr, n))
			continue;
		p->flags |= PROBE_FL_GUESTS;
		if (p->flags & PROBE_FL_SET)
			p->flags |= PROBE_FL_CHANGE;
	}
	ret = selection_patch(t);
	trace_change_end(t);
	return pieces_finish(t, ret);
}
