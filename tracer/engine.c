// SPDX-License-Identifier: GPL-2.0-or-later
/* engine.c - by traps or by trampolines: which a trace gets, and what the collector is handed. */
#include "tracer/internal.h"
#include "tracer/boot.h"
#include "tracer/collect/collect.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/probe/probe.h"
#include "tracer/record/record.h"
#include "tracer/record/switch.h"
#include "tracer/tracer.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <stdio.h>

static void collector_idle(struct trace *t)
{
	int ret;

	record_do_deferred(t);
	record_switch_due(t);
	trace_note_rest(t, false);
	ret = text_lock_poll(t);
	if (ret)
		trace_fail(t, ret);
}

static void probe_event(struct trace *t, const struct machine_hit *hit)
{
	probe_events_call(t->probe_events, hit);
}

const struct collector_ops trace_collector_ops = {
	.batch = record_batch,
	.lost = record_lost,
	.room = record_room,
	.merges = record_merges,
	.merge = record_merge,
	.pass = record_pass,
	.idle = collector_idle,
	.end = record_end,
	.hit = trace_trap,
	.probe_event = probe_event,
	.switch_on = record_switch_on,
	.user_stacks = record_user_stacks,
	.is_early = boot_holds,
};

/* It works on what only a guest that runs has, or shows. */
static bool tracer_comes_late(const struct trace *t)
{
	const struct tracer_ops *tracer = tracer_find(t->cfg.tracer);

	return tracer->events || tracer->critical || tracer->branches;
}

static int use_now(struct trace *t, char *err, size_t errlen)
{
	int ret = t->cfg.running ? collect_can_open(t, err, errlen) : 0;

	if (!ret)
		ret = collect_open(t, err, errlen);
	if (ret)
		return ret;
	ret = text_lock_init(t);
	if (!ret) {
		t->engine = &trampoline_probe_ops;
		payload_control(t);
		if (!t->cfg.running)
			t->life->calls_since = trace_local_ns(t);
	}
	if (!ret && !t->cfg.running)
		ret = boot_follow(t);
	if (ret)
		snprintf(err, errlen, "no memory");
	return ret;
}

/* Where the guest would stand for minutes, better nothing than that. */
static int trap_instead(struct trace *t, const char *why, char *err, size_t errlen)
{
	size_t n = probes_recorded(t);

	if (t->cfg.running && n > QEMU_TRAPS_MAX) {
		snprintf(err, errlen,
			 "trampolines cannot be used (%s), and %zu traps would stop the guest for "
			 "minutes: name at most %d functions with -f, or ask for all with --engine "
			 "trap",
			 why, n, QEMU_TRAPS_MAX);
		return -E2BIG;
	}
	trace_note(t, "each hit exits to the host, since trampolines cannot be used: %s", why);
	return 0;
}

int trace_use_trampolines(struct trace *t, char *err, size_t errlen)
{
	char why[256];
	int ret;

	/* What has to wait for a kernel that boots is not for trampolines alone. */
	if (t->cfg.engine == TRACE_ENGINE_TRAP && !t->cfg.running &&
	    (t->cfg.control || tracer_comes_late(t)))
		return boot_follow(t);
	if (t->cfg.engine == TRACE_ENGINE_TRAP ||
	    !(t->cfg.control || probes_recorded(t) || tracer_comes_late(t)))
		return 0;
	if (!t->cfg.running && !trace_has_window(t)) {
		ret = boot_follow(t);
		snprintf(why, sizeof(why), "no memory");
	} else {
		ret = use_now(t, why, sizeof(why));
	}
	if (!ret)
		return 0;
	if (t->cfg.engine == TRACE_ENGINE_TRAMPOLINE) {
		snprintf(err, errlen, "trampolines cannot be used: %s", why);
		return ret;
	}
	return trap_instead(t, why, err, errlen);
}
