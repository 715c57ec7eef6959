/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * move.h - has a jump take the place of an instruction that has no room for one, and of some
 * beside it: which can, and the code that is executed instead (payload.h, MOVED_).
 *
 * It is what a kernel's own kprobes do where they are optimised. An instruction can move that means
 * the same elsewhere, that nobody else knows of (what patches it, what a fault there leads to), and
 * that nothing jumps to, but for the first.
 */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_MOVE_H
#define HVTRACE_TRACER_PROBE_CRITICAL_MOVE_H

#include "tracer/guest/within.h"
#include "tracer/payload/payload.h"

#include <stdbool.h>

struct mover;

/* One that changes the preempt count, and is a site as well: a call takes its place. */
struct move_change {
	uint64_t va; /* run-time */
	uint8_t size, kind;
};

/* What is known of the text, besides what is in the function that is looked at. */
struct move_bounds {
	/* Where something may jump to, by address, and what has to stay where it is, likewise. */
	const uint64_t *entry;
	size_t nr_entries;
	const struct text_range *taken;
	size_t nr_taken;
	/* Functions whose calls have to stay. */
	const uint64_t *callee;
	size_t nr_callees;
	uint64_t tells_on; /* the function that is called in front of sti; 0: there is none */
	const struct move_change *change; /* by address */
	size_t nr_changes;
	bool tables; /* what tables of jumps lead to is among the entries */
};

enum move_how {
	MOVE_OFF,    /* interrupts are off behind it */
	MOVE_ON,     /* interrupts are off in front of it */
	MOVE_BEHIND, /* likewise; it is executed itself, behind the call */
	/*
	 * Planned where it cannot be: the call in front of it, by which the kernel tells of it; or
	 * somewhat further on, both executed themselves; or there is one already.
	 */
	MOVE_TOLD,
	MOVE_LOOK,
	MOVE_SHARED,
};

struct move {
	uint64_t va;	/* run-time: of the jump */
	uint8_t size;	/* 0: it cannot be */
	uint8_t at;	/* where the instruction is that it is about, as it was */
	uint8_t how;	/* enum move_how */
	uint8_t change; /* where one is that changes the preempt count; MOVED_MAX: there is none */
	uint8_t change_kind;
	uint8_t bytes[MOVED_MAX];
};

struct mover *mover_new(void); /* NULL: no memory */
void mover_free(struct mover *mv);

/*
 * The function that is at va (run-time). For each of n instructions in it, by address and without
 * what overlaps: m[i].va is that address and m[i].how is set; the rest is filled in. 0 or -ENOMEM.
 */
int mover_plan(struct mover *mv, const struct move_bounds *b, const uint8_t *code, size_t len,
	       uint64_t va, struct move *m, size_t n);
/*
 * The code that is executed instead, at `to`, which calls `entry`, and `change` where the count is
 * changed; and its row. -ERANGE: it is too far away, or too long.
 */
int mover_build(struct mover *mv, const struct move *m, uint64_t to, uint64_t entry,
		uint64_t change, struct payload_moved *row, uint8_t code[MOVED_SIZE]);

#endif
