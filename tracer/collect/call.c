// SPDX-License-Identifier: GPL-2.0-or-later
/* call.c - answers vCPUs that wait for the host: payload.h, PAYLOAD_CALL_. */
#include "tracer/collect/internal.h"
#include "tracer/core/lock.h"
#include "tracer/guest/preempt.h"
#include "tracer/lib/host-time.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/unwind/unwind.h"

#include <string.h>

/* How often interrupts may wait for a stack trace: a call takes up to some milliseconds. */
#define INTERRUPT_WAITS	    50
#define INTERRUPT_PERIOD_MS 1000

static bool call_made(struct collector *c, unsigned int vcpu)
{
	uint32_t state = PAYLOAD_CALL_NONE;

	return !window_read(c->w, ctl_at(vcpu, CTL_CALL), &state, sizeof(state)) &&
	       state == PAYLOAD_CALL_MADE;
}

bool call_waits(struct collector *c, unsigned int vcpu)
{
	uint8_t words[CTL_CALL_VAIN + 4 - CTL_CALL];
	uint32_t state, vain;

	if (window_read(c->w, ctl_at(vcpu, CTL_CALL), words, sizeof(words)))
		return false;
	memcpy(&state, words, sizeof(state));
	memcpy(&vain, words + (CTL_CALL_VAIN - CTL_CALL), sizeof(vain));
	if (vain != c->vain[vcpu])
		trace_note(c->t,
			   "vCPU %u has waited for hvtrace in vain (is this host overloaded?): "
			   "if it was about to patch its own text, that may have failed",
			   vcpu);
	if (vain != c->vain[vcpu])
		ctl_put(c, vcpu, CTL_CALL_HEARD, vain);
	c->vain[vcpu] = vain;
	return state == PAYLOAD_CALL_MADE;
}

/*
 * Whatever a guest may claim: no call comes from what is no site, or fires once. (Where the trace
 * waits for ftrace_init() to return there is no probe either.)
 */
static bool call_is_possible(const struct trace *t, uint64_t probe)
{
	return probe < t->probes.nr && !(t->probes.v[probe].flags & PROBE_FL_ONCE);
}

struct call {
	struct machine_hit hit;
	struct machine_regs regs;
	uint32_t preempt_count;
};

/* It comes from the payload's own code: of an event, or of a probe. */
static bool call_is_payload(const struct collector *c, uint64_t va)
{
	const struct payload_header *h = &c->w->header;

	return va - (h->va + WINDOW_TEXT) < h->text_size;
}

/* What the guest has put into its control block is a hit, as if it had exited. False: it is none.
 */
static bool call_look(struct collector *c, unsigned int vcpu, struct call *call)
{
	struct trace *t = c->t;
	uint8_t ctl[CTL_CALL_VAIN]; /* from CTL_CALL on: none of it is written by another thread */
	uint32_t ip;

	memset(call, 0, sizeof(*call));
	if (!call_made(c, vcpu) ||
	    window_read(c->w, ctl_at(vcpu, CTL_CALL), ctl + CTL_CALL, sizeof(ctl) - CTL_CALL))
		return false;
	memcpy(&ip, ctl + CTL_CALL_IP, sizeof(ip));
	memcpy(&call->hit.tsc, ctl + CTL_CALL_TSC, sizeof(call->hit.tsc));
	memcpy(&call->regs.rsp, ctl + CTL_CALL_SP, sizeof(call->regs.rsp));
	memcpy(&call->regs.rbp, ctl + CTL_CALL_BP, sizeof(call->regs.rbp));
	memcpy(&call->regs.rdi, ctl + CTL_CALL_DI, sizeof(call->regs.rdi));
	memcpy(&call->regs.rflags, ctl + CTL_CALL_FL, sizeof(call->regs.rflags));
	memcpy(&call->preempt_count, ctl + CTL_CALL_PC, sizeof(call->preempt_count));
	call->preempt_count--;
	call->hit.vcpu = vcpu;
	call->hit.regs = &call->regs;
	call->hit.va = KERNEL_HALF | ip;
	call->hit.cookie = call_is_payload(c, call->hit.va)
				   ? UINT32_MAX
				   : probe_at_site(t, call->hit.va - t->guest.slide);
	return true;
}

static void call_hit(struct collector *c, const struct call *call)
{
	struct guest_call *made = &c->t->guest.call[call->hit.vcpu];

	if (!call_is_possible(c->t, call->hit.cookie))
		return;
	*made = (struct guest_call){.made = true, .preempt_count = call->preempt_count};
	c->ops->hit(c->t, &call->hit);
	made->made = false;
}

/* True: it is no hit yet, but has to be made again. */
static bool call_is_early(const struct collector *c, const struct call *call)
{
	return call_is_possible(c->t, call->hit.cookie) &&
	       !(call->preempt_count & ~PREEMPT_NO_RESCHED) &&
	       c->ops->is_early(c->t, &c->t->probes.v[call->hit.cookie]);
}

/*
 * A vCPU that waits in every function of its timer interrupt is back in that by the time that it
 * has left it, for good.
 */
static void interrupt_waits(struct collector *c, unsigned int vcpu, int64_t now)
{
	struct interrupt_waits *w = &c->interrupts[vcpu];

	if (now - w->since_ms >= INTERRUPT_PERIOD_MS)
		*w = (struct interrupt_waits){.since_ms = now};
	if (++w->nr < INTERRUPT_WAITS)
		return;
	w->over = true;
	ctl_put(c, vcpu, CTL_NO_WAIT, 1);
}

void interrupts_may_wait(struct collector *c, unsigned int vcpu)
{
	struct interrupt_waits *w = &c->interrupts[vcpu];

	if (!w->over || host_ms() - w->since_ms < INTERRUPT_PERIOD_MS)
		return;
	w->over = false;
	ctl_put(c, vcpu, CTL_NO_WAIT, 0);
}

static bool call_is_probe(const struct collector *c, const struct call *call)
{
	return call->hit.va == c->w->header.va + WINDOW_TEXT + trampoline_text(c->t)->kprobe_call;
}

static bool call_is_switch(const struct collector *c, const struct call *call)
{
	return call->hit.va == c->w->header.va + WINDOW_TEXT + trampoline_text(c->t)->switch_call;
}

/* The stack pointer at the site that has ended a window, of which the lower half is told; 0: none.
 */
static uint64_t window_end(const struct call *call)
{
	uint64_t sp = (call->regs.rsp & KERNEL_HALF) | call->regs.rdi >> 32;

	if (!(call->regs.rdi >> 32))
		return 0;
	return sp < call->regs.rsp ? sp + (UINT64_C(1) << 32) : sp;
}

static struct event_stack *stack_add(struct collector *c, unsigned int vcpu, uint32_t seq,
				     uint64_t ip, uint64_t sp, uint64_t bp)
{
	struct trace *t = c->t;
	struct event_stack *s = event_ring_add_stack(&c->events[vcpu], seq);

	s->n = unwind_entry(trace_unwind(t), &t->guest, ip, sp, bp, s->ip, NULL, EVENT_STACK_DEPTH);
	return s;
}

static void user_stack_add(struct collector *c, unsigned int vcpu, struct event_stack *s)
{
	s->has_user = c->ops->user_stacks(c->t);
	if (s->has_user)
		trace_user_stack(c->t, vcpu, &s->tgid, s->user_ip, EVENT_USER_STACK_DEPTH);
}

/* What called is the innermost frame, as in the kernel's own. */
void collector_event_stack(struct collector *c, unsigned int vcpu, uint32_t seq, uint64_t sp,
			   uint64_t bp)
{
	struct guest_kernel *g = &c->t->guest;
	uint64_t ip;

	if (guest_read(g, sp, &ip, sizeof(ip)))
		return;
	if (call_is_payload(c, ip)) /* of what the guest writes into its own trace: print.S */
		sp += PRINT_COMMIT_FRAME;
	if (!guest_read(g, sp, &ip, sizeof(ip)))
		user_stack_add(c, vcpu, stack_add(c, vcpu, seq, ip, sp + sizeof(ip), bp));
}

/* Of a window it is where the site is that has ended it. */
static void window_stack(struct collector *c, const struct call *call)
{
	uint64_t sp = window_end(call), ip;

	if (!guest_read(&c->t->guest, sp - sizeof(ip), &ip, sizeof(ip)))
		stack_add(c, call->hit.vcpu, (uint32_t)call->regs.rdi, ip - SITE_SIZE, sp,
			  call->regs.rbp);
}

static void record_stack(struct collector *c, const struct call *call)
{
	vcpu_lock(c->t, call->hit.vcpu);
	if (window_end(call))
		window_stack(c, call);
	else
		collector_event_stack(c, call->hit.vcpu, (uint32_t)call->regs.rdi, call->regs.rsp,
				      call->regs.rbp);
	vcpu_unlock(c->t, call->hit.vcpu);
}

static void probe_hit(struct collector *c, const struct call *call)
{
	struct guest_call *made = &c->t->guest.call[call->hit.vcpu];

	*made = (struct guest_call){.made = true, .preempt_count = call->preempt_count};
	c->ops->probe_event(c->t, &call->hit);
	made->made = false;
}

static bool call_is_of_vcpu(struct collector *c, const struct call *call)
{
	uint64_t probe = call->hit.cookie;

	return call_is_payload(c, call->hit.va) ||
	       (probe < c->t->probes.nr && guards_are_stacks(c->t->probes.v[probe].guards));
}

static void call_answer(struct collector *c, const struct call *call)
{
	bool probe = call_is_probe(c, call);

	if (probe)
		probe_hit(c, call);
	else if (call_is_switch(c, call))
		c->ops->switch_on(c->t);
	else if (call_is_payload(c, call->hit.va))
		record_stack(c, call);
	else
		call_hit(c, call);
	if (!probe && call->preempt_count & INTERRUPT_COUNT_MASK)
		interrupt_waits(c, call->hit.vcpu, host_ms());
}

/*
 * For a stack or registers no other vCPU has to stand, and this one does: it waits for us as long
 * again once it is told that its call is TAKEN. (It may have lost its patience just now: then what
 * it leaves behind is overwritten by DONE.) False: it is a call of another kind, or none.
 */
static bool call_serve_vcpu(struct collector *c, unsigned int vcpu)
{
	struct trace *t = c->t;
	struct call call;
	bool mine = false;

	change_lock(t);
	if (call_look(c, vcpu, &call))
		mine = call_is_of_vcpu(c, &call);
	if (mine) {
		ctl_put(c, vcpu, CTL_CALL, PAYLOAD_CALL_TAKEN);
		call_answer(c, &call);
		ctl_put(c, vcpu, CTL_CALL, PAYLOAD_CALL_DONE);
	}
	change_unlock(t);
	return mine;
}

/*
 * With the vCPUs paused: one that has lost its patience has either taken its call back by now, or
 * waits for this answer.
 */
static void call_serve_paused(struct collector *c, unsigned int vcpu)
{
	struct call call;

	machine_pause_for(c->t->m, "answering a vCPU's call");
	change_lock(c->t); /* instances stay as long as a command of theirs runs */
	if (call_look(c, vcpu, &call)) {
		bool early = call_is_early(c, &call);

		if (!early)
			call_hit(c, &call);
		ctl_put(c, vcpu, CTL_CALL, early ? PAYLOAD_CALL_AGAIN : PAYLOAD_CALL_DONE);
	}
	change_unlock(c->t);
	machine_resume(c->t->m);
}

void call_serve(struct collector *c, unsigned int vcpu)
{
	machine_serve_begin(c->t->m, "answering a vCPU's call");
	if (!call_serve_vcpu(c, vcpu))
		call_serve_paused(c, vcpu);
	machine_serve_end(c->t->m);
}
