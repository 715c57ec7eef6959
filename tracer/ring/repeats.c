// SPDX-License-Identifier: GPL-2.0-or-later
/* repeats.c - see repeats.h */
#include "tracer/ring/repeats.h"

bool repeats_count(struct repeats *r, uint64_t ip, uint64_t parent_ip, uint64_t ts)
{
	if (r->ip != ip || r->parent_ip != parent_ip || r->count == UINT16_MAX)
		return false;
	r->last_ts = ts;
	r->count++;
	return true;
}

static void record(const struct repeats *r, struct ring *ring, const struct trace_entry *ent,
		   uint64_t ts)
{
	struct trace_repeats_entry *e = ring_reserve(ring, sizeof(*e), ts);
	uint64_t delta = ts > r->last_ts ? ts - r->last_ts : 0;

	if (!e)
		return;
	*e = (struct trace_repeats_entry){
		.ent = *ent,
		.ip = r->ip,
		.parent_ip = r->parent_ip,
		.count = r->count,
		.top_delta_ts = (uint16_t)(delta >> 32),
		.bottom_delta_ts = (uint32_t)delta,
	};
	e->ent.type = TRACE_FUNC_REPEATS;
	ring_commit(ring);
}

void repeats_end(struct repeats *r, struct ring *ring, const struct trace_entry *ent, uint64_t ip,
		 uint64_t parent_ip, uint64_t ts)
{
	if (r->count)
		record(r, ring, ent, ts);
	*r = (struct repeats){.ip = ip, .parent_ip = parent_ip};
}
