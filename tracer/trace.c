// SPDX-License-Identifier: GPL-2.0-or-later
/* trace.c - one trace: from its configuration to records in the ring buffers. */
#include "tracer/internal.h"
#include "tracer/entry.h"

#include <errno.h>
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

static int trace_choose(struct trace *t, const struct trace_config *cfg, char *err, size_t errlen)
{
	char known[128];

	t->tracer = tracer_find(cfg->tracer);
	if (!t->tracer) {
		names_of(known, sizeof(known), trace_tracer_name);
		snprintf(err, errlen, "unknown tracer '%s'; there are: %s", cfg->tracer, known);
		return -EINVAL;
	}
	t->clock = clock_find(cfg->clock);
	if (!t->clock) {
		names_of(known, sizeof(known), trace_clock_name);
		snprintf(err, errlen, "unknown clock '%s'; there are: %s", cfg->clock, known);
		return -EINVAL;
	}
	return 0;
}

static int trace_alloc(struct trace *t, uint64_t bytes, char *err, size_t errlen)
{
	for (unsigned int i = 0; i < t->vcpus; i++) {
		t->ring[i] = ring_new(bytes);
		if (!t->ring[i]) {
			snprintf(err, errlen,
				 "no memory for %u ring buffers of %llu KB each; try a smaller one "
				 "(-b)",
				 t->vcpus, (unsigned long long)(bytes >> 10));
			return -ENOMEM;
		}
	}
	t->comms = comms_new(COMMS_DEFAULT_NR);
	if (!t->comms) {
		snprintf(err, errlen, "no memory for the table of task names");
		return -ENOMEM;
	}
	return 0;
}

static int trace_select(struct trace *t, char *err, size_t errlen)
{
	if (t->tracer->functions && probe_set_init(&t->probes, &t->cfg)) {
		snprintf(err, errlen, "no memory for the table of probes");
		return -ENOMEM;
	}
	/* Which modules a running guest has is not known yet. */
	return t->cfg.running ? 0 : probes_check(t, err, errlen);
}

struct trace *trace_new(const struct trace_config *cfg, char *err, size_t errlen)
{
	struct trace *t = calloc(1, sizeof(*t));
	int ret;

	if (!t) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	t->gs = cfg->gs;
	t->cfg = *cfg;
	t->vcpus = cfg->vcpus;
	t->engine = &trap_probe_ops;
	t->fentry = guestsym_addr(cfg->gs, "__fentry__");
	t->max_events = cfg->max_events ? cfg->max_events : UINT64_MAX;
	ret = trace_choose(t, cfg, err, errlen);
	if (!ret)
		ret = guest_learn(&t->guest, cfg->gs, err, errlen);
	if (!ret)
		ret = trace_select(t, err, errlen);
	if (!ret)
		ret = guards_init(t, cfg->until, err, errlen);
	if (!ret)
		ret = trace_alloc(t, cfg->buffer_bytes, err, errlen);
	if (!ret)
		return t;
	trace_free(t);
	return NULL;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	probe_set_free(&t->probes);
	borrow_free(t->borrow);
	modules_free(t);
	for (unsigned int i = 0; i < t->vcpus; i++)
		ring_free(t->ring[i]);
	comms_free(t->comms);
	free(t);
}

static int trace_insert(struct trace *t, char *err, size_t errlen)
{
	int ret = probes_insert(t, 0, 0);

	if (ret)
		snprintf(err, errlen, "cannot place the probes in the guest: %s", strerror(-ret));
	return ret;
}

int trace_attach(struct trace *t, struct machine *m, char *err, size_t errlen)
{
	t->m = m;
	guest_bind(&t->guest, m);
	return trace_insert(t, err, errlen);
}

int trace_attach_running(struct trace *t, struct machine *m, char *err, size_t errlen)
{
	int ret;

	t->m = m;
	guest_bind(&t->guest, m);
	machine_pause(m);
	ret = guest_locate(&t->guest, t->gs, err, errlen);
	if (!ret) {
		t->borrow = borrow_new(t->gs, &t->guest);
		if (!t->borrow) {
			snprintf(err, errlen, "no memory");
			ret = -ENOMEM;
		}
	}
	if (!ret) {
		guards_booted(t);
		ret = modules_update(t);
		if (ret)
			snprintf(err, errlen, "the guest's modules cannot be read: %s",
				 strerror(-ret));
	}
	if (!ret)
		ret = probes_check(t, err, errlen);
	if (!ret)
		ret = trace_insert(t, err, errlen);
	machine_resume(m);
	return ret;
}

int trace_detach(struct trace *t)
{
	int ret, error;

	machine_pause(t->m);
	for (unsigned int i = 0; i < t->vcpus; i++)
		ring_record(t->ring[i], false);
	ret = probes_remove(t, 0, 0);
	if (t->ftrace_return) {
		error = machine_traps_clear(t->m, &t->ftrace_return, 1);
		t->ftrace_return = 0;
		ret = ret ? ret : error;
	}
	machine_resume(t->m);
	error = atomic_load(&t->error);
	return ret ? ret : error;
}

void trace_finish(struct trace *t)
{
	atomic_store(&t->done, true);
	machine_wake(t->m);
}

void trace_trap(struct trace *t, const struct machine_hit *hit)
{
	struct probe *p = NULL;

	if (hit->cookie == BORROW_COOKIE) {
		borrow_hit(t->borrow, hit);
		return;
	}
	if (hit->cookie < t->probes.nr) {
		p = &t->probes.v[hit->cookie];
		if (p->flags & PROBE_FL_RECORD && t->tracer->hit)
			t->tracer->hit(t, p, hit);
		if (p->flags & PROBE_FL_ONCE)
			p->flags &= (uint8_t)~PROBE_FL_SET; /* the machine has taken it out */
	}
	if (!p || p->guards)
		guards_hit(t, p, hit);
}

void *trace_reserve(struct trace *t, const struct machine_hit *hit, uint16_t type, size_t len)
{
	struct guest_state st;
	struct trace_entry *e;
	uint64_t nr;

	if (atomic_load_explicit(&t->done, memory_order_relaxed))
		return NULL;
	nr = atomic_fetch_add_explicit(&t->events, 1, memory_order_relaxed) + 1;
	if (nr > t->max_events)
		return NULL;
	if (nr == t->max_events)
		trace_finish(t);
	guest_get_state(&t->guest, hit->vcpu, hit->regs, &st);
	e = ring_reserve(t->ring[hit->vcpu], len, t->clock->read(t, hit->vcpu, hit->tsc));
	if (!e)
		return NULL;
	e->type = type;
	e->flags = st.flags;
	e->preempt_count = st.preempt_count;
	e->pid = st.pid;
	comms_note(t->comms, st.pid, st.tgid, st.comm);
	return e;
}

void trace_get_status(struct trace *t, struct trace_status *st)
{
	uint64_t events = atomic_load(&t->events);

	*st = (struct trace_status){
		.sites = t->probes.selected,
		.skipped = t->probes.skipped,
		.hits = events < t->max_events ? events : t->max_events,
		.done = atomic_load(&t->done),
		.at = atomic_load(&t->at[0]),
	};
	for (unsigned int i = 0; i < t->vcpus; i++) {
		struct ring_stats ring;

		ring_get_stats(t->ring[i], &ring);
		st->lost += ring.overrun + ring.dropped;
	}
}
