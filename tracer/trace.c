// SPDX-License-Identifier: GPL-2.0-or-later
/* trace.c - one trace: from its configuration to records in the ring buffers. */
#include "tracer/internal.h"
#include "tracer/entry.h"
#include "tracer/trampoline.h"

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
	pthread_mutex_init(&t->change, NULL);
	for (unsigned int i = 0; i < t->vcpus; i++)
		pthread_mutex_init(&t->vcpu_lock[i], NULL);
	ret = trace_choose(t, cfg, err, errlen);
	if (!ret)
		ret = pid_set_init(&t->pids, cfg->pids, cfg->nr_pids, err, errlen);
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
	for (unsigned int i = 0; i < t->vcpus; i++) {
		ring_free(t->ring[i]);
		pthread_mutex_destroy(&t->vcpu_lock[i]);
	}
	pthread_mutex_destroy(&t->change);
	pid_set_free(&t->pids);
	comms_free(t->comms);
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
static void trap_record(struct trace *t, const struct probe *p, const struct machine_hit *hit)
{
	pthread_mutex_lock(&t->vcpu_lock[hit->vcpu]);
	trampoline_drain(t, hit->vcpu);
	t->tracer->hit(t, p, hit);
	pthread_mutex_unlock(&t->vcpu_lock[hit->vcpu]);
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
			trap_record(t, p, hit);
		if (p->flags & PROBE_FL_ONCE)
			p->flags &= (uint8_t)~PROBE_FL_SET; /* the machine has taken it out */
	}
	if (!p || p->guards)
		guards_hit(t, p, hit);
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

void *trace_reserve(struct trace *t, const struct machine_hit *hit, uint16_t type, size_t len)
{
	struct clock_reading now;
	struct guest_state st;
	struct trace_entry *e;

	guest_get_state(&t->guest, hit->vcpu, hit->regs, &st);
	if (!pid_set_has(&t->pids, st.pid) || !trace_admit(t, 1))
		return NULL;
	if (t->clock->begin)
		t->clock->begin(t, hit->vcpu, hit->tsc, &now);
	e = ring_reserve(t->ring[hit->vcpu], len, t->clock->read(t, &now, hit->tsc));
	if (!e)
		return NULL;
	e->type = type;
	e->flags = st.flags;
	e->preempt_count = st.preempt_count;
	e->pid = st.pid;
	comms_note(t->comms, st.pid, st.tgid, st.comm);
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
		.lost = staged.lost,
		.staged = staged.taken,
		.staging_lost = staged.lost,
		.corrupt = staged.corrupt,
		.engine = t->engine->name,
		.at = name_at(t, atomic_load(&t->at_ip[0])),
	};
	for (unsigned int i = 0; i < t->vcpus; i++) {
		struct ring_stats ring;

		ring_get_stats(t->ring[i], &ring);
		st->lost += ring.overrun + ring.dropped;
	}
}
