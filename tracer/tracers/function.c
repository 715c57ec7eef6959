// SPDX-License-Identifier: GPL-2.0-or-later
/* function.c - the function tracer: one record for each call of a selected function. */
#include "tracer/instance/call.h"
#include "tracer/instance/entry.h"
#include "tracer/tracers/tracers.h"

static void function_hit(struct instance *i, const struct probe *p, const struct machine_hit *hit)
{
	struct clock_reading now;
	struct payload_record r;

	(void)p;
	instance_hit_record(i->t, hit, false, &r);
	if (!pid_filter_traces(&i->pids, record_pid(&r)))
		return;
	clock_begin(i->clock, i->t, hit->vcpu, hit->tsc, &now);
	instance_take_call(i, hit->vcpu, &r, instance_time(i, &now, hit->tsc));
	if (instance_function_option(i, OUTPUT_FUNC_STACK_TRACE))
		instance_record_stack(i, hit, true);
}

const struct tracer_ops function_tracer_ops = {
	.name = "function",
	.desc = "each call of each selected function",
	.functions = true,
	.own_options = true,
	.hit = function_hit,
};
