// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hw-branch.c - the tracer hw-branch-tracer: the branches that are taken within calls of the
 * functions that set_ftrace_filter has.
 *
 * The kernel's own (kernel/trace/trace_hw_branches.c of 2.6.28 to 2.6.33) had the processor write
 * all branches of all CPUs (BTS), which hosts do not let a guest's owner have. Here the machine
 * follows one call at a time from its entry on: machine_follow().
 */
#include "tracer/core/symbol.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/files.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/ring/entry.h"
#include "tracer/tracers/files.h"
#include "tracer/tracers/tracers.h"
#include "tracer/window/window.h"

#include <errno.h>
#include <stdlib.h>

/* Where a task leaves its processor, whatever has made it. */
#define SCHEDULE "__schedule"

struct hw_branches {
	_Atomic unsigned int followed; /* one more than the vCPU whose call is; 0: none is */
	uint64_t schedule;
	atomic_bool told; /* that calls are longer than is followed */
};

/* A call that comes while another one is followed is none that is looked at. */
static void hw_branch_entered(struct instance *i, const struct machine_hit *hit)
{
	struct hw_branches *h = i->tracer_data;
	const struct machine_follow follow = {
		.vcpu = hit->vcpu,
		.sp = hit->regs->rsp,
		.leaves = h->schedule,
		.steps = atomic_load(&i->t->branch_steps),
	};
	unsigned int none = 0;
	struct guest_state st;

	guest_get_state(&i->t->guest, hit->vcpu, hit->regs, &st);
	if (!pid_filter_traces(&i->pids, st.pid) ||
	    !atomic_compare_exchange_strong(&h->followed, &none, hit->vcpu + 1))
		return;
	if (machine_follow(i->t->m, &follow))
		atomic_store(&h->followed, 0);
}

/* By probes of others the guest comes to the payload, which is none of its own. */
static bool is_payload(const struct trace *t, uint64_t va)
{
	const struct window *w = t->tramp ? trampoline_window(t) : NULL;

	return w && va - w->header.va < w->header.size;
}

static void over(struct instance *i, const struct machine_branch *b)
{
	struct hw_branches *h = i->tracer_data;
	unsigned int ours = b->vcpu + 1;

	atomic_compare_exchange_strong(&h->followed, &ours, 0);
	if (b->end == MACHINE_FOLLOW_BOUND && !atomic_exchange(&h->told, true))
		trace_note(i->t,
			   "hw-branch-tracer: calls are followed for %u steps "
			   "(hvtrace/branch_steps), and some take more",
			   atomic_load(&i->t->branch_steps));
}

static bool hw_branch_branch(struct instance *i, const struct machine_branch *b)
{
	const struct machine_hit hit = {.vcpu = b->vcpu, .tsc = b->tsc, .regs = b->regs};
	struct trace_hw_branch_entry branch = {.from = b->from, .to = b->to};
	struct entry e;

	if (b->end) {
		over(i, b);
		return false;
	}
	if (!i->on)
		return false;
	if (is_payload(i->t, b->from) || is_payload(i->t, b->to))
		return true;
	instance_describe_any(i, &hit, TRACE_HW_BRANCH, &branch.ent, &e);
	e.data = &branch;
	e.len = sizeof(branch);
	e.uses = ENTRY_COUNTED;
	instance_take_entry(i, b->vcpu, &e);
	return true;
}

static int hw_branch_init(struct instance *i, void **data, const uint32_t *events)
{
	struct hw_branches *h = calloc(1, sizeof(*h));

	(void)events;
	if (!h)
		return -ENOMEM;
	h->schedule = trace_runtime(i->t, SCHEDULE);
	*data = h;
	return 0;
}

static void hw_branch_exit(void *data)
{
	free(data);
}

static void hw_branch_start(struct instance *i)
{
	instance_tell_few(i);
}

unsigned int trace_branch_steps(struct trace *t)
{
	return atomic_load(&t->branch_steps);
}

int trace_set_branch_steps(struct trace *t, uint64_t steps)
{
	if (!steps || steps > BRANCH_STEPS_MAX)
		return -EINVAL;
	atomic_store(&t->branch_steps, (unsigned int)steps);
	return 0;
}

const struct tracer_ops hw_branch_tracer_ops = {
	.name = "hw-branch-tracer",
	.desc = "branches taken in calls of the functions that set_ftrace_filter has",
	.top = true,
	.needs = SCHEDULE,
	.init = hw_branch_init,
	.exit = hw_branch_exit,
	.start = hw_branch_start,
	.entered = hw_branch_entered,
	.branch = hw_branch_branch,
};
