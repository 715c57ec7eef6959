// SPDX-License-Identifier: GPL-2.0-or-later
/* explain.c - which functions are not traced, and why. */
#include "tracer/internal.h"
#include "tracer/core/lock.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void explain_bytes(struct trace *t, const struct probe *p, FILE *out)
{
	uint64_t va = p->va + t->guest.slide;
	uint8_t now[SITE_SIZE];

	fprintf(out, "%s: ", p->name);
	if (guest_read(&t->guest, va, now, sizeof(now))) {
		fprintf(out, "its site at %" PRIx64 " cannot be read\n", va);
		return;
	}
	fprintf(out, "its site at %" PRIx64 " holds", va);
	for (size_t i = 0; i < sizeof(now); i++)
		fprintf(out, " %02x", now[i]);
	fprintf(out, ", which is neither a NOP nor the call that the build put there\n");
}

static void explain_returns(struct trace *t, FILE *out)
{
	size_t listed, unknown, set = 0;

	for (size_t i = 0; i < t->probes.nr; i++)
		set += (t->probes.v[i].flags & (PROBE_FL_EXIT | PROBE_FL_SET)) ==
		       (PROBE_FL_EXIT | PROBE_FL_SET);
	returns_count(t, &listed, &unknown);
	fprintf(out, "returns: %zu of them are traced", set);
	if (listed)
		fprintf(out,
			"; of %zu that the kernel image lists, %zu hold something else than this "
			"kernel's returns do",
			listed, unknown);
	fprintf(out, "\n");
}

static bool exits_traced(const struct trace *t)
{
	for (size_t i = 0; i < t->probes.nr; i++)
		if (t->probes.v[i].flags & PROBE_FL_EXIT)
			return true;
	return false;
}

static void explain_image(struct trace *t, FILE *out)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(t->gs, &sites), init = 0, invalid = 0;

	for (size_t i = 0; i < n; i++) {
		if (sites[i].flags & GUESTSYM_SITE_INVALID)
			invalid++;
		else if (sites[i].flags & GUESTSYM_SITE_INIT)
			init++;
	}
	fprintf(out,
		"the kernel image has %zu sites: %zu are in memory that is freed after boot, %zu "
		"belong to weak functions that others have replaced\n",
		n, init, invalid);
}

static void explain_probes(struct trace *t, FILE *out)
{
	uint64_t traced = 0, gone = 0;

	for (size_t i = 0; i < t->probes.nr; i++) {
		const struct probe *p = &t->probes.v[i];

		if (!(p->flags & PROBE_FL_RECORD) || p->flags & (PROBE_FL_EXIT | PROBE_FL_FLAG))
			continue;
		if (p->flags & PROBE_FL_GONE)
			gone++;
		else if (p->flags & PROBE_FL_SET)
			traced++;
		else
			explain_bytes(t, p, out);
	}
	fprintf(out,
		"selected: %" PRIu64 " functions; %" PRIu64 " are traced, %" PRIu64
		" have been freed by the guest\n",
		t->probes.selected, traced, gone);
}

/* Which engine records, and since when, if it was another one at first. */
static void explain_engine(struct trace *t, FILE *out)
{
	uint64_t us = t->life->calls_since / 1000;

	fprintf(out, "engine: %s", t->engine->name);
	if (!t->cfg.running && t->engine->calls)
		fprintf(out,
			", since %" PRIu64 ".%06" PRIu64 " s of the guest's clock; %s until then",
			us / 1000000, us % 1000000, trap_probe_ops.name);
	fprintf(out, "\n");
}

int trace_explain(struct trace *t, FILE *out)
{
	explain_engine(t, out);
	explain_image(t, out);
	machine_pause_for(t->m, "reading its text");
	change_lock(t);
	explain_probes(t, out);
	if (exits_traced(t))
		explain_returns(t, out);
	flag_sites_explain(t, out);
	change_unlock(t);
	machine_resume(t->m);
	return ferror(out) ? -EIO : 0;
}
