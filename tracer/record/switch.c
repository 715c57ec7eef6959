// SPDX-License-Identifier: GPL-2.0-or-later
/* switch.c - see switch.h */
#include "tracer/record/switch.h"
#include "tracer/core/lock.h"
#include "tracer/instance/instance.h"
#include "tracer/payload/payload.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"

/* When tracing_off() was called, and nothing has been done about it yet; 0: it was not. */
static uint64_t called_off(const struct trace *t)
{
	uint64_t word = SWITCH_OFF;

	if (atomic_load_explicit(&t->guest_switch.placed, memory_order_relaxed))
		word = trampoline_get_switch(t);
	return word == (uint64_t)SWITCH_ON ? 0 : word;
}

void record_switch_look(struct trace *t)
{
	uint64_t off = called_off(t);

	if (off)
		atomic_store(&t->instances->until, off);
}

/* True: it was on. */
static bool turn_off(struct trace *t, uint64_t tsc)
{
	struct instance *top = t->instances;
	bool was_on = instance_is_on(top), held = record_hold(t, tsc);

	trace_writers_stop(t);
	atomic_store(&top->until, tsc);
	trace_writers_go(t);
	instance_set_on(top, false);
	if (held)
		record_release(t);
	/* Whatever it may have written there. */
	instances_lock(t);
	trampoline_set_switch(t, instance_is_on(top), true);
	instances_unlock(t);
	return was_on;
}

void record_switch_due(struct trace *t)
{
	uint64_t off = called_off(t);
	bool was_on = false;

	if (off) {
		change_lock(t);
		was_on = turn_off(t, off);
		change_unlock(t);
	}
	if (was_on || atomic_exchange(&t->guest_switch.said_off, false))
		trace_note(t, "the guest's kernel calls tracing_off(): recording stops");
	if (atomic_exchange(&t->guest_switch.said_on, false))
		trace_note(t, "the guest's kernel calls tracing_on(): recording goes on");
}

void record_switch_on(struct trace *t)
{
	uint64_t off = called_off(t);

	if (off && turn_off(t, off))
		atomic_store(&t->guest_switch.said_off, true);
	/* Before the function of --from there is nothing to go on with. */
	if ((t->cfg.from && !atomic_load(&t->begun)) || instance_is_on(t->instances))
		return;
	instance_set_on(t->instances, true);
	atomic_store(&t->guest_switch.said_on, true);
}
