// SPDX-License-Identifier: GPL-2.0-or-later
/* instance-max.c - see instance-max.h */
#include "tracer/instance-max.h"
#include "tracer/entry.h"
#include "tracer/tasks.h"

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

static void put(struct ring *ring, uint64_t ts, const void *data, size_t len)
{
	void *to = ring_reserve(ring, len, ts);

	if (!to)
		return;
	memcpy(to, data, len);
	ring_commit(ring);
}

static void put_own(struct instance *i, unsigned int vcpu, const struct max_entry *e,
		    unsigned int n)
{
	for (unsigned int k = 0; k < n; k++)
		if (e[k].vcpu == vcpu)
			put(i->spare[vcpu], e[k].ts, e[k].data, e[k].len);
}

static bool is_part(const struct max_window *w, unsigned int vcpu, const struct ring_event *ev)
{
	const struct trace_entry *e = ev->data;

	if (w->takes && !w->takes(w->arg, vcpu, ev->ts))
		return false;
	return !w->takes_call || ev->len < sizeof(*e) || e->type != TRACE_FN ||
	       w->takes_call(w->arg, vcpu, ev->ts);
}

/* What one vCPU has recorded in between. */
static void copy_between(struct instance *i, unsigned int vcpu, const struct max_window *w)
{
	uint64_t from = w->first[0].ts, to = w->last[0].ts;
	struct ring_cursor *c = ring_look(i->ring[vcpu]);
	struct ring_event ev;

	while (c && ring_next(c, &ev) && ev.ts < to)
		if (ev.ts >= from && is_part(w, vcpu, &ev))
			put(i->spare[vcpu], ev.ts, ev.data, ev.len);
	ring_cursor_free(c);
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

	pthread_mutex_lock(&t->vcpu_lock[0]);
	max = i->max;
	if (!i->max_incomplete)
		max.pid = 0;
	i->max_incomplete = false;
	pthread_mutex_unlock(&t->vcpu_lock[0]);
	if (!max.pid || task_layout_learn(&at, t->gs, &t->guest))
		return;
	find.pid = max.pid;
	/* The list may change while it is looked at; then the task may not be found. */
	tasks_each(&t->guest, &at, is_task, &find);
	if (!find.addr)
		return;
	read_task(t, find.addr, &max);
	pthread_mutex_lock(&t->vcpu_lock[0]);
	if (!i->max_incomplete)
		i->max = max;
	pthread_mutex_unlock(&t->vcpu_lock[0]);
}

/* --- how it is shown ------------------------------------------------------------------------- */

void instance_max_config(struct instance *i, struct output_config *cfg)
{
	pthread_mutex_lock(&i->t->vcpu_lock[0]);
	cfg->latency = i->max;
	cfg->time_start = i->max_start;
	pthread_mutex_unlock(&i->t->vcpu_lock[0]);
}

/* As start_wakeup_tracer() and its like: their trace reads best so, and keeps what came last. */
#define MAX_OPTIONS (OUTPUT_LATENCY_FORMAT | OUTPUT_OVERWRITE)

void instance_max_begin(struct instance *i)
{
	i->max_saved = i->options & MAX_OPTIONS;
	instance_set_option(i, OUTPUT_LATENCY_FORMAT, true);
	instance_set_option(i, OUTPUT_OVERWRITE, true);
}

void instance_max_end(struct instance *i)
{
	instance_set_option(i, OUTPUT_LATENCY_FORMAT, i->max_saved & OUTPUT_LATENCY_FORMAT);
	instance_set_option(i, OUTPUT_OVERWRITE, i->max_saved & OUTPUT_OVERWRITE);
	instance_snapshot_free(i);
}
