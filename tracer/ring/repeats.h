/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repeats.h - the option func-no-repeats: of a call that follows on the same one only the number is
 * recorded, as soon as another one comes (kernel/trace/trace_functions.c, 6.1).
 */
#ifndef HVTRACE_TRACER_RING_REPEATS_H
#define HVTRACE_TRACER_RING_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/ring/entry.h"
#include "tracer/ring/ring.h"

/* The latest call of a vCPU that was recorded. */
struct repeats {
	uint64_t ip, parent_ip;
	uint64_t last_ts; /* of the latest repetition */
	uint16_t count;	  /* repetitions */
	bool told;	  /* its owner's: the latest call was recorded, with or without them */
};

/* A call at ts: true when it is one more repetition, and there is nothing to record. */
bool repeats_count(struct repeats *r, uint64_t ip, uint64_t parent_ip, uint64_t ts);
/*
 * It is not: record the repetitions that there were, as the task that makes this call, which is
 * about to be recorded itself.
 */
void repeats_end(struct repeats *r, struct ring *ring, const struct trace_entry *ent, uint64_t ip,
		 uint64_t parent_ip, uint64_t ts);

#endif
