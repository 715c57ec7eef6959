// SPDX-License-Identifier: GPL-2.0-or-later
/* prints.c - see prints.h */
#include "tracer/tracepoint/prints.h"
#include "tracer/collect/collect.h"
#include "tracer/core/lock.h"
#include "tracer/events/registry.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/files.h"
#include "tracer/instance/prints.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/payload/event-ring.h"
#include "tracer/record/record.h"
#include "tracer/record/switch.h"
#include "tracer/unwind/unwind.h"
#include "tracer/window/detour.h"

#include <errno.h>
#include <string.h>

#define PRINT_COOKIE (BORROW_COOKIE - 4)

/* --- the way into the payload ---------------------------------------------------------------- */

static int types_learn(struct trace *t)
{
	struct guestsym_field f;
	int ret = guestsym_field(t->gs, "trace_event_call.event.type", &f);

	for (unsigned int k = 0; k < GUEST_PRINT_KINDS && !ret; k++) {
		uint64_t call = trace_runtime(t, guest_print_call(k));
		uint32_t *type = &t->prints->type[k];

		ret = call ? guest_read(&t->guest, call + f.offset, type, sizeof(*type)) : -ENOENT;
		if (!ret && (!*type || *type >= 32))
			ret = -EOPNOTSUPP;
	}
	return ret;
}

/* print.S makes itself a struct trace_event_buffer. */
static bool fbuffer_fits(const struct trace *t)
{
	static const char *const members[] = {"trace_event_buffer.event",
					      "trace_event_buffer.trace_file",
					      "trace_event_buffer.entry"};
	struct guestsym_field f;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (guestsym_field(t->gs, members[i], &f) || f.offset > FBUFFER_SIZE - 8)
			return false;
	return true;
}

static int detours_place(struct trace *t)
{
	const struct payload_text *text = trampoline_text(t);
	struct payload_detour d[DETOURS_EACH] = {
		{.entry = text->event_data, .rest = text->event_data_rest},
		{.entry = text->ring_commit, .rest = text->ring_commit_rest},
	};
	uint64_t data = trace_runtime(t, "ring_buffer_event_data"),
		 commit = trace_runtime(t, "ring_buffer_unlock_commit");
	int ret = data && commit ? 0 : -EOPNOTSUPP;

	if (!ret)
		ret = detour_learn(&t->guest, data, &d[0]);
	if (!ret)
		ret = detour_learn(&t->guest, commit, &d[1]);
	if (!ret)
		ret = detours_insert(&t->guest, t->gs, trampoline_window(t), DETOUR_PRINTS, d,
				     DETOURS_EACH);
	return ret;
}

static int trap_insert(struct trace *t)
{
	const struct machine_trap trap =
		trampoline_trap(t, trampoline_text(t)->print_trap, PRINT_COOKIE);
	int ret = machine_traps_set(t->m, &trap, 1);

	t->prints->trapped = !ret;
	return ret;
}

int guest_prints_remove(struct trace *t)
{
	uint64_t va;

	if (!t->prints->trapped)
		return 0;
	va = trampoline_trap(t, trampoline_text(t)->print_trap, PRINT_COOKIE).va;
	t->prints->placed = t->prints->trapped = false;
	return machine_traps_clear(t->m, &va, 1);
}

/* The way to the host comes first. */
static int ways_place(struct trace *t)
{
	int ret = fbuffer_fits(t) ? types_learn(t) : -EOPNOTSUPP;

	if (!ret && trace_has_traps(t))
		ret = trap_insert(t);
	if (!ret)
		ret = detours_place(t);
	if (ret)
		guest_prints_remove(t);
	return ret;
}

int guest_prints_stacks_apply(struct trace *t)
{
	bool wanted = guest_prints_want_stacks(t->instances);
	uint8_t on = wanted && !t->prints->trapped ? EVENT_STACK_CALL : 0;

	if (!t->tramp || t->trace_events->closed || !t->prints->placed)
		return 0;
	if (wanted)
		trace_use_stacks(t);
	return window_write(trampoline_window(t),
			    WINDOW_EVENT_FILES + EVENT_FILE_PRINTS + EVENT_FILE_FLAGS, &on,
			    sizeof(on));
}

void guest_prints_place(struct trace *t)
{
	events_lock(t->trace_events);
	guest_prints_place_held(t);
	events_unlock(t->trace_events);
}

void guest_prints_place_held(struct trace *t)
{
	int ret;

	if (!t->tramp || trampoline_guest_buffer(t) == PAYLOAD_NONE || t->trace_events->closed ||
	    t->prints->placed)
		return;
	ret = ways_place(t);
	t->prints->placed = !ret;
	if (ret)
		trace_note(t, "trace_printk() and trace_marker of the guest are not recorded: %s",
			   strerror(-ret));
	else if (!guest_prints_stacks_apply(t))
		payload_control(t);
}

/* --- hits --------------------------------------------------------------------------------------
 */

/* Nothing where nobody wants it, or there is none. */
static void stack_look(struct trace *t, const struct machine_hit *hit, struct event_stack *stack)
{
	uint64_t sp = hit->regs->rsp + PRINT_TRAP_FRAME, ip;

	stack->n = 0;
	if (guest_prints_want_stacks(t->instances) && !guest_read(&t->guest, sp, &ip, sizeof(ip)))
		stack->n = unwind_entry(trace_unwind(t), &t->guest, ip, sp + sizeof(ip),
					hit->regs->rbp, stack->ip, NULL, EVENT_STACK_DEPTH);
}

/* %rcx bytes at %rdx, as payload/print.S has them. */
static void print_take(struct trace *t, const struct machine_hit *hit)
{
	struct instance *top = t->instances;
	struct payload_record r = {.tsc = hit->tsc};
	struct clock_reading now;
	struct event_stack stack;
	uint8_t data[EVENT_MAX];

	r.event_len = (uint32_t)hit->regs->rcx;
	if (!guest_prints_taken(top) || !(top->cpumask >> hit->vcpu & 1) ||
	    hit->regs->rcx > sizeof(data) ||
	    guest_read(&t->guest, hit->regs->rdx, data, r.event_len))
		return;
	clock_begin(top->clock, t, hit->vcpu, hit->tsc, &now);
	stack_look(t, hit, &stack);
	guest_prints_collect(top, hit->vcpu, &r, data, &stack, instance_time(top, &now, hit->tsc));
}

bool guest_prints_hit(struct trace *t, const struct machine_hit *hit)
{
	if (hit->cookie != PRINT_COOKIE)
		return false;
	vcpu_lock(t, hit->vcpu);
	collect_drain(t, hit->vcpu); /* what it has recorded before */
	record_switch_look(t);
	trace_seen(t, hit->tsc);
	print_take(t, hit);
	vcpu_unlock(t, hit->vcpu);
	trace_wake(t);
	return true;
}
