// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lend.c - the sites of the functions that a vCPU is borrowed in (borrow/borrow.h), while they are
 * traced: for that time they are NOPs with traps, and each call that hits one is recorded by that.
 */
#include "tracer/core/lock.h"
#include "tracer/core/trace.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/probe.h"

#include <errno.h>
#include <stdlib.h>

static int lend_paused(struct trace *t, const uint64_t *vas, size_t n)
{
	uint32_t *which = calloc(n ? n : 1, sizeof(*which));
	size_t nr = 0;
	int ret;

	if (!which)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t probe = probe_at_site(t, vas[i] - t->guest.slide);

		if (probe == UINT32_MAX)
			continue;
		t->probes.v[probe].flags |= PROBE_FL_LENT;
		if (t->probes.v[probe].flags & PROBE_FL_SET)
			which[nr++] = probe;
	}
	ret = nr ? t->engine->remove(t, which, nr) : 0;
	for (size_t i = 0; i < nr && !ret; i++)
		t->probes.v[which[i]].flags &= (uint16_t)~PROBE_FL_SET;
	free(which);
	return ret;
}

/* Probes would be there now; that changes with the machine paused. */
static bool probes_are_due(const struct trace *t)
{
	return t->placed && !t->away;
}

static int take_back_paused(struct trace *t)
{
	for (size_t i = 0; i < t->probes.nr; i++)
		t->probes.v[i].flags &= (uint16_t)~PROBE_FL_LENT;
	return probes_are_due(t) ? pieces_insert(t) : 0;
}

int probes_lend(void *arg, const uint64_t *vas, size_t n)
{
	struct trace *t = arg;
	int ret, error;

	machine_pause_for(t->m, "lending probes to the guest's own patching");
	change_lock(t);
	ret = lend_paused(t, vas, n);
	if (ret || !n) {
		error = take_back_paused(t);
		if (error)
			trace_fail(t, error); /* functions are missing from now on */
		ret = ret ? ret : error;
	}
	change_unlock(t);
	machine_resume(t->m);
	return ret;
}

uint32_t probes_lent_at(const struct trace *t, uint64_t va)
{
	uint32_t probe = probe_at_site(t, va - t->guest.slide);

	if (probe == UINT32_MAX || !(t->probes.v[probe].flags & PROBE_FL_LENT) ||
	    !probes_are_due(t))
		return UINT32_MAX;
	return probe;
}
