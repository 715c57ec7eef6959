// SPDX-License-Identifier: GPL-2.0-or-later
/* pairing.c - see pairing.h */
#include "tracer/graph/pairing.h"
#include "tracer/guest/preempt.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS		1024
#define THREAD_SIZE	16384 /* while nothing is known */
#define NMI_SHIFT	20    /* of NMI_MASK */
#define LEVEL_TASK	0
#define LEVEL_INTERRUPT 1

/* The open calls of a task. */
struct lane {
	int32_t task; /* its pid; each vCPU's idle task, which all have pid 0, is -1 - vCPU */
	uint32_t overrun;
	uint64_t epoch;
	uint64_t left;	   /* TSC of when it stopped running; 0: it runs, or nobody saw it stop */
	unsigned int vcpu; /* of its latest record */
	struct lane *next; /* in the bucket */
	struct lane *newer, *older; /* by when they were used last */
	unsigned int nr;
	struct pairing_call call[PAIRING_DEPTH];
};

struct pairing {
	const struct pairing_ops *ops;
	void *arg;
	struct pairing_stacks stacks;
	uint64_t epoch; /* goes up at each loss */
	uint64_t gaps;	/* vCPUs of which records are missing now */
	struct pairing_counts counts;
	struct lane *bucket[BUCKETS];
	struct lane *newest, *oldest;
	struct lane *recent[MACHINE_MAX_VCPUS]; /* of each vCPU's latest record */
};

struct pairing *pairing_new(const struct pairing_ops *ops, void *arg)
{
	struct pairing *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ops = ops;
	p->arg = arg;
	p->stacks.thread_size = THREAD_SIZE;
	return p;
}

void pairing_free(struct pairing *p)
{
	struct lane *l = p ? p->newest : NULL;

	while (l) {
		struct lane *older = l->older;

		free(l);
		l = older;
	}
	free(p);
}

/* Whose stack it is on is known now. */
static void place_again(const struct pairing_stacks *s, struct pairing_call *call)
{
	if (call->level > LEVEL_INTERRUPT)
		return;
	call->level = LEVEL_TASK;
	call->stack = call->sp & ~(s->thread_size - 1);
	for (unsigned int v = 0; v < s->nr_irq; v++) {
		if (call->sp - s->irq_start[v] >= s->irq_size)
			continue;
		call->level = LEVEL_INTERRUPT;
		call->stack = v;
	}
}

void pairing_set_stacks(struct pairing *p, const struct pairing_stacks *stacks)
{
	p->stacks = *stacks;
	for (struct lane *l = p->newest; l; l = l->older)
		for (unsigned int i = 0; i < l->nr; i++)
			place_again(stacks, &l->call[i]);
}

void pairing_lost(struct pairing *p)
{
	p->epoch++;
}

void pairing_gap(struct pairing *p, unsigned int vcpu, bool begins)
{
	uint64_t bit = UINT64_C(1) << vcpu;

	p->gaps = begins ? p->gaps | bit : p->gaps & ~bit;
	pairing_lost(p);
}

void pairing_get_counts(const struct pairing *p, struct pairing_counts *counts)
{
	*counts = p->counts;
	for (const struct lane *l = p->newest; l; l = l->older)
		counts->open += l->nr;
}

/* --- tasks ----------------------------------------------------------------------------------- */

static struct lane **bucket_of(struct pairing *p, int32_t task)
{
	return &p->bucket[((uint32_t)task * 0x9e3779b1u) >> 22];
}

static void lane_unlink(struct pairing *p, struct lane *l)
{
	*(l->newer ? &l->newer->older : &p->newest) = l->older;
	*(l->older ? &l->older->newer : &p->oldest) = l->newer;
}

static void lane_link(struct pairing *p, struct lane *l)
{
	l->newer = NULL;
	l->older = p->newest;
	*(l->older ? &l->older->newer : &p->oldest) = l;
	p->newest = l;
}

/* The memory of the task that has been quiet for longest. */
static struct lane *lane_reuse(struct pairing *p)
{
	struct lane *l = p->oldest, **at = bucket_of(p, l->task);

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	lane_unlink(p, l);
	p->counts.dropped += l->nr;
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
		if (p->recent[i] == l)
			p->recent[i] = NULL;
	return l;
}

static struct lane *lane_new(struct pairing *p, int32_t task)
{
	struct lane *l;

	if (p->counts.tasks == PAIRING_TASKS) {
		l = lane_reuse(p);
	} else {
		l = malloc(sizeof(*l));
		if (!l)
			return NULL;
		p->counts.tasks++;
	}
	l->task = task;
	l->overrun = 0;
	l->epoch = p->epoch;
	l->left = 0;
	l->nr = 0;
	l->next = *bucket_of(p, task);
	*bucket_of(p, task) = l;
	lane_link(p, l);
	return l;
}

static struct lane *lane_find(struct pairing *p, int32_t task)
{
	struct lane *l = *bucket_of(p, task);

	while (l && l->task != task)
		l = l->next;
	return l;
}

/*
 * A record of another task than the one before tells of the switch between them. Where each switch
 * makes a record before the task that it leaves can run elsewhere, none goes unnoticed.
 */
static void lane_switch(struct pairing *p, unsigned int vcpu, const struct payload_record *r,
			struct lane *from, struct lane *to)
{
	if (from && from->vcpu == vcpu)
		from->left = r->tsc;
	if (to->left && to->nr && p->ops->slept)
		p->ops->slept(p->arg, vcpu, r, to->left, to->call, to->nr);
	to->left = 0;
}

static struct lane *lane_get(struct pairing *p, unsigned int vcpu, const struct payload_record *r)
{
	int32_t task = (int32_t)(r->task & RECORD_PID_MASK);
	struct lane *l = p->recent[vcpu], *before = l;

	if (!task)
		task = -1 - (int32_t)vcpu;
	if (!l || l->task != task) {
		l = lane_find(p, task);
		if (!l)
			l = lane_new(p, task);
		p->recent[vcpu] = l;
		if (!l)
			return NULL;
		lane_unlink(p, l);
		lane_link(p, l);
	}
	if (l->epoch != p->epoch) {
		p->counts.dropped += l->nr;
		l->nr = 0;
		l->epoch = p->epoch;
	}
	if (l != before)
		lane_switch(p, vcpu, r, before, l);
	l->vcpu = vcpu;
	return l;
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* Which stack a record of this vCPU was made on, and at what level. */
static void place(const struct pairing *p, unsigned int vcpu, const struct payload_record *r,
		  struct pairing_call *call)
{
	uint32_t nmi = (r->state & NMI_MASK) >> NMI_SHIFT;

	call->sp = r->sp;
	if (nmi) {
		/* These have stacks of their own for each kind of exception: the count tells. */
		call->level = (uint8_t)(LEVEL_INTERRUPT + nmi);
		call->stack = 0;
		return;
	}
	if (vcpu < p->stacks.nr_irq && r->sp - p->stacks.irq_start[vcpu] < p->stacks.irq_size) {
		call->level = LEVEL_INTERRUPT;
		call->stack = vcpu;
		return;
	}
	call->level = LEVEL_TASK;
	call->stack = r->sp & ~(p->stacks.thread_size - 1);
}

static bool same_stack(const struct pairing_call *a, const struct pairing_call *b)
{
	return a->level == b->level && a->stack == b->stack;
}

/* --- pairing --------------------------------------------------------------------------------- */

static struct pairing_call *outer_of(struct lane *l, unsigned int i)
{
	return i ? &l->call[i - 1] : NULL;
}

static void drop_last(struct pairing *p, struct lane *l)
{
	l->nr--;
	p->counts.dropped++;
}

static void end_last(struct pairing *p, struct lane *l, unsigned int vcpu,
		     const struct payload_record *r)
{
	const struct pairing_call *call = &l->call[--l->nr];

	p->counts.ended++;
	p->ops->exit(p->arg, vcpu, r, call, outer_of(l, l->nr), l->overrun);
}

/* There is something else at its place by now: it is over, since at least r's time. */
static bool is_over(const struct pairing_call *call, const struct pairing_call *new)
{
	if (call->sp != new->sp)
		return call->sp < new->sp;
	/* A function that it jumps to at its end returns to the same place. */
	return call->parent != new->parent || call->ip == new->ip;
}

/*
 * Where a task runs with interrupts on there is its own stack only. (While it is switched to,
 * functions run on it in the name of the one before.) So another one's calls are of an earlier task
 * with this pid.
 */
static bool is_of_another(const struct pairing *p, const struct pairing_call *call,
			  const struct pairing_call *new, const struct payload_record *r)
{
	return p->stacks.irq_size && call->level == LEVEL_TASK && new->level == LEVEL_TASK &&
	       !(r->state & STATE_IRQS_OFF);
}

/* Calls whose exits are missing: that they are over can be seen by this new one. */
static void clean_up(struct pairing *p, struct lane *l, unsigned int vcpu,
		     const struct payload_record *r, const struct pairing_call *new)
{
	while (l->nr) {
		const struct pairing_call *last = &l->call[l->nr - 1];

		if (same_stack(last, new)) {
			if (!is_over(last, new))
				return;
			p->counts.late++;
			end_last(p, l, vcpu, r);
		} else if (last->level > new->level || is_of_another(p, last, new, r) ||
			   (last->level == LEVEL_INTERRUPT && new->level == LEVEL_INTERRUPT)) {
			drop_last(p, l);
		} else {
			return;
		}
	}
}

static void take_entry(struct pairing *p, struct lane *l, unsigned int vcpu,
		       const struct payload_record *r)
{
	struct pairing_call new = {.tsc = r->tsc, .ip = r->ip, .parent = r->parent};
	struct pairing_call *call;

	place(p, vcpu, r, &new);
	clean_up(p, l, vcpu, r, &new);
	if (l->nr == PAIRING_DEPTH) {
		l->overrun++;
		return;
	}
	call = &l->call[l->nr];
	new.depth = (uint16_t)l->nr;
	*call = new;
	if (p->ops->entry(p->arg, vcpu, r, call, outer_of(l, l->nr)) == PAIRING_KEEP) {
		l->nr++;
		p->counts.calls++;
	}
}

/* The outermost call that this exit ends; l->nr: none. */
static unsigned int find_ended(const struct lane *l, const struct pairing_call *at)
{
	unsigned int first = l->nr;

	for (unsigned int i = l->nr; i--;) {
		const struct pairing_call *call = &l->call[i];

		if (same_stack(call, at)) {
			if (call->sp > at->sp)
				break;
			first = i;
		} else if (call->level < at->level) {
			break;
		}
	}
	return first;
}

static void take_exit(struct pairing *p, struct lane *l, unsigned int vcpu,
		      const struct payload_record *r)
{
	struct pairing_call at = {0};
	unsigned int first;

	place(p, vcpu, r, &at);
	first = find_ended(l, &at);
	if (first == l->nr) {
		p->counts.unmatched++;
		return;
	}
	p->counts.pairs++;
	while (l->nr > first) {
		const struct pairing_call *call = &l->call[l->nr - 1];

		if (!same_stack(call, &at)) {
			drop_last(p, l);
			continue;
		}
		p->counts.late += call->sp != at.sp;
		end_last(p, l, vcpu, r);
	}
}

void pairing_record(struct pairing *p, unsigned int vcpu, const struct payload_record *r)
{
	unsigned int type = r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;
	struct lane *l;

	if ((type != PAYLOAD_FUNCTION && type != PAYLOAD_EXIT) || p->gaps)
		return;
	l = lane_get(p, vcpu, r);
	if (!l)
		return;
	if (type == PAYLOAD_FUNCTION)
		take_entry(p, l, vcpu, r);
	else
		take_exit(p, l, vcpu, r);
}
