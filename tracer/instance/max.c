// SPDX-License-Identifier: GPL-2.0-or-later
/* max.c - see max.h */
#include "tracer/instance/max.h"
#include "tracer/core/lock.h"
#include "tracer/graph/max-graph.h"
#include "tracer/graph/stacks.h"
#include "tracer/guest/tasks.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/lib/memory.h"
#include "tracer/payload/record.h"
#include "tracer/ring/entry.h"

#include <errno.h>
#include <string.h>

bool instance_is_max(struct instance *i, uint64_t ns)
{
	uint64_t thresh = i->t->thresh;

	return thresh ? ns >= thresh : ns > i->max_latency;
}

/* How well the frequency of the guest's TSC is known: to one part of so many. */
#define MAX_UNSURE 1024

uint64_t instance_max_ticks(struct instance *i)
{
	uint64_t thresh = i->t->thresh, ns = thresh ? thresh : i->max_latency;
	struct machine_info info;
	uint64_t whole, rest;

	if (i->t->latency_on)
		return 0; /* all are wanted */
	machine_get_info(i->t->m, &info);
	whole = ns / 1000000 * info.tsc_khz;
	rest = ns % 1000000 * info.tsc_khz;
	whole += rest / 1000000;
	return whole - whole / MAX_UNSURE;
}

/* --- its trace ------------------------------------------------------------------------------- */

static void put(struct ring *ring, uint64_t ts, const void *data, size_t len)
{
	void *to = ring_reserve(ring, len, ts);

	if (!to)
		return;
	memcpy(to, data, len);
	ring_commit(ring);
}

/* In a graph a call of the tracer's own takes no time (trace_graph_function()). */
static void put_leaf(struct ring *ring, uint64_t ts, const struct trace_function_entry *fn)
{
	struct trace_graph_entry call = {.ent = fn->ent, .func = fn->ip};
	struct trace_graph_exit ret = {
		.ent = fn->ent, .func = fn->ip, .calltime = ts, .rettime = ts};

	call.ent.type = TRACE_GRAPH_ENT;
	ret.ent.type = TRACE_GRAPH_RET;
	put(ring, ts, &call, sizeof(call));
	put(ring, ts, &ret, sizeof(ret));
}

static void put_own(struct instance *i, unsigned int vcpu, const struct max_entry *e,
		    unsigned int n)
{
	for (unsigned int k = 0; k < n; k++) {
		const struct trace_entry *ent = e[k].data;

		if (e[k].vcpu != vcpu)
			continue;
		if (instance_shows_graph(i) && ent->type == TRACE_FN)
			put_leaf(i->spare[vcpu], e[k].ts, e[k].data);
		else
			put(i->spare[vcpu], e[k].ts, e[k].data, e[k].len);
	}
}

static bool is_part(const struct max_window *w, unsigned int vcpu, const struct ring_event *ev)
{
	const struct trace_entry *e = ev->data;

	if (w->takes && !w->takes(w->arg, vcpu, ev->ts))
		return false;
	return !w->takes_call || ev->len < sizeof(*e) || e->type != TRACE_FN ||
	       w->takes_call(w->arg, vcpu, ev->ts);
}

static bool takes_call(const void *arg, unsigned int vcpu, uint64_t ts)
{
	const struct max_window *w = arg;

	return (!w->takes || w->takes(w->arg, vcpu, ts)) &&
	       (!w->takes_call || w->takes_call(w->arg, vcpu, ts));
}

/* What one vCPU called in between. */
static void graph_between(struct instance *i, unsigned int vcpu, const struct max_window *w,
			  struct max_graph *g)
{
	struct pairing_stacks stacks;
	struct max_graph_part part = {
		.log = i->calls,
		.vcpu = vcpu,
		.from = w->first[0].ts,
		.to = w->last[0].ts,
		.takes = takes_call,
		.arg = w,
		.filter = &i->graph,
	};
	struct machine_info info;

	if (!i->calls)
		return;
	if (pairing_stacks_read(&i->t->guest, i->t->gs, i->t->vcpus, &stacks))
		part.stacks = &stacks;
	machine_get_info(i->t->m, &info);
	if (!i->clock->ns)
		part.tsc_khz = info.tsc_khz;
	max_graph_make(g, &part); /* what there is of it is better than nothing */
}

/* Those before a time, `at` being the first of them; where the others begin. */
static size_t put_graph(struct instance *i, unsigned int vcpu, const struct max_graph *g, size_t at,
			uint64_t before)
{
	for (; at < g->nr && g->v[at].ts < before; at++)
		put(i->spare[vcpu], g->v[at].ts, &g->v[at].ent, g->v[at].len);
	return at;
}

/* What one vCPU has recorded in between. */
static void copy_between(struct instance *i, unsigned int vcpu, const struct max_window *w)
{
	uint64_t from = w->first[0].ts, to = w->last[0].ts;
	struct ring_cursor *c = ring_look(i->ring[vcpu]);
	struct max_graph g = {0};
	struct ring_event ev;
	size_t at = 0;

	graph_between(i, vcpu, w, &g);
	while (c && ring_next(c, &ev) && ev.ts < to) {
		if (ev.ts < from || !is_part(w, vcpu, &ev))
			continue;
		at = put_graph(i, vcpu, &g, at, ev.ts);
		put(i->spare[vcpu], ev.ts, ev.data, ev.len);
	}
	put_graph(i, vcpu, &g, at, to);
	ring_cursor_free(c);
	max_graph_free(&g);
}

/* --- calls and returns ----------------------------------------------------------------------- */

/* As many as a buffer holds of them, and more than one pass of the collector's brings at once. */
#define CALLS_MIN 65536

static size_t calls_room(const struct instance *i)
{
	size_t pair = sizeof(struct trace_graph_entry) + sizeof(struct trace_graph_exit);
	size_t nr = ring_size(i->ring[0]) / (pair / 2);

	return nr < CALLS_MIN ? CALLS_MIN : nr;
}

int instance_max_calls(struct instance *i)
{
	bool wanted = instance_shows_graph(i) && instance_traces_functions(i);
	size_t nr = calls_room(i);

	if (!wanted) {
		call_log_free(i->calls);
		i->calls = NULL;
	} else if (!i->calls) {
		if (memory_holds(i->t->memory, nr * i->t->vcpus * sizeof(struct logged_call)))
			i->calls = call_log_new(i->t->vcpus, nr);
		if (!i->calls)
			return -ENOMEM;
	}
	return 0;
}

void instance_max_hit(struct instance *i, uint32_t probe, const struct machine_hit *hit)
{
	bool is_exit = i->t->probes.v[probe].flags & PROBE_FL_EXIT;
	struct clock_reading now;
	struct payload_record r;

	if (!i->on || !(i->cpumask >> hit->vcpu & 1) ||
	    !(is_exit || instance_takes(i, hit->vcpu, probe)))
		return;
	instance_hit_record(i->t, hit, is_exit, &r);
	if (!pid_filter_traces(&i->pids, record_pid(&r)) || !(is_exit || trace_admit(i->t, 1)))
		return;
	clock_begin(i->clock, i->t, hit->vcpu, hit->tsc, &now);
	call_log_add(i->calls, hit->vcpu, &r,
		     horizon_time(&i->horizon, clock_read(i->clock, i->t, &now, hit->tsc)));
}

void instance_keep_max(struct instance *i, const struct max_window *w,
		       const struct output_latency *latency)
{
	if (!instance_has_snapshot(i))
		return;
	i->max_latency = latency->ns;
	i->max = *latency;
	i->max_start = w->first[0].ts;
	i->max_incomplete = true;
	atomic_store(&i->t->deferred, true);
	instance_snapshot_clear(i, ALL_VCPUS);
	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		put_own(i, v, w->first, w->nr_first);
		copy_between(i, v, w);
		put_own(i, v, w->last, w->nr_last);
	}
}

/* --- its task -------------------------------------------------------------------------------- */

struct find_task {
	struct guest_kernel *g;
	const struct task_layout *at;
	int32_t pid;
	uint64_t addr;
};

static bool is_task(void *arg, const struct task *task)
{
	struct find_task *find = arg;
	int32_t pid;

	if (guest_read(find->g, task->addr + find->at->pid, &pid, sizeof(pid)) || pid != find->pid)
		return true;
	find->addr = task->addr;
	return false;
}

static bool read_member(struct trace *t, uint64_t addr, const char *path, void *to, size_t size)
{
	struct guestsym_field f;

	return !guestsym_field(t->gs, path, &f) && f.size == size &&
	       !guest_read(&t->guest, addr + f.offset, to, size);
}

#define DEFAULT_PRIO 120 /* of nice 0 */

static void read_task(struct trace *t, uint64_t addr, struct output_latency *to)
{
	int32_t static_prio;
	uint64_t cred;

	if (read_member(t, addr, "task_struct.static_prio", &static_prio, sizeof(static_prio)))
		to->nice = static_prio - DEFAULT_PRIO;
	read_member(t, addr, "task_struct.policy", &to->policy, sizeof(to->policy));
	read_member(t, addr, "task_struct.rt_priority", &to->rt_priority, sizeof(to->rt_priority));
	if (read_member(t, addr, "task_struct.real_cred", &cred, sizeof(cred)))
		read_member(t, cred, "cred.uid", &to->uid, sizeof(to->uid));
}

void instance_complete_max(struct instance *i)
{
	struct trace *t = i->t;
	struct output_latency max;
	struct task_layout at;
	struct find_task find = {.g = &t->guest, .at = &at};

	vcpu_lock(t, 0);
	max = i->max;
	if (!i->max_incomplete)
		max.pid = 0;
	i->max_incomplete = false;
	vcpu_unlock(t, 0);
	if (!max.pid || task_layout_learn(&at, t->gs, &t->guest))
		return;
	find.pid = max.pid;
	/* The list may change while it is looked at; then the task may not be found. */
	tasks_each(&t->guest, &at, is_task, &find);
	if (!find.addr)
		return;
	read_task(t, find.addr, &max);
	vcpu_lock(t, 0);
	if (!i->max_incomplete)
		i->max = max;
	vcpu_unlock(t, 0);
}

/* --- how it is shown ------------------------------------------------------------------------- */

void instance_max_config(struct instance *i, struct output_config *cfg)
{
	vcpu_lock(i->t, 0);
	cfg->latency = i->max;
	cfg->time_start = i->max_start;
	vcpu_unlock(i->t, 0);
}
