// SPDX-License-Identifier: GPL-2.0-or-later
/* stack-max.c - see stack-max.h */
#include "tracer/stat/stack-max.h"
#include "tracer/core/lock.h"
#include "tracer/guest/preempt.h"
#include "tracer/guest/tasks.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/stat/files.h"
#include "tracer/stat/stack-table.h"
#include "tracer/unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>

#define WORD sizeof(uint64_t)

struct stack_max {
	struct trace *t;
	atomic_int enabled; /* what was written */
	struct func_owner owner;
	struct func_filter *filter;
	uint8_t *takes;	      /* t->change: a bit for each probe: the filter selects it */
	size_t room;	      /* probes that have bits */
	pthread_mutex_t lock; /* what follows */
	bool known;	      /* how stacks lie */
	struct task_layout at;
	uint64_t max; /* stack_max_size */
	struct stack_table table;
};

/* --- which functions ------------------------------------------------------------------------- */

static int takes_note(struct stack_max *s, const struct func_selection *sel)
{
	const struct trace *t = s->t;
	size_t room = (t->probes.nr + 7) / 8 * 8;
	uint8_t *takes = calloc(room / 8 + 1, 1);

	if (!takes)
		return -ENOMEM;
	for (uint32_t f = 0; f < sel->funcs->nr; f++) {
		uint32_t probe = t->func_probe[f];

		if (probe < room && func_selection_traces(sel, f))
			takes[probe / 8] |= (uint8_t)(1 << (probe & 7));
	}
	free(s->takes);
	s->takes = takes;
	s->room = room;
	return 0;
}

/* Have the calls of the selected functions looked at, or of none. t->change is held. */
static void ask(struct stack_max *s)
{
	struct probe_set *set = &s->t->probes;

	for (size_t p = 0; p < set->nr; p++)
		probe_ask(&set->v[p], GUARD_DEPTH,
			  s->enabled && instance_bit(s->takes, s->room, (uint32_t)p));
}

static int filter_apply(void *arg, const struct func_selection *sel)
{
	struct stack_max *s = arg;
	struct trace *t = s->t;
	int ret;

	/* Commands act on an instance, which this is not. */
	if (!func_set_empty(sel->commands))
		return -ENODEV;
	trace_change_begin(t);
	ret = sel->funcs == t->funcs ? takes_note(s, sel) : -EAGAIN;
	if (!ret && s->enabled) {
		ask(s);
		ret = selection_patch(t);
	}
	trace_change_end(t);
	return pieces_finish(t, ret);
}

static int no_snapshot(void *arg)
{
	(void)arg;
	return -ENODEV;
}

struct func_filter *trace_stack_functions(struct trace *t)
{
	return t->stack_max->filter;
}

/* --- hits ------------------------------------------------------------------------------------ */

static uint32_t limit_of(uint64_t max)
{
	return max < UINT32_MAX ? (uint32_t)max : UINT32_MAX;
}

/* Where the stack of the vCPU's task ends, if sp is in it; else 0. */
static uint64_t stack_end(struct stack_max *s, unsigned int vcpu, uint64_t sp)
{
	struct guest_kernel *g = &s->t->guest;
	struct task task;

	if (task_read(g, &s->at, guest_current(g, vcpu), &task) ||
	    sp - task.stack >= s->at.stack_size)
		return 0;
	return task.stack + s->at.stack_size;
}

static void stack_note(struct stack_max *s, const struct machine_hit *hit, uint64_t end)
{
	struct trace *t = s->t;
	const struct unwind *u = trace_unwind(t);
	const struct machine_regs *regs = hit->regs;
	uint64_t sps[STACK_TABLE_MAX] = {regs->rsp};
	unsigned int n = unwind_entry(u, &t->guest, hit->va + SITE_SIZE, regs->rsp, regs->rbp,
				      s->table.ip, sps, STACK_TABLE_MAX);

	stack_table_fill(&s->table, sps, n, end);
}

void stack_max_hit(struct trace *t, const struct machine_hit *hit)
{
	struct stack_max *s = t->stack_max;
	/* Where the site's own call has its return address: that belongs to the function. */
	uint64_t sp = hit->regs->rsp - WORD, end;

	if (!s->enabled || guest_preempt_count(&t->guest, hit->vcpu) & NMI_MASK)
		return;
	pthread_mutex_lock(&s->lock);
	end = s->known ? stack_end(s, hit->vcpu, sp) : 0;
	if (end && end - sp > s->max) {
		s->max = end - sp;
		stack_note(s, hit, end);
		trampoline_set_depth(t, limit_of(s->max));
	}
	pthread_mutex_unlock(&s->lock);
}

/* --- its files ------------------------------------------------------------------------------- */

int trace_stack_tracer(struct trace *t)
{
	return t->stack_max->enabled;
}

static int layout_learn(struct stack_max *s)
{
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = s->known ? 0 : task_layout_learn(&s->at, s->t->gs, &s->t->guest);
	s->known = !ret;
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int trace_set_stack_tracer(struct trace *t, int value)
{
	struct stack_max *s = t->stack_max;
	int ret = 0, before;

	if (value && layout_learn(s))
		return -EOPNOTSUPP;
	if (value && t->m)
		trace_use_stacks(t);
	trace_change_begin(t);
	before = atomic_exchange(&s->enabled, value);
	if (!before != !value) {
		ask(s);
		ret = selection_patch(t);
	}
	trace_change_end(t);
	return pieces_finish(t, ret);
}

uint64_t trace_stack_max_size(struct trace *t)
{
	struct stack_max *s = t->stack_max;
	uint64_t max;

	pthread_mutex_lock(&s->lock);
	max = s->max;
	pthread_mutex_unlock(&s->lock);
	return max;
}

void trace_set_stack_max_size(struct trace *t, uint64_t size)
{
	struct stack_max *s = t->stack_max;

	change_lock(t); /* the window comes and goes with it */
	pthread_mutex_lock(&s->lock);
	s->max = size;
	trampoline_set_depth(t, limit_of(size));
	pthread_mutex_unlock(&s->lock);
	change_unlock(t);
}

void trace_print_stack(struct trace *t, struct text *out)
{
	struct stack_max *s = t->stack_max;
	struct output_config cfg;

	instance_output_config(t->instances, &cfg);
	pthread_mutex_lock(&s->lock);
	stack_table_print(&s->table, !s->enabled && !s->max, &cfg, out);
	pthread_mutex_unlock(&s->lock);
}

/* --- from beginning to end ------------------------------------------------------------------- */

struct stack_max *stack_max_new(struct trace *t)
{
	struct stack_max *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->t = t;
	s->owner = (struct func_owner){
		.apply = filter_apply,
		.snapshot_ready = no_snapshot,
		.arg = s,
	};
	s->filter = func_filter_new(&s->owner, t->funcs);
	if (!s->filter) {
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	t->more_functions = s->filter;
	return s;
}

void stack_max_free(struct stack_max *s)
{
	if (!s)
		return;
	func_filter_free(s->filter);
	pthread_mutex_destroy(&s->lock);
	free(s->takes);
	free(s);
}
