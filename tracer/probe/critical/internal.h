/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files behind sites.h share. */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_INTERNAL_H
#define HVTRACE_TRACER_PROBE_CRITICAL_INTERNAL_H

#include "tracer/probe/critical/kinds.h"
#include "tracer/probe/critical/moves.h"
#include "tracer/probe/critical/table.h"

struct flag_sites {
	struct payload_form form[FLAG_KINDS];
	bool searched[FLAG_KINDS];
	size_t count[FLAG_KINDS]; /* in the kernel itself */
	struct flag_table *table;
	uint64_t modules; /* the reading of the guest's that has been searched */
	struct flag_moves *moves;
	size_t left_out[FLAG_KINDS]; /* that have no room, and cannot move */
	bool told;		     /* of them */
};

/* NULL: it has not moved. */
static inline const struct move *move_of(const struct trace *t, const struct flag_site *s)
{
	const struct move *v;
	size_t n = flag_moves_all(t->flag_sites->moves, &v);

	return s->move < n ? &v[s->move] : NULL;
}

/*
 * search.c: find the sites of these kinds of windows (CRITICAL_), once, and those of modules that
 * have come. 0 or -errno. The machine is paused.
 */
int flag_sites_search(struct trace *t, uint32_t critical);

#endif
