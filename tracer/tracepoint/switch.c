// SPDX-License-Identifier: GPL-2.0-or-later
/* switch.c - see switch.h */
#include "tracer/tracepoint/switch.h"
#include "tracer/core/lock.h"
#include "tracer/events/registry.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/window/detour.h"

#include <errno.h>
#include <string.h>

static int detours_place(struct trace *t)
{
	const struct payload_text *text = trampoline_text(t);
	struct payload_detour d[DETOURS_EACH] = {
		{.entry = text->tracing_off, .rest = text->tracing_off_rest},
		{.entry = text->tracing_on, .rest = text->tracing_on_rest},
	};
	uint64_t off = trace_runtime(t, "tracing_off"), on = trace_runtime(t, "tracing_on");
	int ret = off && on ? detour_learn(&t->guest, off, &d[0]) : -ENOENT;

	if (!ret)
		ret = detour_learn(&t->guest, on, &d[1]);
	if (!ret)
		ret = detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_SWITCHES, d,
				     DETOURS_EACH);
	return ret;
}

void guest_switch_place(struct trace *t)
{
	events_lock(t->trace_events);
	guest_switch_place_held(t);
	events_unlock(t->trace_events);
}

void guest_switch_place_held(struct trace *t)
{
	int ret;

	if (!t->tramp || t->trace_events->closed || atomic_load(&t->guest_switch.placed) ||
	    t->cfg.ignore_switches || !trace_runtime(t, "tracing_off"))
		return;
	ret = detours_place(t);
	atomic_store(&t->guest_switch.placed, !ret);
	if (ret)
		trace_note(t, "the guest's own tracing_off() and tracing_on() are not seen: %s",
			   strerror(-ret));
	else
		payload_control(t);
}
