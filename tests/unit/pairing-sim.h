/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairing-sim.h - a made-up guest whose tasks call and return, are interrupted and switched: its
 * records, and what was really done. For tests that include cmocka.h before it.
 */
#ifndef HVTRACE_TESTS_UNIT_PAIRING_SIM_H
#define HVTRACE_TESTS_UNIT_PAIRING_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/graph/pairing.h"

enum {
	VCPUS = 3,
	TASKS = 8,
	FRAMES = 40,
	RECORDS = 60000,
	STACK = 16384,
	STACKS_AT = 0x10000000, /* low halves */
	IRQ_AT = 0x20001000,	/* not aligned to their size, as in the kernel */
	IRQS_OFF = STATE_IRQS_OFF,
	HARDIRQ = 1 << 16,
	NMI = 1 << 20,
};

/* What really was. The time of its entry tells a call: record n is made at time n + 1. */
struct truth {
	uint64_t left; /* when it returned; 0: it has not */
	uint16_t depth;
	bool entered, told_entry, told_exit;
};

struct frame {
	uint64_t entered;
	uint32_t sp, parent;
};

struct context {
	struct frame frame[FRAMES];
	unsigned int nr;
	uint32_t sp, top, state;
};

struct sim_task {
	struct context own;
	int vcpu; /* where it runs; -1: nowhere */
};

struct sim {
	unsigned int seed;
	struct payload_record *record;
	uint8_t *vcpu; /* of each record */
	size_t nr;
	struct truth *truth;
	struct sim_task task[TASKS];
	struct context irq[VCPUS];
	struct context nmi[VCPUS];
	unsigned int runs[VCPUS]; /* which task */
	unsigned int wrong;
};

static inline unsigned int roll(struct sim *s, unsigned int n)
{
	s->seed = s->seed * 1103515245 + 12345;
	return (s->seed >> 16) % n;
}

static inline struct context *top_context(struct sim *s, unsigned int vcpu)
{
	if (s->nmi[vcpu].nr)
		return &s->nmi[vcpu];
	return s->irq[vcpu].nr ? &s->irq[vcpu] : &s->task[s->runs[vcpu]].own;
}

static inline unsigned int open_calls(const struct sim *s, unsigned int vcpu)
{
	return s->task[s->runs[vcpu]].own.nr + s->irq[vcpu].nr + s->nmi[vcpu].nr;
}

static inline struct payload_record *record(struct sim *s, unsigned int vcpu, unsigned int type,
					    const struct context *c, uint32_t sp)
{
	struct payload_record *r = &s->record[s->nr];

	s->vcpu[s->nr++] = (uint8_t)vcpu;
	*r = (struct payload_record){
		.tsc = s->nr,
		.ip = 0x1000 + roll(s, 20) * 16,
		.sp = sp,
		.task = 100 + s->runs[vcpu],
		.state = c->state | type << STATE_TYPE_SHIFT,
	};
	return r;
}

static inline void sim_call(struct sim *s, unsigned int vcpu, struct context *c, bool tail)
{
	struct frame *f = &c->frame[c->nr];
	struct payload_record *r;

	if (tail && c->nr) {
		f->sp = f[-1].sp;
		f->parent = f[-1].parent;
	} else {
		c->sp -= 16 + 8 * roll(s, 8);
		f->sp = c->sp;
		f->parent = 0x100000 + (uint32_t)s->nr;
	}
	r = record(s, vcpu, PAYLOAD_FUNCTION, c, f->sp);
	r->parent = f->parent;
	/* That a function ends by jumping to itself is a loop. */
	while (tail && c->nr && r->ip == s->record[f[-1].entered - 1].ip)
		r->ip += 16;
	f->entered = r->tsc;
	s->truth[r->tsc].entered = true;
	s->truth[r->tsc].depth = (uint16_t)open_calls(s, vcpu);
	c->nr++;
}

/* All that share the place of their return address end. */
static inline void sim_return(struct sim *s, unsigned int vcpu, struct context *c)
{
	uint32_t sp = c->frame[c->nr - 1].sp;
	const struct payload_record *r = record(s, vcpu, PAYLOAD_EXIT, c, sp);

	while (c->nr && c->frame[c->nr - 1].sp == sp)
		s->truth[c->frame[--c->nr].entered].left = r->tsc;
	c->sp = c->nr ? c->frame[c->nr - 1].sp : c->top - 8 * roll(s, 16);
}

static inline void sim_interrupt(struct sim *s, unsigned int vcpu)
{
	struct context *irq = &s->irq[vcpu], *nmi = &s->nmi[vcpu];

	if (roll(s, 3) && !irq->nr && !nmi->nr) {
		irq->sp = irq->top = IRQ_AT + (vcpu + 1) * STACK - 64;
		irq->state = HARDIRQ | IRQS_OFF;
		sim_call(s, vcpu, irq, false);
	} else if (!nmi->nr) {
		nmi->sp = nmi->top = 0x30000000 + vcpu * 0x10000 + 0x2000;
		nmi->state = NMI | IRQS_OFF;
		sim_call(s, vcpu, nmi, false);
	}
}

/* Another task that does not run anywhere: maybe one that ran on another vCPU. */
static inline void sim_switch(struct sim *s, unsigned int vcpu)
{
	unsigned int next = roll(s, TASKS);

	if (s->irq[vcpu].nr || s->nmi[vcpu].nr || s->task[next].vcpu >= 0)
		return;
	s->task[s->runs[vcpu]].vcpu = -1;
	s->task[next].vcpu = (int)vcpu;
	s->runs[vcpu] = next;
}

static inline void sim_step(struct sim *s)
{
	unsigned int vcpu = roll(s, VCPUS), what = roll(s, 100);
	struct context *c = top_context(s, vcpu);

	if (what < 3)
		sim_interrupt(s, vcpu);
	else if (what < 8)
		sim_switch(s, vcpu);
	else if (what < 55 && open_calls(s, vcpu) < FRAMES && c->nr < FRAMES - 10)
		sim_call(s, vcpu, c, what < 14);
	else if (c->nr)
		sim_return(s, vcpu, c);
}

static inline void sim_run(struct sim *s, unsigned int seed)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed;
	s->record = calloc(RECORDS, sizeof(*s->record));
	s->vcpu = calloc(RECORDS, 1);
	s->truth = calloc(RECORDS + 2, sizeof(*s->truth));
	assert_true(s->record && s->vcpu && s->truth);
	for (unsigned int i = 0; i < TASKS; i++) {
		s->task[i].vcpu = i < VCPUS ? (int)i : -1;
		s->task[i].own.sp = s->task[i].own.top = STACKS_AT + (i + 1) * STACK - 512;
	}
	for (unsigned int i = 0; i < VCPUS; i++)
		s->runs[i] = i;
	while (s->nr < RECORDS - 2)
		sim_step(s);
}

static inline void sim_free(struct sim *s)
{
	free(s->record);
	free(s->vcpu);
	free(s->truth);
}

#endif
