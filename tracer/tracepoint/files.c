// SPDX-License-Identifier: GPL-2.0-or-later
/* files.c - what the guest's probes are called with, and the way from them into the payload.
 */
#include "tracer/tracepoint/internal.h"
#include "tracer/core/lock.h"
#include "tracer/instance/events.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/tracepoint/tracepoint.h"
#include "tracer/tracepoint/traps.h"
#include "tracer/window/detour.h"
#include "tracer/window/work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_ENABLED 1 /* EVENT_FILE_FL_ENABLED (include/linux/trace_events.h, 6.1) */

static bool member_fits(const struct guestsym_field *f, uint32_t size, uint32_t within)
{
	return f->size >= size && f->offset <= within && within - f->offset >= size;
}

static int layout_learn(struct events *e)
{
	const struct guestsym *gs = e->t->gs;
	struct event_layout *at = &e->at;

	if (guestsym_type_size(gs, "trace_event_file", &at->file_size) ||
	    guestsym_field(gs, "trace_event_file.event_call", &at->call) ||
	    guestsym_field(gs, "trace_event_file.flags", &at->flags) ||
	    at->file_size > EVENT_FILE_FLAGS || !member_fits(&at->call, 8, at->file_size) ||
	    !member_fits(&at->flags, 8, at->file_size))
		return -EOPNOTSUPP;
	/* Without these, system calls have no events, but all others do. */
	if (guestsym_type_size(gs, "trace_array", &at->array_size) ||
	    guestsym_field(gs, "trace_array.enter_syscall_files", &at->enter) ||
	    guestsym_field(gs, "trace_array.exit_syscall_files", &at->exit) ||
	    at->array_size > EVENT_ARRAY_SIZE ||
	    !member_fits(&at->enter, at->enter.size, at->array_size) ||
	    !member_fits(&at->exit, at->exit.size, at->array_size))
		at->enter.size = at->exit.size = 0;
	return 0;
}

static void syscalls_learn(struct events *e)
{
	const struct trace *t = e->t;

	e->enter.tracepoint = trace_runtime(t, "__tracepoint_sys_enter");
	e->enter.probe = trace_runtime(t, "ftrace_syscall_enter");
	e->exit.tracepoint = trace_runtime(t, "__tracepoint_sys_exit");
	e->exit.probe = trace_runtime(t, "ftrace_syscall_exit");
}

/* No code that was placed in the guest is to record: traps.h */
static int detours_place(struct events *e)
{
	struct trace *t = e->t;
	const struct payload_text *text = trampoline_text(t);
	bool traps = trace_has_traps(e->t);
	uint64_t reserve = trace_runtime(t, "trace_event_buffer_reserve"),
		 commit = trace_runtime(t, "trace_event_buffer_commit");
	struct payload_detour d[DETOURS_EACH] = {
		{.entry = traps ? text->reserve_look : text->reserve, .rest = text->reserve_rest},
		{.entry = traps ? text->commit_look : text->commit, .rest = text->commit_rest},
	};
	int ret = reserve && commit ? 0 : -EOPNOTSUPP;

	if (!ret)
		ret = detour_learn(&t->guest, reserve, &d[0]);
	if (!ret)
		ret = detour_learn(&t->guest, commit, &d[1]);
	if (!ret)
		ret = detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_EVENTS, d,
				     DETOURS_EACH);
	return ret;
}

static bool kernel_tells(struct events *e)
{
	const struct trace *t = e->t;
	struct guestsym_field f;

	return !guestsym_field(t->gs, "trace_event_buffer.event", &f) &&
	       !guestsym_field(t->gs, "trace_event_buffer.trace_file", &f) &&
	       trace_runtime(t, "tracepoint_probe_register") &&
	       trace_runtime(t, "tracepoint_probe_unregister") && !layout_learn(e);
}

/* Once something is registered they are needed for taking it back, too. */
static const char *kworkers_why_not(struct events *e)
{
	const struct guest_work work = events_work(e->t, NULL, 0);

	return guest_work_why_not(&work);
}

/* NULL: nothing is in the way. */
static const char *why_not(struct events *e)
{
	if (!events_possible(e))
		return "nothing calls functions of this guest's kernel for us";
	if (!kernel_tells(e))
		return "this kernel does not tell how it records them";
	/* One that boots may not have made what tells it: it is asked again then. */
	return events_ready(e) ? kworkers_why_not(e) : NULL;
}

int events_check(struct events *e)
{
	const char *why = e->placed ? NULL : why_not(e);

	if (!why)
		return 0;
	trace_note(e->t, "trace events cannot be enabled: %s", why);
	return -EOPNOTSUPP;
}

/* The memory that they are in; with trampolines it is there already. */
static int window_get(struct events *e)
{
	char why[256];
	int ret = e->t->tramp ? 0 : trace_open_events(e->t, why, sizeof(why));

	if (ret)
		trace_note(e->t, "trace events cannot be enabled: %s", why);
	return ret;
}

/* The ways to the host come first: without them there is no room for an event. */
static int ways_place(struct events *e)
{
	int ret = trace_has_traps(e->t) ? event_traps_insert(e->t) : 0;

	if (!ret)
		ret = detours_place(e);
	if (ret)
		event_traps_remove(e->t);
	return ret;
}

/* e->lock is held. */
int events_place(struct events *e)
{
	struct trace *t = e->t;
	int ret;

	if (e->placed)
		return 0;
	ret = events_check(e);
	if (ret || !events_ready(e))
		return ret;
	ret = window_get(e);
	if (!ret && !t->cfg.running)
		ret = trampoline_types(t);
	if (ret)
		return ret;
	syscalls_learn(e);
	/* trace_event_buffer_reserve(), where the kernel is preemptible */
	e->dec_preempt = trace_runtime(t, "preempt_schedule");
	ret = ways_place(e);
	e->placed = !ret;
	return ret;
}

/* --- files ----------------------------------------------------------------------------------- */

uint64_t events_file_offset(unsigned int slot)
{
	return WINDOW_EVENT_FILES + (uint64_t)slot * EVENT_FILE_SIZE;
}

/* As long as it may be hit: a uprobe's hit is recorded by a task that can be preempted. */
static uint8_t event_stays(const struct events *e, const struct guestsym_event *ev)
{
	return e->dec_preempt && ev->flags & GUESTSYM_EVENT_FL_UPROBE ? EVENT_STAYS : 0;
}

static int file_write(struct events *e, unsigned int slot, const struct guestsym_event *ev)
{
	uint8_t file[EVENT_FILE_SIZE] = {[EVENT_FILE_FLAGS] = event_stays(e, ev)};
	uint64_t flags = FILE_ENABLED;

	memcpy(file + e->at.call.offset, &ev->call, sizeof(ev->call));
	memcpy(file + e->at.flags.offset, &flags, sizeof(flags));
	return window_write(trampoline_window(e->t), events_file_offset(slot), file, sizeof(file));
}

int events_file_get(struct events *e, uint32_t event)
{
	unsigned int slot = e->slot[event];
	int ret;

	if (slot) {
		/* A module's event may be another one's place. */
		ret = file_write(e, slot - 1, &events_list(e)->v[event]);
		return ret ? ret : (int)slot - 1;
	}
	slot = e->nr_slots;
	if (slot == EVENT_FILE_PRINTS >> EVENT_FILE_SHIFT)
		return -ENOSPC;
	ret = file_write(e, slot, &events_list(e)->v[event]);
	if (ret)
		return ret;
	e->nr_slots++;
	e->slot[event] = (uint16_t)(slot + 1);
	__atomic_store_n(&e->event_of[slot], event, __ATOMIC_RELEASE);
	return (int)slot;
}

uint64_t events_window_va(const struct events *e, uint64_t offset)
{
	return trampoline_window(e->t)->header.va + offset;
}

int events_row_write(struct events *e, uint32_t row, const struct payload_event *ev)
{
	return window_write(trampoline_window(e->t), WINDOW_EVENT_TABLE + row * sizeof(*ev), ev,
			    sizeof(*ev));
}

/* --- stacks ---------------------------------------------------------------------------------- */

static bool any_wants_stacks(struct trace *t, uint32_t event)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (instance_wants_event_stacks(i, event))
			return true;
	return false;
}

/* With trampolines that may wait for room a ring would have to be larger. */
static bool any_wants_copies(struct trace *t, uint32_t event)
{
	if (t->guest.at.irq_stack == GUEST_NONE || t->cfg.lossless)
		return false;
	for (const struct instance *i = t->instances; i; i = i->next)
		if (i->events && i->events[event].copies)
			return true;
	return false;
}

static uint8_t stack_wanted(const struct events *e, uint32_t event)
{
	bool look = any_wants_stacks(e->t, event), copy = any_wants_copies(e->t, event);

	/* Who stands anyway is looked at. */
	if (trace_has_traps(e->t))
		return look || copy ? EVENT_STACK_CALL : 0;
	return (look ? EVENT_STACK_CALL : 0) | (copy ? EVENT_STACK_COPY : 0);
}

static bool some_want_stacks(struct events *e)
{
	bool some = false;

	instances_lock(e->t);
	for (unsigned int slot = 0; slot < e->nr_slots && !some; slot++)
		some = stack_wanted(e, e->event_of[slot]);
	instances_unlock(e->t);
	return some;
}

int events_stacks_apply(struct events *e)
{
	int ret = 0;

	if (some_want_stacks(e))
		trace_use_stacks(e->t);
	instances_lock(e->t);
	for (unsigned int slot = 0; slot < e->nr_slots && !ret; slot++) {
		uint32_t event = e->event_of[slot];
		uint8_t on = stack_wanted(e, event) | event_stays(e, &events_list(e)->v[event]);

		ret = window_write(trampoline_window(e->t),
				   events_file_offset(slot) + EVENT_FILE_FLAGS, &on, sizeof(on));
	}
	instances_unlock(e->t);
	return ret;
}
