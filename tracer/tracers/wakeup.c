// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakeup.c - the tracers wakeup, wakeup_rt and wakeup_dl: how long it takes at most until the
 * most urgent task that was woken up runs.
 */
#include "tracer/core/symbol.h"
#include "tracer/instance/files.h"
#include "tracer/instance/max.h"
#include "tracer/instance/view.h"
#include "tracer/payload/record.h"
#include "tracer/stat/latencies.h"
#include "tracer/tracers/sched-queue.h"
#include "tracer/tracers/tracers.h"
#include "tracer/tracers/wakeup-wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STACKS (1 << SCHED_RECORD_SWITCH | 1 << SCHED_RECORD_WAKEUP | 1 << SCHED_RECORD_WAKEUP_NEW)

/* What is to be kept when a pass of the collector's ends. */
struct found {
	bool is;
	struct wakeup wakeup; /* as it was then */
	struct sched_record runs;
	uint64_t ns;
};

struct wakeup_tracer {
	struct sched_records records;
	struct sched_queue queue;
	struct wakeup wakeup;
	struct found found;
	uint64_t schedule; /* address of __schedule(); 0: not known */
	bool lost;	   /* some record was too many */
};

static int wakeup_init(struct instance *i, void **data, const uint32_t *events,
		       enum wakeup_kind kind)
{
	struct wakeup_tracer *w = calloc(1, sizeof(*w));
	int ret = w ? sched_records_init(&w->records, events_list(i->t->trace_events), events,
					 NR_SCHED_RECORDS)
		    : -ENOMEM;

	if (!ret)
		ret = instance_snapshot_reserve(i);
	if (ret) {
		free(w);
		return ret;
	}
	w->wakeup.kind = kind;
	w->schedule = guestsym_addr(i->t->gs, "__schedule");
	if (w->schedule)
		w->schedule += i->t->guest.slide;
	*data = w;
	return 0;
}

static int wakeup_any_init(struct instance *i, void **data, const uint32_t *events)
{
	return wakeup_init(i, data, events, WAKEUP_ANY);
}

static int wakeup_rt_init(struct instance *i, void **data, const uint32_t *events)
{
	return wakeup_init(i, data, events, WAKEUP_REALTIME);
}

static int wakeup_dl_init(struct instance *i, void **data, const uint32_t *events)
{
	return wakeup_init(i, data, events, WAKEUP_DEADLINE);
}

static void wakeup_exit(void *data)
{
	struct wakeup_tracer *w = data;

	sched_queue_exit(&w->queue);
	free(w);
}

static void wakeup_start(struct instance *i)
{
	struct wakeup_tracer *w = i->tracer_data;

	sched_records_forget(&w->records);
	sched_queue_clear(&w->queue);
	wakeup_forget(&w->wakeup);
}

static void take_stack(const struct event_view *v, struct sched_record *r)
{
	uint64_t ips[SCHED_STACK_MAX];

	r->nr_stack = event_view_unwind(v, ips, SCHED_STACK_MAX);
	for (unsigned int n = 0; n < r->nr_stack; n++)
		r->stack[n] = (uint32_t)ips[n];
}

static void wakeup_event(struct instance *i, unsigned int which, const struct event_view *v)
{
	struct wakeup_tracer *w = i->tracer_data;
	struct sched_record r;

	if (!sched_records_read(&w->records, which, &v->data, &r))
		return;
	sched_record_note_comm(&r, i->t->comms);
	if (wakeup_may_count(&w->wakeup, &r))
		take_stack(v, &r);
	if (sched_queue_add(&w->queue, &r))
		w->lost = true;
}

/* What the task's priority says of it; more is known once it has been looked at. */
static void describe_task(const struct sched_record *r, struct output_latency *l)
{
	l->pid = r->next_pid;
	memcpy(l->comm, r->next_comm, sizeof(l->comm));
	if (r->next_prio < 0)
		l->policy = 6; /* SCHED_DEADLINE */
	else if (r->next_prio < 100)
		l->policy = 1; /* SCHED_FIFO */
	else
		l->nice = r->next_prio - 120;
	if (l->policy == 1)
		l->rt_priority = (uint32_t)(99 - r->next_prio);
}

/*
 * Who has called the tracer, as the kernel prints it: of a wakeup it says 0, for want of frame
 * pointers.
 */
static struct trace_function_entry caller(const struct sched_record *r, uint64_t ip)
{
	struct trace_function_entry e = {.ent = r->ent, .ip = ip};

	e.ent.type = TRACE_FN;
	return e;
}

static uint64_t stack_ip(const struct sched_record *r, unsigned int n)
{
	return KERNEL_HALF | r->stack[n];
}

/* Room for a struct trace_stack_entry and its addresses. */
struct stack_entry {
	uint64_t words[3 + 2 + SCHED_STACK_MAX];
};

/* The stack as the kernel's own tracer has it, with its two functions. */
static struct max_entry stack_entry(const struct sched_record *r, uint64_t tracer,
				    struct stack_entry *s)
{
	struct trace_stack_entry *e = (void *)s->words;

	e->ent = r->ent;
	e->ent.type = TRACE_STACK;
	e->size = (int32_t)r->nr_stack + 2;
	e->pad = 0;
	e->caller[0] = WAKEUP_TRACE_STACK;
	e->caller[1] = tracer;
	for (unsigned int n = 0; n < r->nr_stack; n++)
		e->caller[2 + n] = stack_ip(r, n);
	return (struct max_entry){r->vcpu, r->ts, e,
				  sizeof(*e) + (2 + r->nr_stack) * sizeof(e->caller[0])};
}

static bool waited_on(const void *arg, unsigned int vcpu, uint64_t ts)
{
	return wakeup_waited_on(arg, vcpu, ts);
}

/* By the tasks that woke up and was woken; the stack is that of the former. */
static void count(struct instance *i, const struct sched_record *woken, int32_t pid, uint64_t ns)
{
	uint64_t stack[SCHED_STACK_MAX];

	for (unsigned int n = 0; n < woken->nr_stack; n++)
		stack[n] = KERNEL_HALF | woken->stack[n];
	latencies_add(i, (uint32_t)woken->prev_pid, (uint32_t)pid, ns, stack, woken->nr_stack);
}

static void keep(struct instance *i, const struct wakeup_tracer *w)
{
	const struct sched_record *woken = &w->found.wakeup.woken, *runs = &w->found.runs;
	struct output_latency l = {.ns = w->found.ns, .cpu = woken->next_cpu};
	const struct trace_function_entry nobody = caller(woken, 0);
	const struct trace_function_entry schedule =
		caller(runs, runs->nr_stack ? stack_ip(runs, 0) : w->schedule);
	struct trace_switch_entry wake, ctx;
	struct stack_entry woken_stack, runs_stack;
	struct max_entry first[3] = {{woken->vcpu, woken->ts, &wake, sizeof(wake)}};
	struct max_entry last[3] = {
		{runs->vcpu, runs->ts, &schedule, sizeof(schedule)},
		{runs->vcpu, runs->ts, &ctx, sizeof(ctx)},
	};
	struct max_window window = {
		.first = first,
		.last = last,
		.nr_first = 1,
		.nr_last = 2,
		.takes_call = waited_on,
		.arg = &w->found.wakeup,
	};

	sched_record_entry(woken, &wake);
	sched_record_entry(runs, &ctx);
	if (woken->nr_stack)
		first[window.nr_first++] = stack_entry(woken, WAKEUP_PROBE, &woken_stack);
	first[window.nr_first++] =
		(struct max_entry){woken->vcpu, woken->ts, &nobody, sizeof(nobody)};
	if (runs->nr_stack)
		last[window.nr_last++] = stack_entry(runs, WAKEUP_PROBE_SWITCH, &runs_stack);
	describe_task(runs, &l);
	instance_keep_max(i, &window, &l);
}

/*
 * With a threshold each is kept, so the last one stays; without, the longest does. Keeping it takes
 * looking at all that was recorded: how many there are in a pass is up to the guest.
 */
static void wakeup_found(struct instance *i, struct wakeup_tracer *w,
			 const struct sched_record *runs)
{
	const struct sched_record *woken = &w->wakeup.woken;
	struct found *f = &w->found;
	uint64_t ns = runs->ts - woken->ts;

	count(i, woken, runs->next_pid, ns);
	if (!instance_is_max(i, ns) || (f->is && !i->t->thresh && ns <= f->ns))
		return;
	*f = (struct found){.is = true, .wakeup = w->wakeup, .runs = *runs, .ns = ns};
}

static void wakeup_pass(struct instance *i, uint64_t behind)
{
	struct wakeup_tracer *w = i->tracer_data;
	struct sched_record r;

	sched_queue_pass(&w->queue, behind);
	while (sched_queue_next(&w->queue, &r))
		if (wakeup_step(&w->wakeup, &r))
			wakeup_found(i, w, &r);
	if (w->found.is)
		keep(i, w);
	w->found.is = false;
	if (w->lost)
		wakeup_forget(&w->wakeup);
	w->lost = false;
}

#define WAKEUP_GRAPH                                                                               \
	(OUTPUT_GRAPH_CPU | OUTPUT_GRAPH_PROC | OUTPUT_GRAPH_RELTIME | OUTPUT_GRAPH_DURATION |     \
	 OUTPUT_GRAPH_OVERHEAD | OUTPUT_GRAPH_IRQS)

const struct tracer_ops wakeup_tracer_ops = {
	.name = "wakeup",
	.desc = "the longest time from a wakeup until the most urgent task runs",
	.events = sched_record_migrate_events,
	.stacks = STACKS,
	.max = true,
	.graph = WAKEUP_GRAPH,
	.init = wakeup_any_init,
	.exit = wakeup_exit,
	.start = wakeup_start,
	.event = wakeup_event,
	.pass = wakeup_pass,
};

const struct tracer_ops wakeup_rt_tracer_ops = {
	.name = "wakeup_rt",
	.desc = "the same of real-time and deadline tasks",
	.events = sched_record_migrate_events,
	.stacks = STACKS,
	.max = true,
	.graph = WAKEUP_GRAPH,
	.init = wakeup_rt_init,
	.exit = wakeup_exit,
	.start = wakeup_start,
	.event = wakeup_event,
	.pass = wakeup_pass,
};

const struct tracer_ops wakeup_dl_tracer_ops = {
	.name = "wakeup_dl",
	.desc = "the same of deadline tasks",
	.events = sched_record_migrate_events,
	.stacks = STACKS,
	.max = true,
	.graph = WAKEUP_GRAPH,
	.init = wakeup_dl_init,
	.exit = wakeup_exit,
	.start = wakeup_start,
	.event = wakeup_event,
	.pass = wakeup_pass,
};
