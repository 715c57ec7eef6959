// SPDX-License-Identifier: GPL-2.0-or-later
/* critical.c - see critical.h */
#include "tracer/payload/critical.h"
#include "tracer/payload/event-ring.h"

static bool is_beginning(const struct payload_record *r)
{
	return record_type(r) == PAYLOAD_IRQS_OFF || record_type(r) == PAYLOAD_PREEMPT_OFF;
}

void critical_lost(struct critical *c)
{
	c->open = false;
}

bool critical_step(struct critical *c, const struct payload_record *r, struct critical_window *w)
{
	/* Both get their numbers at once: only what an NMI records may come in between in time. */
	if (is_beginning(r)) {
		c->off = *r;
		c->open = true;
		return false;
	}
	if (!record_is_window_end(r) || !c->open || r->seq != c->off.seq + 1)
		return false;
	c->open = false;
	w->off = c->off;
	w->on = *r;
	return true;
}
