// SPDX-License-Identifier: GPL-2.0-or-later
/* open.c - the window for events where probes are traps. */
#include "tracer/collect/collect.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/tracepoint/switch.h"
#include "tracer/tracepoint/tracepoint.h"

int trace_open_events(struct trace *t, char *err, size_t errlen)
{
	int ret = collect_can_open(t, err, errlen);

	if (!ret)
		ret = collect_open_events(t, err, errlen);
	if (!ret) {
		guest_prints_place_held(t);
		guest_switch_place_held(t);
	}
	return ret;
}
