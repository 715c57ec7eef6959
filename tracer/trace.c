// SPDX-License-Identifier: GPL-2.0-or-later
/* trace.c - one trace: from its configuration to records in the ring buffers. */
#include "tracer/boot.h"
#include "tracer/ring/entry.h"
#include "tracer/dynevent/eprobe.h"
#include "tracer/events/events.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/critical/traps.h"
#include "tracer/record/graph.h"
#include "tracer/lib/host-time.h"
#include "tracer/instance/max.h"
#include "tracer/instance/instance.h"
#include "tracer/dynevent/kprobe-traps.h"
#include "tracer/stat/latencies.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/stat/stack-max.h"
#include "tracer/dynevent/synth.h"
#include "tracer/probe/trampoline/trampoline.h"
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

static int trace_alloc(struct trace *t, char *err, size_t errlen)
{
	t->comms = comms_new(COMMS_DEFAULT_NR);
	t->funcs = funcs_new(NULL, 0);
	t->graph = graph_new(t);
	t->trace_events = events_new(t);
	t->probe_events = probe_events_new(t);
	t->synth_events = synth_events_new(t);
	t->event_probes = event_probes_new(t);
	if (t->funcs)
		t->stack_max = stack_max_new(t);
	if (t->comms && t->funcs && t->graph && t->stack_max && t->trace_events &&
	    t->probe_events && t->synth_events && t->event_probes && !flag_sites_init(t) &&
	    !probe_set_init(&t->probes, t->gs))
		return instance_init_top(t, err, errlen);
	snprintf(err, errlen, "no memory for the tables of probes and of task names");
	return -ENOMEM;
}

static void locks_init(struct trace *t)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t clock;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&t->change, &attr);
	pthread_mutexattr_destroy(&attr);
	hwlat_settings_init(&t->hwlat);
	pthread_mutex_init(&t->instances_lock, NULL);
	pthread_mutex_init(&t->wait_lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wait_change, &clock);
	pthread_condattr_destroy(&clock);
	for (unsigned int i = 0; i < t->vcpus; i++)
		pthread_mutex_init(&t->vcpu_lock[i], NULL);
}

struct trace *trace_new(const struct trace_config *cfg, char *err, size_t errlen)
{
	struct trace *t;
	int ret = trace_check(cfg, err, errlen);

	if (ret)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	t->gs = cfg->gs;
	t->cfg = *cfg;
	t->vcpus = cfg->vcpus;
	t->engine = &trap_probe_ops;
	t->fentry = guestsym_addr(cfg->gs, "__fentry__");
	t->has_touched = guestsym_addr(cfg->gs, "ftrace_touched_open");
	t->max_events = cfg->max_events ? cfg->max_events : UINT64_MAX;
	locks_init(t);
	ret = guest_learn(&t->guest, cfg->gs, err, errlen);
	if (!ret)
		ret = trace_alloc(t, err, errlen);
	if (!ret)
		ret = guards_init(t, cfg->until, err, errlen);
	if (!ret)
		follow_learn(&t->follow, &t->probes, cfg->gs);
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

static void locks_free(struct trace *t)
{
	for (unsigned int i = 0; i < t->vcpus; i++)
		pthread_mutex_destroy(&t->vcpu_lock[i]);
	hwlat_settings_exit(&t->hwlat);
	pthread_cond_destroy(&t->wait_change);
	pthread_mutex_destroy(&t->wait_lock);
	pthread_mutex_destroy(&t->instances_lock);
	pthread_mutex_destroy(&t->change);
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
	latencies_free(t);
	stack_max_free(t->stack_max);
	probe_events_free(t->probe_events);
	synth_events_free(t->synth_events);
	event_probes_free(t->event_probes);
	events_free(t->trace_events);
	returns_free(t);
	flag_sites_free(t);
	probe_set_free(&t->probes);
	borrow_free(t->borrow);
	unwind_free(t->unwind);
	modules_free(t);
	comms_free(t->comms);
	for (size_t i = 0; i < t->nr_retired; i++)
		comms_free(t->retired[i]);
	free(t->retired);
	locks_free(t);
	free(t);
}

void trace_finish(struct trace *t)
{
	atomic_store(&t->done, true);
	machine_wake(t->m);
}

void trace_fail(struct trace *t, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&t->error, &none, error); /* the first one says most */
	/* A guest that has gone: its machine is about to tell how, which says more. */
	if (error != -ECONNRESET && error != -EPIPE)
		trace_finish(t);
}

void trace_note(struct trace *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!t->cfg.message)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->cfg.message(t->cfg.message_arg, text);
}

/* What the guest has recorded by itself before this hit comes before it. */
static void trap_record(struct trace *t, uint32_t probe, const struct machine_hit *hit)
{
	pthread_mutex_lock(&t->vcpu_lock[hit->vcpu]);
	trampoline_drain(t, hit->vcpu);
	trace_seen(t, hit->tsc);
	if (instance_pairs_calls(t->instances))
		graph_hit(t->graph, hit, t->probes.v[probe].flags & PROBE_FL_EXIT);
	if (t->instances->calls)
		instance_max_hit(t->instances, probe, hit);
	for (struct instance *i = t->instances; i; i = i->next)
		if (i->tracer->hit && instance_takes(i, hit->vcpu, probe))
			i->tracer->hit(i, &t->probes.v[probe], hit);
	pthread_mutex_unlock(&t->vcpu_lock[hit->vcpu]);
	instances_wake(t);
}

static void trap_commands(struct trace *t, const struct machine_hit *hit)
{
	const struct func_hit at = {.addr = hit->va, .vcpu = hit->vcpu, .machine = hit};

	for (struct instance *i = t->instances; i; i = i->next)
		func_filter_hit(i->functions, &at);
}

void trace_trap(struct trace *t, const struct machine_hit *hit)
{
	struct probe *p = NULL;

	if (hit->cookie == BORROW_COOKIE) {
		if (borrow_hit(t->borrow, hit))
			probes_lent_hit(t, hit);
		return;
	}
	if (event_traps_hit(t, hit) || kprobe_traps_hit(t, hit) || guest_prints_hit(t, hit))
		return;
	if (hit->cookie < t->probes.nr) {
		p = &t->probes.v[hit->cookie];
		if (p->flags & PROBE_FL_FLAG) {
			flag_traps_hit(t, hit);
			return;
		}
		if (p->flags & PROBE_FL_RECORD)
			trap_record(t, (uint32_t)hit->cookie, hit);
		/* The machine has taken it out, and it may be in init memory. */
		if (p->flags & PROBE_FL_ONCE)
			p->flags = (uint16_t)((p->flags & ~PROBE_FL_SET) | PROBE_FL_GONE);
		if (p->guards & GUARD_PROBE)
			probe_events_hit(t->probe_events, (uint32_t)hit->cookie, hit);
		if (p->guards & GUARD_COMMAND)
			trap_commands(t, hit);
		if (p->guards & GUARD_DEPTH)
			stack_max_hit(t, hit);
	}
	if (!p || p->guards & ~GUARD_RECORDS)
		guards_hit(t, p, hit);
}

void trace_seen(struct trace *t, uint64_t tsc)
{
	atomic_store(&t->seen_ns, (uint64_t)host_ns());
	atomic_store(&t->seen_tsc, tsc);
}

uint64_t trace_admit(struct trace *t, uint64_t n)
{
	uint64_t before, left;

	if (!n || atomic_load_explicit(&t->done, memory_order_relaxed))
		return 0;
	before = atomic_fetch_add_explicit(&t->events, n, memory_order_relaxed);
	left = before < t->max_events ? t->max_events - before : 0;
	if (left && n >= left)
		trace_finish(t);
	return n < left ? n : left;
}

bool trace_describe(struct instance *i, const struct machine_hit *hit, uint16_t type,
		    struct trace_entry *ent, uint64_t *ts)
{
	struct clock_reading now;
	struct trace *t = i->t;
	struct guest_state st;

	guest_get_state(&t->guest, hit->vcpu, hit->regs, &st);
	if (!pid_filter_traces(&i->pids, st.pid))
		return false;
	/* Only the top level counts what --max-events asks for. */
	if (i == t->instances ? !trace_admit(t, 1) : atomic_load(&t->done))
		return false;
	clock_begin(i->clock, t, hit->vcpu, hit->tsc, &now);
	*ts = horizon_time(&i->horizon, clock_read(i->clock, t, &now, hit->tsc));
	*ent = (struct trace_entry){
		.type = type,
		.flags = st.flags,
		.preempt_count = st.preempt_count,
		.pid = st.pid,
	};
	if (i->options & OUTPUT_RECORD_CMD)
		comms_note(t->comms, st.pid, st.tgid, st.comm);
	return true;
}

void *trace_reserve(struct instance *i, const struct machine_hit *hit, uint16_t type, size_t len)
{
	struct trace_entry ent, *e;
	uint64_t ts;

	if (!trace_describe(i, hit, type, &ent, &ts))
		return NULL;
	e = ring_reserve(i->ring[hit->vcpu], len, ts);
	if (e)
		*e = ent;
	return e;
}

static const char *name_at(struct trace *t, uint64_t ip)
{
	const struct guestsym_symbol *sym =
		ip ? guestsym_find(t->gs, ip - t->guest.slide, NULL, NULL) : NULL;

	return sym ? sym->name : NULL;
}

void trace_get_status(struct trace *t, struct trace_status *st)
{
	uint64_t events = atomic_load(&t->events);
	struct trampoline_counts staged;

	trampoline_get_counts(t, &staged);
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
		.away = atomic_load(&t->text_lock.state) != TEXT_LOCK_OURS,
		.at = name_at(t, atomic_load(&t->at_ip[0])),
	};
	for (unsigned int i = 0; i < t->vcpus; i++) {
		struct ring_stats ring;

		ring_get_stats(ring_now(t->instances->ring, i), &ring);
		st->lost += ring.overrun + ring.dropped;
	}
}
