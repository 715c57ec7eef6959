// SPDX-License-Identifier: GPL-2.0-or-later
/* payload-control.c - what the payload can leave out by itself, as all instances want it. */
#include "tracer/core/lock.h"
#include "tracer/instance/branch.h"
#include "tracer/instance/events.h"
#include "tracer/instance/instance.h"
#include "tracer/instance/max.h"
#include "tracer/instance/prints.h"
#include "tracer/payload/payload.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"

/* Tasks that all instances agree on; NULL: no such set. */
static void tasks_of(struct trace *t, struct text *pids, bool *only)
{
	*only = false;
	/* The task that a switch is from may be one of them, though that to which it is is not. */
	if (graph_switch_probe(t) != UINT32_MAX)
		return;
	if (t->instances->tracer->critical || branches_wanted(t))
		return;
	for (const struct instance *i = t->instances; i; i = i->next) {
		if (!instance_profiles(i) &&
		    (!instance_collects(i) || !instance_traces_functions(i)))
			continue;
		*only = pid_list_on(i->pids.list[PID_FILTER_TRACE]);
		if (!*only)
			return;
		pid_list_print(i->pids.list[PID_FILTER_TRACE], pids);
	}
}

/* Only the top level has such a tracer. */
static uint64_t tell_critical(struct trace *t)
{
	struct instance *top = t->instances;
	uint32_t critical = top->tracer->critical;
	uint64_t vcpus = critical && top->on ? top->cpumask : 0;

	/* To be asked for a stack at the end of each, however short, is too much for a guest. */
	if (critical && t->latency_on)
		critical |= CRITICAL_COPY;
	else if (critical)
		critical |= CRITICAL_STACK | (t->thresh ? 0 : CRITICAL_RISES);
	/* The collector raises the least length by what it finds, with these locks. */
	trace_writers_stop(t);
	trampoline_set_critical(t, vcpus, critical, critical ? instance_max_ticks(top) : 0);
	trace_writers_go(t);
	return vcpus;
}

void payload_control(struct trace *t)
{
	struct text pids = {0};
	uint64_t vcpus = 0, events = 0, top;
	uint32_t prints;
	bool only;

	instances_lock(t);
	top = t->instances->cpumask;
	/* What a task enters on a vCPU that is recorded it may leave on one that is not. */
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_profiles(i) || (instance_collects(i) && instance_traces_functions(i)))
			vcpus |= instance_pairs_calls(i) ? UINT64_MAX : i->cpumask;
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_branches(i) && instance_collects(i))
			vcpus |= i->cpumask;
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_events(i) && (instance_collects(i) || i->triggers))
			events |= i->cpumask;
	prints = guest_prints_taken(t->instances);
	if (prints)
		events |= top;
	trampoline_set_prints(t, top, prints);
	trampoline_set_switch(t, atomic_load(&t->guest_switch.placed) && t->instances->on, false);
	vcpus |= tell_critical(t);
	tasks_of(t, &pids, &only);
	text_putc(&pids, '\0');
	trampoline_control(t, vcpus, events, only && !pids.failed ? pids.buf : NULL);
	instances_unlock(t);
	text_free(&pids);
}
