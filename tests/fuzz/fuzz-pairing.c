// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-pairing.c - calls and returns of guests, collected vCPU by vCPU: of one whose records are
 * what it does, and of one that records anything.
 *
 * Whatever is recorded, a call and the return that is told for it are of one task and one stack,
 * with nothing in between that shows the call to be over, and nothing missing. If the guest is
 * honest they are what it has done; each of them, if nothing is lost.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/graph/merge.h"
#include "tracer/graph/pairing.h"
#include "tracer/collect/collect.h"

enum {
	VCPUS = 2,
	TASKS = 3, /* more than vCPUs: one is switched out, and they move often */
	FRAMES = 60,
	RECORDS = 4096,
	STACK = 16384,
	STACKS_AT = 0x10000000,
	IRQS_AT = 0x20001000,
	NMIS_AT = 0x30000000,
	FIRST_PID = 100,
	HARDIRQ = 1 << 16,
	NMI = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record, and what becomes of it. Record n is made at time n + 1. */
struct event {
	struct payload_record r;
	uint8_t vcpu;
	bool lost;
	bool open, told; /* an entry that was kept; its end */
	uint32_t left;	 /* an honest entry: when it is really left */
	bool taken;	 /* handed over to be paired, and when */
	uint32_t turn;
};

struct frame {
	uint32_t sp, parent, entered;
};

struct context {
	struct frame frame[FRAMES];
	unsigned int nr;
	uint32_t top, state;
};

struct guest {
	const uint8_t *data;
	size_t size;
	bool honest, lossy;
	struct event event[RECORDS];
	uint32_t nr;
	struct context task[TASKS], irq[VCPUS], nmi[VCPUS];
	unsigned int runs[VCPUS];
	uint32_t collected[VCPUS];
	unsigned int next; /* vCPU to be collected */
	struct graph_merge merge;
	struct pairing *pairing;
	uint32_t turn, gap_turn;
	uint64_t kept, ended;
	unsigned int gaps;
};

static uint32_t next_bytes(struct guest *g, size_t len)
{
	uint32_t value = 0;

	if (len > g->size)
		len = g->size;
	memcpy(&value, g->data, len);
	g->data += len;
	g->size -= len;
	return value;
}

static void check(bool right)
{
	if (!right)
		abort();
}

/* --- what it does ---------------------------------------------------------------------------- */

static struct context *context_of(struct guest *g, unsigned int vcpu)
{
	if (g->nmi[vcpu].nr)
		return &g->nmi[vcpu];
	return g->irq[vcpu].nr ? &g->irq[vcpu] : &g->task[g->runs[vcpu]];
}

static struct event *record(struct guest *g, unsigned int vcpu, unsigned int type, uint32_t sp,
			    uint32_t state)
{
	struct event *e = &g->event[g->nr++];

	e->vcpu = (uint8_t)vcpu;
	e->r = (struct payload_record){
		.tsc = g->nr,
		.ip = 0x1000 + 16 * g->nr,
		.sp = sp,
		.task = FIRST_PID + g->runs[vcpu],
		.state = state | type << STATE_TYPE_SHIFT,
	};
	return e;
}

static void call(struct guest *g, unsigned int vcpu, struct context *c, bool tail)
{
	struct frame *f = &c->frame[c->nr];
	unsigned int open = g->task[g->runs[vcpu]].nr + g->irq[vcpu].nr + g->nmi[vcpu].nr;
	struct event *e;

	/* Deeper ones are not looked at: test-pairing has them. */
	if (open == PAIRING_DEPTH)
		return;
	if (tail && c->nr) {
		*f = f[-1];
	} else {
		f->sp = (c->nr ? f[-1].sp : c->top) - 16;
		f->parent = 0x100000 + g->nr;
	}
	e = record(g, vcpu, PAYLOAD_FUNCTION, f->sp, c->state);
	e->r.parent = f->parent;
	f->entered = g->nr;
	c->nr++;
}

static void leave(struct guest *g, unsigned int vcpu, struct context *c)
{
	uint32_t sp;

	if (!c->nr)
		return;
	sp = c->frame[c->nr - 1].sp;
	record(g, vcpu, PAYLOAD_EXIT, sp, c->state);
	while (c->nr && c->frame[c->nr - 1].sp == sp)
		g->event[c->frame[--c->nr].entered - 1].left = g->nr;
}

/* An interrupt, or an NMI: upon whatever there is, but for another one of its kind. */
static void interrupt(struct guest *g, unsigned int vcpu, bool nmi)
{
	if (!g->nmi[vcpu].nr && (nmi || !g->irq[vcpu].nr))
		call(g, vcpu, nmi ? &g->nmi[vcpu] : &g->irq[vcpu], false);
}

static bool is_interrupted(const struct guest *g, unsigned int vcpu)
{
	return g->irq[vcpu].nr || g->nmi[vcpu].nr;
}

/* Where it runs elsewhere, the two vCPUs' tasks change places: that would take more switches. */
static void task_switch(struct guest *g, unsigned int vcpu, unsigned int task)
{
	unsigned int before = g->runs[vcpu];

	if (is_interrupted(g, vcpu))
		return;
	for (unsigned int v = 0; v < VCPUS; v++) {
		if (g->runs[v] != task)
			continue;
		if (is_interrupted(g, v))
			return;
		g->runs[v] = before;
	}
	g->runs[vcpu] = task;
}

static void hostile(struct guest *g)
{
	struct event *e = &g->event[g->nr++];

	e->vcpu = (uint8_t)(next_bytes(g, 1) % VCPUS);
	e->r = (struct payload_record){
		.tsc = g->nr,
		.ip = next_bytes(g, 1),
		.parent = next_bytes(g, 1) & 3,
		.task = next_bytes(g, 1) & 7,
		.state = next_bytes(g, 4),
	};
	e->r.sp = next_bytes(g, 1) & 0x8 ? next_bytes(g, 4) : STACKS_AT + 8 * next_bytes(g, 1);
	if (next_bytes(g, 1) & 7)
		e->r.state = (e->r.state & ~((uint32_t)STATE_TYPE_MASK << STATE_TYPE_SHIFT)) |
			     (e->r.state & 1 ? PAYLOAD_FUNCTION : PAYLOAD_EXIT) << STATE_TYPE_SHIFT;
}

/* --- what is told of it ---------------------------------------------------------------------- */

static struct event *event_of(struct guest *g, uint64_t tsc)
{
	check(tsc && tsc <= g->nr);
	return &g->event[tsc - 1];
}

static enum pairing_verdict told_entry(void *arg, unsigned int vcpu, const struct payload_record *r,
				       struct pairing_call *call, const struct pairing_call *outer)
{
	struct guest *g = arg;
	struct event *e = event_of(g, r->tsc);

	check(vcpu == e->vcpu && call->tsc == r->tsc && call->ip == r->ip && !e->open);
	check(outer ? outer->depth + 1 == call->depth : !call->depth);
	check(call->depth < PAIRING_DEPTH);
	/* One in eight is not to be followed. */
	if (!g->honest && (r->ip & 7) == 7)
		return PAIRING_IGNORE;
	e->open = true;
	g->kept++;
	return PAIRING_KEEP;
}

static int64_t key_of(const struct event *e)
{
	uint32_t pid = e->r.task & RECORD_PID_MASK;

	return pid ? pid : -1 - (int64_t)e->vcpu;
}

/* As far as the stacks are known; of NMIs the count tells. */
static uint64_t stack_of(const struct event *e)
{
	uint32_t nmi = (e->r.state & 0x00f00000) >> 20;

	if (nmi)
		return UINT64_C(1) << 40 | nmi;
	for (unsigned int v = 0; v < VCPUS; v++)
		if (e->r.sp - (IRQS_AT + v * STACK) < STACK)
			return UINT64_C(1) << 41 | v;
	return e->r.sp / STACK;
}

/* Does e, made between the call and its end, show that the call was over? */
static bool shows_the_end(const struct event *entry, const struct event *e)
{
	if (key_of(e) != key_of(entry) || stack_of(e) != stack_of(entry))
		return false;
	if (e->r.sp != entry->r.sp)
		return e->r.sp > entry->r.sp;
	return (e->r.state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK) == PAYLOAD_EXIT ||
	       e->r.parent != entry->r.parent;
}

static void told_exit(void *arg, unsigned int vcpu, const struct payload_record *r,
		      const struct pairing_call *call, struct pairing_call *outer, uint32_t overrun)
{
	struct guest *g = arg;
	struct event *entry = event_of(g, call->tsc), *end = event_of(g, r->tsc);

	(void)overrun;
	check(entry->open && !entry->told && vcpu == end->vcpu);
	check(outer ? outer->depth + 1 == call->depth : !call->depth);
	entry->told = true;
	g->ended++;
	check(key_of(entry) == key_of(end) && stack_of(entry) == stack_of(end));
	check(entry->turn < end->turn && entry->turn > g->gap_turn);
	check(end->r.sp >= entry->r.sp);
	for (uint32_t i = 0; i < g->nr; i++) {
		const struct event *e = &g->event[i];

		if (e->taken && e->turn > entry->turn && e->turn < end->turn)
			check(!shows_the_end(entry, e));
	}
	if (g->honest)
		check(entry->left == r->tsc);
}

static void take_one(struct guest *g, unsigned int vcpu, const struct payload_record *r)
{
	unsigned int type = r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;

	g->turn++;
	if (type == GRAPH_LOST || type == GRAPH_FOUND) {
		g->gap_turn = g->turn;
		g->gaps += type == GRAPH_LOST ? 1u : -1u;
		pairing_gap(g->pairing, vcpu, type == GRAPH_LOST);
		return;
	}
	event_of(g, r->tsc)->taken = true;
	event_of(g, r->tsc)->turn = g->turn;
	pairing_record(g->pairing, vcpu, r);
}

static void take(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		take_one(arg, vcpu, &r[i]);
}

/* --- how it is collected --------------------------------------------------------------------- */

/* One vCPU's; of the first `missing` nothing is left. */
static void collect(struct guest *g, unsigned int vcpu, unsigned int missing)
{
	for (uint32_t i = g->collected[vcpu]; i < g->nr; i++) {
		struct event *e = &g->event[i];

		if (e->vcpu != vcpu)
			continue;
		if (missing) {
			missing--;
			e->lost = g->lossy = true;
			check(graph_merge_lost(&g->merge, vcpu));
		} else {
			check(graph_merge_add(&g->merge, vcpu, &e->r, 1));
		}
	}
	g->collected[vcpu] = g->nr;
}

/* The vCPUs in turn, and then what is certain by now. */
static void collect_next(struct guest *g, unsigned int missing)
{
	collect(g, g->next++, missing);
	if (g->next < VCPUS)
		return;
	g->next = 0;
	graph_merge_run(&g->merge, false, SIZE_MAX, 0, take, g);
}

static void act(struct guest *g)
{
	uint32_t what = next_bytes(g, 1), more = what >> 4;
	unsigned int vcpu = more % VCPUS;

	switch (what & 15) {
	case 0:
		collect_next(g, 0);
		break;
	case 1:
		collect_next(g, more);
		break;
	case 2:
	case 3:
		task_switch(g, vcpu, more / VCPUS % TASKS);
		break;
	case 4:
		interrupt(g, vcpu, more & 8);
		break;
	case 5:
		call(g, vcpu, context_of(g, vcpu), true);
		break;
	case 6:
	case 7:
	case 8:
	case 9:
	case 10:
		if (g->honest)
			call(g, vcpu, context_of(g, vcpu), false);
		else
			hostile(g);
		break;
	default:
		leave(g, vcpu, context_of(g, vcpu));
	}
}

static void guest_start(struct guest *g)
{
	static const struct pairing_ops ops = {.entry = told_entry, .exit = told_exit};
	struct pairing_stacks stacks = {
		.thread_size = STACK,
		.irq_size = STACK,
		.nr_irq = VCPUS,
	};

	for (unsigned int i = 0; i < TASKS; i++)
		g->task[i].top = STACKS_AT + (i + 1) * STACK - 512;
	for (unsigned int v = 0; v < VCPUS; v++) {
		g->runs[v] = v;
		stacks.irq_start[v] = IRQS_AT + v * STACK;
		g->irq[v].top = IRQS_AT + (v + 1) * STACK - 64;
		g->irq[v].state = HARDIRQ | STATE_IRQS_OFF;
		g->nmi[v].top = NMIS_AT + (v + 1) * STACK;
		g->nmi[v].state = NMI | STATE_IRQS_OFF;
	}
	g->merge.vcpus = VCPUS;
	g->pairing = pairing_new(&ops, g);
	check(g->pairing);
	pairing_set_stacks(g->pairing, &stacks);
}

static void guest_end(struct guest *g)
{
	struct pairing_counts counts;

	for (unsigned int v = 0; v < VCPUS; v++)
		collect(g, v, 0);
	graph_merge_run(&g->merge, true, SIZE_MAX, 0, take, g);
	pairing_get_counts(g->pairing, &counts);
	check(!g->gaps && counts.tasks <= PAIRING_TASKS);
	check(counts.calls == g->kept && counts.ended == g->ended);
	check(g->kept == g->ended + counts.dropped + counts.open);
	if (!g->honest || g->lossy)
		return;
	check(!counts.late && !counts.dropped && !counts.unmatched);
	for (uint32_t i = 0; i < g->nr; i++)
		check(g->event[i].told == (g->event[i].left != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest *g = calloc(1, sizeof(*g));

	check(g);
	g->data = data;
	g->size = size;
	g->honest = next_bytes(g, 1) & 1;
	guest_start(g);
	while (g->size && g->nr < RECORDS)
		act(g);
	guest_end(g);
	pairing_free(g->pairing);
	graph_merge_exit(&g->merge);
	free(g);
	return 0;
}
