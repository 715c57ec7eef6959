// SPDX-License-Identifier: GPL-2.0-or-later
/* trace.c - one trace: from its configuration to records in the ring buffers. */
#include "tracer/internal.h"
#include "tracer/boot.h"
#include "tracer/collect/collect.h"
#include "tracer/control/crash.h"
#include "tracer/control/instances.h"
#include "tracer/core/lock.h"
#include "tracer/dynevent/eprobe.h"
#include "tracer/dynevent/kprobe-traps.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/dynevent/synth.h"
#include "tracer/events/events.h"
#include "tracer/guest/modules.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/instance/branch.h"
#include "tracer/instance/prints.h"
#include "tracer/lib/host-time.h"
#include "tracer/lib/memory.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/follow.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"
#include "tracer/record/switch.h"
#include "tracer/ring/entry.h"
#include "tracer/stat/latencies.h"
#include "tracer/stat/profiler.h"
#include "tracer/stat/stack-max.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/tracepoint/traps.h"
#include "tracer/tracer.h"
#include "tracer/tracers/blk-select.h"
#include "tracer/tracers/files.h"
#include "tracer/tracers/hwlat-sample.h"
#include "tracer/tracers/names.h"
#include "tracer/tracers/tracers.h"
#include "tracer/unwind/unwind.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void names_of(char *buf, size_t len, const char *(*name)(unsigned int, const char **))
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; name(i, NULL) && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? ", " : "", name(i, NULL));
}

static int trace_check(const struct trace_config *cfg, char *err, size_t errlen)
{
	char known[256];

	if (!tracer_find(cfg->tracer)) {
		names_of(known, sizeof(known), trace_tracer_name);
		snprintf(err, errlen, "unknown tracer '%s'; there are: %s", cfg->tracer, known);
		return -EINVAL;
	}
	if (!clock_find(cfg->clock)) {
		names_of(known, sizeof(known), trace_clock_name);
		snprintf(err, errlen, "unknown clock '%s'; there are: %s", cfg->clock, known);
		return -EINVAL;
	}
	return 0;
}

/* What features have to do with the guest's events. */

static void events_derive(struct trace *t)
{
	event_probes_apply(t->event_probes);
}

static int probes_place(struct trace *t)
{
	return probe_events_apply(t->probe_events);
}

static int probes_close(struct trace *t, bool runs)
{
	return probe_events_close(t->probe_events, runs);
}

static const struct events_ops trace_events_ops = {
	.forget = instances_forget_event,
	.derive = events_derive,
	.place = probes_place,
	.close = probes_close,
};

static int trace_alloc(struct trace *t, char *err, size_t errlen)
{
	trampoline_init(t);
	t->comms = comms_new(COMMS_DEFAULT_NR);
	t->crash = crash_new();
	t->modules = modules_list_new();
	t->funcs = funcs_new(NULL, 0);
	t->hwlat = hwlat_settings_new();
	atomic_store(&t->branch_steps, BRANCH_STEPS_DEFAULT);
	t->blk = blk_select_new();
	t->collect = collect_new(&trace_collector_ops);
	t->latencies = latencies_new();
	t->event_traps = calloc(1, sizeof(*t->event_traps));
	t->prints = calloc(1, sizeof(*t->prints));
	t->branches = calloc(1, sizeof(*t->branches));
	t->graph = graph_new(t);
	t->trace_events = events_new(t, &trace_events_ops);
	t->probe_events = probe_events_new(t);
	t->synth_events = synth_events_new(t);
	t->event_probes = event_probes_new(t);
	if (t->funcs)
		t->stack_max = stack_max_new(t);
	if (t->comms && t->crash && t->modules && t->funcs && t->hwlat && t->blk && t->latencies &&
	    t->collect && t->event_traps && t->prints && t->branches && t->graph && t->stack_max &&
	    t->trace_events && t->probe_events && t->synth_events && t->event_probes &&
	    !flag_sites_init(t) && !probe_set_init(&t->probes, t->gs)) {
		t->follow = follow_new(&t->probes, t->gs);
		if (t->follow)
			return instance_init_top(t, err, errlen);
	}
	snprintf(err, errlen, "no memory for the tables of probes and of task names");
	return -ENOMEM;
}

/* Where KASLR, if it is on, has put a kernel that has not run. */
static void place_kernel(struct trace *t)
{
	t->guest.slide = t->cfg.kernel_slide;
	if (t->guest.text_pa != GUEST_NONE)
		t->guest.text_pa += t->cfg.kernel_moved;
}

/* --- the boot before ------------------------------------------------------------------------- */

struct trace_past {
	struct memory_files *memory; /* who traces may have given up the right to open them */
	uint64_t time_end, counted;
};

struct trace_past *trace_past(struct trace *t)
{
	struct trace_past *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct trace_past){t->memory, t->time_end, clock_counted(t)};
	t->memory = NULL;
	return p;
}

void trace_past_free(struct trace_past *p)
{
	if (p)
		memory_close(p->memory);
	free(p);
}

static struct memory_files *find_memory(struct trace_past *past)
{
	struct memory_files *f = past ? past->memory : memory_open("/proc", "/sys/fs/cgroup");

	if (past)
		past->memory = NULL;
	return f;
}

static void go_on_from(struct trace *t, const struct trace_past *past)
{
	t->time_before = past->time_end;
	clock_set_counted(t, past->counted);
}

static struct trace *make(const struct trace_config *cfg, char *err, size_t errlen)
{
	struct trace *t;
	int ret = trace_check(cfg, err, errlen);

	if (ret)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (t)
		t->life = calloc(1, sizeof(*t->life));
	if (!t || !t->life) {
		free(t);
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	t->gs = cfg->gs;
	t->cfg = *cfg;
	t->vcpus = cfg->vcpus;
	t->engine = &trap_probe_ops;
	t->fentry = guestsym_addr(cfg->gs, "__fentry__");
	t->max_events = cfg->max_events ? cfg->max_events : UINT64_MAX;
	t->cfg.past = NULL;
	t->memory = find_memory(cfg->past);
	ret = t->memory ? trace_core_init(t) : -ENOMEM;
	if (ret)
		snprintf(err, errlen, "no memory");
	if (!ret && cfg->past)
		go_on_from(t, cfg->past);
	if (!ret)
		ret = guest_learn(&t->guest, cfg->gs, err, errlen);
	if (!ret)
		place_kernel(t);
	if (!ret)
		ret = guest_tells(cfg->gs, err, errlen);
	if (!ret)
		ret = trace_alloc(t, err, errlen);
	if (!ret)
		ret = guards_init(t, err, errlen);
	if (!ret)
		graph_learn(t->graph);
	if (!ret)
		user_learn(&t->user, cfg->gs);
	/* Which modules a running guest has is not known yet. */
	if (!ret && !cfg->running) {
		trace_change_begin(t);
		ret = selection_configure(t, err, errlen);
		trace_change_end(t);
	}
	if (!ret)
		return t;
	trace_free(t);
	return NULL;
}

struct trace *trace_new(const struct trace_config *cfg, char *err, size_t errlen)
{
	struct trace *t = make(cfg, err, errlen);

	trace_past_free(cfg->past);
	return t;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	boot_end(t); /* of one that was never detached */
	instances_free(t);
	selection_free(t);
	graph_free(t->graph);
	profiler_free(t);
	latencies_free(t->latencies);
	stack_max_free(t->stack_max);
	probe_events_free(t->probe_events);
	synth_events_free(t->synth_events);
	event_probes_free(t->event_probes);
	events_free(t->trace_events);
	returns_free(t);
	flag_sites_free(t);
	pieces_free(t);
	probe_set_free(&t->probes);
	borrow_free(t->borrow);
	modules_list_free(t->modules);
	comms_free(t->comms);
	hwlat_settings_free(t->hwlat);
	blk_select_free(t->blk);
	crash_free(t->crash);
	collect_free(t->collect);
	memory_close(t->memory);
	free(t->event_traps);
	free(t->prints);
	branches_free(t->branches);
	free(t->follow);
	trace_core_exit(t);
	free(t->life);
	free(t);
}

/* What the guest has recorded by itself before this hit comes before it. */
static void trap_record(struct trace *t, uint32_t probe, const struct machine_hit *hit)
{
	vcpu_lock(t, hit->vcpu);
	collect_drain(t, hit->vcpu);
	record_switch_look(t);
	trace_seen(t, hit->tsc);
	if (instance_pairs_calls(t->instances))
		graph_hit(t->graph, hit, t->probes.v[probe].flags & PROBE_FL_EXIT);
	if (t->instances->calls)
		instance_max_hit(t->instances, probe, hit);
	for (struct instance *i = t->instances; i; i = i->next)
		if (i->tracer->hit && instance_takes(i, hit->vcpu, probe))
			i->tracer->hit(i, &t->probes.v[probe], hit);
	vcpu_unlock(t, hit->vcpu);
	trace_wake(t);
}

static void trap_commands(struct trace *t, const struct machine_hit *hit)
{
	const struct func_hit at = {.addr = hit->va, .vcpu = hit->vcpu, .machine = hit};
	bool held = record_hold(t, hit->tsc);

	for (struct instance *i = t->instances; i; i = i->next)
		func_filter_hit(i->functions, &at);
	if (held)
		record_release(t);
}

/* Its tracer looks at these calls itself. */
static void trap_call(struct trace *t, uint32_t probe, const struct machine_hit *hit)
{
	struct instance *top = trace_top(t);

	if (!top->tracer->calls && !top->tracer->entered)
		return;
	vcpu_lock(t, hit->vcpu);
	collect_drain(t, hit->vcpu);
	trace_seen(t, hit->tsc);
	for (unsigned int k = 0; top->tracer->calls && top->tracer->calls[k]; k++)
		if (top->tracer_calls[k] == probe)
			top->tracer->call(top, k, hit);
	if (top->tracer->entered && top->on && top->cpumask >> hit->vcpu & 1 &&
	    instance_bit(top->takes, top->room, probe))
		top->tracer->entered(top, hit);
	vcpu_unlock(t, hit->vcpu);
	trace_wake(t);
}

/* Its own call is the first that is recorded. */
static void recording_begins(struct trace *t)
{
	if (!atomic_exchange(&t->begun, true))
		instance_set_on(trace_top(t), true);
}

/* A vCPU is borrowed there; whoever else comes by is recorded as ever. */
static void lent_hit(struct trace *t, const struct machine_hit *hit)
{
	struct machine_hit as = *hit;

	if (!borrow_hit(t->borrow, hit))
		return;
	as.cookie = probes_lent_at(t, hit->va);
	if (as.cookie != UINT32_MAX)
		trace_trap(t, &as);
}

/*
 * By a copy of what the probe is there for: who asks for something here may stop the guest, and
 * wait for others that do; they may add probes, and the table of them lies elsewhere then.
 */
static void probe_trap(struct trace *t, uint32_t probe, const struct machine_hit *hit)
{
	const uint32_t guards = t->probes.v[probe].guards;
	const uint16_t flags = t->probes.v[probe].flags;
	const char *name = t->probes.v[probe].name;

	if (flags & PROBE_FL_FLAG) {
		record_flag_hit(t, hit);
		return;
	}
	/* The machine has taken it out. */
	if (flags & PROBE_FL_ONCE)
		t->probes.v[probe].flags &= (uint16_t)~PROBE_FL_SET;
	if (guards & GUARD_FREE_INIT && boot_holds_trap(t, probe, hit))
		return;
	if (guards & GUARD_FROM)
		recording_begins(t);
	if (flags & PROBE_FL_RECORD)
		trap_record(t, probe, hit);
	/* It may be in init memory. */
	if (flags & PROBE_FL_ONCE)
		t->probes.v[probe].flags |= PROBE_FL_GONE;
	if (guards & GUARD_PROBE) {
		probe_events_hit(t->probe_events, probe, hit);
		trap_call(t, probe, hit);
	}
	if (guards & GUARD_COMMAND)
		trap_commands(t, hit);
	if (guards & GUARD_DEPTH)
		stack_max_hit(t, hit);
	if (guards & GUARD_CRASH)
		crash_hit(t, name, hit);
	if (guards & ~(GUARD_RECORDS | GUARD_CRASH))
		guards_hit(t, guards, hit);
}

void trace_trap(struct trace *t, const struct machine_hit *hit)
{
	trace_vcpu_runs(t, hit->vcpu);
	if (hit->cookie == BORROW_COOKIE) {
		lent_hit(t, hit);
		return;
	}
	if (event_traps_hit(t, hit) || kprobe_traps_hit(t, hit) || guest_prints_hit(t, hit))
		return;
	if (hit->cookie < t->probes.nr)
		probe_trap(t, (uint32_t)hit->cookie, hit);
	else
		guards_hit(t, t->life->guard_returned, hit);
}

void trace_mmio(struct trace *t, const struct machine_mmio *access)
{
	struct instance *top = trace_top(t);

	trace_vcpu_runs(t, access->vcpu);
	/* Nobody traces its devices, or not any more, though the guest goes on. */
	if (!top->tracer->mmio || atomic_load(&t->leaving))
		return;
	vcpu_lock(t, access->vcpu);
	collect_drain(t, access->vcpu);
	trace_seen(t, access->tsc);
	if (top->tracer->mmio) /* still */
		top->tracer->mmio(top, access);
	vcpu_unlock(t, access->vcpu);
	trace_wake(t);
}

bool trace_branch(struct trace *t, const struct machine_branch *b)
{
	struct instance *top = trace_top(t);
	bool more = false;

	if (!top->tracer->branch || atomic_load(&t->leaving))
		return false;
	vcpu_lock(t, b->vcpu);
	if (!b->end) {
		collect_drain(t, b->vcpu);
		trace_seen(t, b->tsc);
	}
	if (top->tracer->branch) /* still */
		more = top->tracer->branch(top, b);
	vcpu_unlock(t, b->vcpu);
	trace_wake(t);
	return more;
}

static const char *name_at(struct trace *t, uint64_t ip)
{
	const struct guestsym_symbol *sym =
		ip ? guestsym_find(t->gs, ip - t->guest.slide, NULL, NULL) : NULL;

	return sym ? sym->name : NULL;
}

uint64_t trace_memory_left(const struct trace *t)
{
	return t->memory ? memory_left(t->memory) : 0;
}

void trace_tell_crash(struct trace *t)
{
	crash_tell(t);
}

void trace_get_status(struct trace *t, struct trace_status *st)
{
	uint64_t events = atomic_load(&t->events);
	struct collect_counts staged;

	collect_get_counts(t, &staged);
	*st = (struct trace_status){
		.sites = t->probes.selected,
		.skipped = t->probes.skipped,
		.traced = t->probes.traced,
		.hits = events < t->max_events ? events : t->max_events,
		.done = atomic_load(&t->done),
		.error = atomic_load(&t->error),
		.lost = staged.lost,
		.made = staged.made,
		.staged = staged.taken,
		.staging_lost = staged.lost,
		.corrupt = staged.corrupt,
		.engine = t->engine->name,
		.away = atomic_load(&t->away),
		.panicked = crash_ended(t),
		.boot_ns = t->instances->clock->anew ? t->time_before : 0,
		.at = name_at(t, atomic_load(&t->at_ip[0])),
	};
	for (unsigned int i = 0; i < t->vcpus; i++) {
		struct ring_stats ring;

		ring_get_stats(ring_now(t->instances->ring, i), &ring);
		st->lost += ring.dropped;
		st->overwritten += ring.overrun;
	}
}

void trace_get_vcpu_status(struct trace *t, unsigned int vcpu, struct trace_vcpu_status *st)
{
	struct collect_counts staged;
	struct ring_stats ring;

	collect_get_vcpu_counts(t, vcpu, &staged);
	ring_get_stats(ring_now(t->instances->ring, vcpu), &ring);
	*st = (struct trace_vcpu_status){
		.events = ring.entries + ring.read + ring.overrun,
		.staging_lost = staged.lost,
		.dropped = ring.dropped,
		.overwritten = ring.overrun,
	};
}
