// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * branch.c - the tracer branch: each likely() and unlikely() of the kernel, and whether it was
 * right (kernel/trace/trace_branch.c, 6.1). What is recorded for it is instance/branch.h's.
 */
#include "tracer/instance/instance.h"
#include "tracer/tracepoint/branch.h"
#include "tracer/tracers/tracers.h"

static int branch_init(struct instance *i, void **data, const uint32_t *events)
{
	(void)events;
	*data = i->t;
	return guest_branches_place(i->t);
}

static void branch_exit(void *data)
{
	if (data)
		guest_branches_settle(data);
}

const struct tracer_ops branch_tracer_ops = {
	.name = "branch",
	.desc = "how each likely() and unlikely() comes out, of kernels built to tell",
	.top = true,
	.branches = true,
	.init = branch_init,
	.exit = branch_exit,
};
