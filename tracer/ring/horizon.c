// SPDX-License-Identifier: GPL-2.0-or-later
/* horizon.c - see horizon.h */
#include "tracer/ring/horizon.h"

static uint64_t latest_in(struct ring *const *rings, unsigned int nr)
{
	uint64_t latest = 0;

	for (unsigned int v = 0; v < nr; v++) {
		uint64_t ts = ring_last_time(rings[v]);

		latest = ts > latest ? ts : latest;
	}
	return latest;
}

static bool move_to(struct horizon *h, uint64_t at)
{
	if (at <= h->at)
		return false;
	atomic_store(&h->at, at);
	return true;
}

bool horizon_pass(struct horizon *h, struct ring *const *rings, unsigned int nr, uint64_t behind,
		  bool waits_more)
{
	uint64_t at = h->latest[waits_more], now = latest_in(rings, nr);

	/* Nothing that comes late goes before what its own ring has. */
	for (unsigned int v = 0; v < nr; v++) {
		uint64_t ts = behind >> v & 1 ? ring_last_time(rings[v]) : at;

		at = ts < at ? ts : at;
	}
	h->latest[1] = h->latest[0];
	h->latest[0] = now;
	return move_to(h, at);
}

void horizon_end(struct horizon *h, struct ring *const *rings, unsigned int nr)
{
	move_to(h, latest_in(rings, nr));
}

void horizon_reset(struct horizon *h)
{
	h->latest[0] = h->latest[1] = 0;
	atomic_store(&h->at, 0);
}
