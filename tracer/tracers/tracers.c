// SPDX-License-Identifier: GPL-2.0-or-later
/* tracers.c - the table of tracers. */
#include "tracer/tracers/tracers.h"
#include "tracer/core/trace.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/tracepoint/branch.h"
#include "tracer/tracers/names.h"

#include <string.h>

/* In the order of available_tracers. */
/* clang-format off */
static const struct tracer_ops *const tracers[] = {
	&blk_tracer_ops,
	&mmiotrace_tracer_ops,
	&hw_branch_tracer_ops,
	&branch_tracer_ops,
	&hwlat_tracer_ops,
	&function_graph_tracer_ops,
	&wakeup_dl_tracer_ops,
	&wakeup_rt_tracer_ops,
	&wakeup_tracer_ops,
	&preemptirqsoff_tracer_ops,
	&preemptoff_tracer_ops,
	&irqsoff_tracer_ops,
	&function_tracer_ops,
	&sched_switch_tracer_ops,
	&nop_tracer_ops,
};
/* clang-format on */

enum { NR_TRACERS = sizeof(tracers) / sizeof(tracers[0]) };

const struct tracer_ops *tracer_find(const char *name)
{
	for (unsigned int i = 0; i < NR_TRACERS; i++)
		if (!strcmp(tracers[i]->name, name))
			return tracers[i];
	return NULL;
}

bool trace_tracer_is_top(const char *name)
{
	const struct tracer_ops *tracer = tracer_find(name);

	return tracer && (tracer->top || tracer->exits || tracer->max);
}

const char *tracer_refused(const struct trace *t, const struct tracer_ops *tracer)
{
	struct machine_info info;

	if (tracer->branches && !guest_branches_known(t))
		return GUEST_BRANCHES_UNKNOWN;
	if (!(tracer->mmio || tracer->branch) || !t->m)
		return NULL;
	machine_get_info(t->m, &info);
	if (tracer->branch && !info.follow)
		return "hw-branch-tracer: calls are followed in guests that hvtrace runs itself "
		       "(hvtrace run --machine kvm) on a host with virtualization, and in those of "
		       "QEMU's TCG, not in this one";
	if (tracer->mmio && !info.mmio)
		return "mmiotrace: accesses to devices are seen of guests that hvtrace runs itself, "
		       "and of those of a QEMU on this host whose memory may be read, with a gdb "
		       "stub on a unix socket (gdb:unix:PATH, or libvirt's)";
	return NULL;
}

bool trace_has_tracer(struct trace *t, const char *name)
{
	const struct tracer_ops *tracer = tracer_find(name);

	return tracer && flag_sites_known(t, tracer->critical) &&
	       (!tracer->needs || guestsym_addr(t->gs, tracer->needs)) &&
	       !tracer_refused(t, tracer);
}

bool trace_tracer_is_latency(const char *name)
{
	const struct tracer_ops *tracer = tracer_find(name);

	return tracer && tracer->max;
}

const char *trace_tracer_name(unsigned int i, const char **desc)
{
	if (i >= NR_TRACERS)
		return NULL;
	if (desc)
		*desc = tracers[i]->desc;
	return tracers[i]->name;
}
