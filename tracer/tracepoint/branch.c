// SPDX-License-Identifier: GPL-2.0-or-later
/* branch.c - see branch.h */
#include "tracer/tracepoint/branch.h"
#include "tracer/core/lock.h"
#include "tracer/events/registry.h"
#include "tracer/instance/branch.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/window/detour.h"

#include <errno.h>
#include <string.h>

#define UPDATE "ftrace_likely_update"

bool guest_branches_known(const struct trace *t)
{
	struct likely_layout at;

	return guestsym_addr(t->gs, UPDATE) && likely_layout_learn(t->gs, &at);
}

static int refuse(struct trace *t)
{
	if (!guest_branches_known(t)) {
		trace_note(t, "%s", GUEST_BRANCHES_UNKNOWN);
		return -EOPNOTSUPP;
	}
	if (!t->cfg.running && !atomic_load(&t->booted)) {
		trace_note(t, "branch: the kernel boots, and is told to once that is over");
		return -EAGAIN;
	}
	if (!t->tramp || !t->engine->calls) {
		trace_note(t, "%s", GUEST_BRANCHES_NO_TRAPS);
		return -EOPNOTSUPP;
	}
	return t->trace_events->closed ? -ENODEV : 0;
}

static int detour_place(struct trace *t)
{
	const struct payload_text *text = trampoline_text(t);
	struct payload_detour d = {.entry = text->branch, .rest = text->branch_rest};
	int ret = detour_learn(&t->guest, trace_runtime(t, UPDATE), &d);

	return ret ? ret
		   : detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_BRANCH, &d, 1);
}

int guest_branches_place(struct trace *t)
{
	struct guest_branches *b = t->branches;
	int ret = b->placed ? 0 : refuse(t);

	if (ret || b->placed)
		return ret;
	ret = branches_learn(t);
	if (!ret)
		ret = detour_place(t);
	if (ret)
		trace_note(t, "branch: " UPDATE "() cannot be seen: %s", strerror(-ret));
	b->placed = !ret;
	return ret;
}

void guest_branches_settle(struct trace *t)
{
	struct guest_branches *b = t->branches;
	bool wanted;
	int ret;

	if (!b->placed || !t->tramp || t->trace_events->closed)
		return;
	instances_lock(t);
	wanted = branches_wanted(t);
	instances_unlock(t);
	if (wanted)
		return;
	machine_pause_for(t->m, "taking the look at its branches out");
	ret = detours_take_out(&t->guest, trampoline_window(t), DETOUR_BRANCH, 1);
	machine_resume(t->m);
	b->placed = ret != 0;
	if (ret)
		trace_note(t, "branch: " UPDATE "() goes on being seen: %s", strerror(-ret));
}
