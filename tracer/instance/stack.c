// SPDX-License-Identifier: GPL-2.0-or-later
/* stack.c - stack traces in the buffers: of the kernel, and of the task's user mode. */
#include "tracer/core/lock.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/entry.h"
#include "tracer/unwind/unwind.h"

#include <string.h>

#define STACK_DEPTH 64

static void record_kernel(struct instance *i, const struct machine_hit *hit, unsigned int uses)
{
	const struct unwind *u = trace_unwind(i->t);
	uint64_t ips[STACK_DEPTH];
	/* The innermost address is where the site's own call would return to, as the kernel has it.
	 */
	unsigned int n = unwind_entry(u, &i->t->guest, hit->va + SITE_SIZE, hit->regs->rsp,
				      hit->regs->rbp, ips, NULL, STACK_DEPTH);
	union {
		struct trace_stack_entry e;
		uint8_t bytes[sizeof(struct trace_stack_entry) + sizeof(ips)];
	} record = {.e.size = (int32_t)n};
	struct entry e;

	if (!instance_describe(i, hit, TRACE_STACK, &record.e.ent, &e))
		return;
	memcpy(record.e.caller, ips, n * sizeof(ips[0]));
	e.data = &record;
	e.len = sizeof(record.e) + n * sizeof(ips[0]);
	e.uses = uses;
	instance_take_entry(i, hit->vcpu, &e);
}

/* An entry also of what has no user mode, as in the kernel. */
static void record_user(struct instance *i, const struct machine_hit *hit, unsigned int uses)
{
	uint64_t ips[TRACE_USER_STACK_NR];
	struct trace_user_stack_entry record = {0};
	struct entry e;

	trace_user_stack(i->t, hit->vcpu, &record.tgid, ips, TRACE_USER_STACK_NR);
	if (!instance_describe(i, hit, TRACE_USER_STACK, &record.ent, &e))
		return;
	memcpy(record.caller, ips, sizeof(ips));
	e.data = &record;
	e.len = sizeof(record);
	e.uses = uses;
	instance_take_entry(i, hit->vcpu, &e);
}

void instance_record_stack(struct instance *i, const struct machine_hit *hit, bool of_call)
{
	unsigned int uses = ENTRY_COUNTED | (of_call ? ENTRY_OF_CALL : 0);

	record_kernel(i, hit, uses);
	if (i->options & OUTPUT_USER_STACKTRACE)
		record_user(i, hit, uses);
}

void instance_stacktrace(void *arg, const struct func_hit *hit)
{
	struct instance *i = arg;

	if (!hit->machine)
		return;
	trace_use_stacks(i->t);
	vcpu_lock(i->t, hit->vcpu);
	if (instance_collects(i))
		instance_record_stack(i, hit->machine, false);
	vcpu_unlock(i->t, hit->vcpu);
	trace_wake(i->t);
}
