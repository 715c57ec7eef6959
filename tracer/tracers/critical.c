// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * payload/critical.c - the tracers of windows in which nothing else can run: irqsoff (interrupts
 * are off), preemptoff (tasks cannot be preempted), preemptirqsoff (either).
 *
 * What their trace looks like: check_critical_timing() (kernel/trace/trace_irqsoff.c, 6.1).
 */
#include "tracer/core/symbol.h"
#include "tracer/instance/files.h"
#include "tracer/instance/max.h"
#include "tracer/payload/critical.h"
#include "tracer/payload/event-ring.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/stat/latencies.h"
#include "tracer/tracers/tracers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* What is to be kept of one vCPU's when the pass of the collector's ends. */
struct found {
	bool is;
	struct critical_window w;
	struct event_stack stack;
	uint64_t ns, from, to; /* the last two are of the instance's clock */
};

struct critical_tracer {
	uint64_t tsc_khz;
	struct found found[MACHINE_MAX_VCPUS];
};

static int critical_init(struct instance *i, void **data, const uint32_t *events)
{
	struct critical_tracer *c = calloc(1, sizeof(*c));
	struct machine_info info;
	int ret = c ? instance_snapshot_reserve(i) : -ENOMEM;

	(void)events;
	if (ret) {
		free(c);
		return ret;
	}
	machine_get_info(i->t->m, &info);
	c->tsc_khz = info.tsc_khz ? info.tsc_khz : 1;
	*data = c;
	return 0;
}

static void critical_exit(void *data)
{
	free(data);
}

static void found_forget(struct critical_tracer *c)
{
	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++)
		c->found[v].is = false;
}

static void critical_start(struct instance *i)
{
	for (unsigned int v = 0; v < i->t->vcpus; v++)
		critical_lost(&i->t->critical[v]);
	found_forget(i->tracer_data);
}

static uint64_t ticks_to_ns(uint64_t ticks, uint64_t khz)
{
	return ticks / khz * 1000000 + ticks % khz * 1000000 / khz;
}

/* By the clock, which differs from what the guest's TSC is thought to be by some millionths. */
static void read_times(struct instance *i, const struct critical_tracer *c, struct found *f)
{
	struct clock_reading now;

	clock_begin(i->clock, i->t, f->w.vcpu, f->w.on.tsc, &now);
	f->from = clock_read(i->clock, i->t, &now, f->w.off.tsc);
	f->to = clock_read(i->clock, i->t, &now, f->w.on.tsc);
	if (i->clock->ns && f->to >= f->from)
		f->ns = f->to - f->from;
	else
		f->ns = ticks_to_ns(critical_ticks(&f->w), c->tsc_khz);
}

/* With a threshold each is kept, so the last one stays; without, the longest does. */
static void critical_found(struct instance *i, const struct critical_window *w)
{
	struct critical_tracer *c = i->tracer_data;
	struct found *f = &c->found[w->vcpu], now = {.is = true, .w = *w};

	read_times(i, c, &now);
	latencies_window(i, w, now.ns);
	if (!instance_is_max(i, now.ns) || (f->is && !i->t->thresh && now.ns <= f->ns))
		return;
	*f = now;
	if (w->stack)
		f->stack = *w->stack;
	f->w.stack = NULL;
}

static struct trace_function_entry function_entry(const struct payload_record *r, uint64_t ip,
						  uint64_t parent)
{
	struct trace_function_entry e = {.ip = ip, .parent_ip = parent};

	record_entry(r, TRACE_FN, &e.ent);
	return e;
}

/* Room for a struct trace_stack_entry and its addresses. */
struct stack_bytes {
	uint64_t words[3 + EVENT_STACK_DEPTH];
};

/* Whoever called the function that ended the window, and so on. */
static size_t stack_entry(const struct found *f, struct stack_bytes *to)
{
	struct trace_stack_entry *e = (void *)to->words;
	unsigned int n = f->stack.n > 1 ? f->stack.n - 1 : 0;

	record_entry(&f->w.on, TRACE_STACK, &e->ent);
	e->size = (int32_t)n;
	e->pad = 0;
	memcpy(e->caller, f->stack.ip + 1, n * sizeof(e->caller[0]));
	return sizeof(*e) + n * sizeof(e->caller[0]);
}

static void describe_task(struct instance *i, const struct found *f, struct output_latency *l)
{
	l->pid = record_pid(&f->w.on);
	if (l->pid)
		comms_find(i->t->comms, l->pid, l->comm);
	else
		snprintf(l->comm, sizeof(l->comm), "swapper/%u", f->w.vcpu);
}

static bool is_of_vcpu(const void *arg, unsigned int vcpu, uint64_t ts)
{
	const struct found *f = arg;

	(void)ts;
	return vcpu == f->w.vcpu;
}

static void keep(struct instance *i, const struct found *f)
{
	uint64_t off = flag_sites_shown(i->t, &f->w.off), on = flag_sites_shown(i->t, &f->w.on);
	uint64_t tracer = record_type(&f->w.on) == PAYLOAD_IRQS_ON ? CRITICAL_TRACER_IRQS
								   : CRITICAL_TRACER_PREEMPT;
	const struct trace_function_entry begins =
		function_entry(&f->w.off, off, flag_sites_parent(i->t, &f->w.off));
	const struct trace_function_entry ends =
		function_entry(&f->w.on, on, flag_sites_parent(i->t, &f->w.on));
	const struct trace_function_entry told = function_entry(&f->w.on, tracer, on);
	struct stack_bytes stack;
	const struct max_entry first[] = {
		{f->w.vcpu, f->from, &begins, sizeof(begins)},
	};
	const struct max_entry last[] = {
		{f->w.vcpu, f->to, &ends, sizeof(ends)},
		{f->w.vcpu, f->to, &told, sizeof(told)},
		{f->w.vcpu, f->to, &stack, stack_entry(f, &stack)},
	};
	const struct max_window window = {
		.first = first,
		.last = last,
		.nr_first = NR(first),
		.nr_last = f->stack.n ? NR(last) : NR(last) - 1,
		.takes = is_of_vcpu,
		.arg = f,
	};
	struct output_latency l = {
		.ns = f->ns,
		.cpu = f->w.vcpu,
		.started = off,
		.ended = on,
	};

	describe_task(i, f, &l);
	instance_keep_max(i, &window, &l);
}

/* The one that is to be shown: the latest, or the longest. */
static const struct found *choose(struct instance *i, const struct critical_tracer *c)
{
	const struct found *best = NULL;

	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		const struct found *f = &c->found[v];

		if (!f->is || !instance_is_max(i, f->ns))
			continue;
		if (!best || (i->t->thresh ? f->to > best->to : f->ns > best->ns))
			best = f;
	}
	return best;
}

static void critical_pass(struct instance *i, uint64_t behind)
{
	struct critical_tracer *c = i->tracer_data;
	const struct found *f = choose(i, c);

	(void)behind;
	if (f) {
		keep(i, f);
		trampoline_set_critical_min(i->t, instance_max_ticks(i));
	}
	found_forget(c);
}

#define WINDOW_GRAPH                                                                               \
	(OUTPUT_GRAPH_CPU | OUTPUT_GRAPH_PROC | OUTPUT_GRAPH_RELTIME | OUTPUT_GRAPH_DURATION)

const struct tracer_ops irqsoff_tracer_ops = {
	.name = "irqsoff",
	.desc = "the longest time that interrupts are off",
	.critical = CRITICAL_IRQS,
	.max = true,
	.graph = WINDOW_GRAPH,
	.init = critical_init,
	.exit = critical_exit,
	.start = critical_start,
	.window = critical_found,
	.wants_stack = latencies_want_stack,
	.lost = latencies_lost,
	.pass = critical_pass,
};

const struct tracer_ops preemptoff_tracer_ops = {
	.name = "preemptoff",
	.desc = "the longest time that no other task can run",
	.critical = CRITICAL_PREEMPT,
	.max = true,
	.graph = WINDOW_GRAPH,
	.init = critical_init,
	.exit = critical_exit,
	.start = critical_start,
	.window = critical_found,
	.wants_stack = latencies_want_stack,
	.lost = latencies_lost,
	.pass = critical_pass,
};

const struct tracer_ops preemptirqsoff_tracer_ops = {
	.name = "preemptirqsoff",
	.desc = "the longest time with either of them off",
	.critical = CRITICAL_IRQS | CRITICAL_PREEMPT,
	.max = true,
	.graph = WINDOW_GRAPH,
	.init = critical_init,
	.exit = critical_exit,
	.start = critical_start,
	.window = critical_found,
	.wants_stack = latencies_want_stack,
	.lost = latencies_lost,
	.pass = critical_pass,
};
