// SPDX-License-Identifier: GPL-2.0-or-later
/* kprobe-hit.c - the records of probe events. */
#include "tracer/collect/collect.h"
#include "tracer/core/lock.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/events/define/fetch.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/view.h"
#include "tracer/output/output.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"
#include "tracer/unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What fits into a page of the ring by itself, as with the kernel. */
enum { RECORD_MAX = 4000, DEPTH_MASK = 0xf };

/* A hit while it is dealt with; the vCPU's lock is held. */
struct event_hit {
	struct trace *t;
	const struct machine_hit *hit;
	const struct guest_probe_hit *guest; /* NULL: it is a trap's */
	const struct probe_event *pe;
	struct guest_state state;
	uint64_t task;
	size_t len;
	union {
		struct trace_entry e;
		struct {
			struct trace_entry e;
			uint64_t ip, ret_ip; /* the latter of returns only */
		} TRACE_ENTRY_LAYOUT probe;
		uint8_t bytes[RECORD_MAX];
	} record;
};

static bool is_uprobe(const struct event_hit *h)
{
	return h->guest && h->pe->def->kind == PROBE_UPROBE;
}

static int read_memory(void *arg, bool user, uint64_t va, void *buf, size_t len)
{
	struct event_hit *h = arg;

	return user ? user_read(&h->t->guest, &h->t->user, h->task, va, buf, len)
		    : guest_read(&h->t->guest, va, buf, len);
}

static size_t print_symbol(void *arg, uint64_t addr, char *buf, size_t size)
{
	return trace_print_symbol(((const struct event_hit *)arg)->t, addr, buf, size);
}

/*
 * How much deeper preemption is off in the kernel's own handler of an fprobe than in that of a
 * kprobe, which we have instead: to hold off ftrace's recursion disables it, which fprobe_handler()
 * and kprobe_ftrace_handler() both do, and of returns fprobe_exit_handler() alone
 * (kernel/trace/fprobe.c, 6.12).
 */
static int more_disabled(const struct probe_def *def)
{
	return def->kind == PROBE_TPROBE || (def->kind == PROBE_FPROBE && def->is_return);
}

/*
 * The kernel's own records have the state of the handler, too, less what its ring buffer is thought
 * to have added (trace_event_buffer_reserve(), kernel/trace/trace_events.c, 6.1).
 */
static void state_of_handler(struct event_hit *h)
{
	int more = more_disabled(h->pe->def) - 1, depth = h->state.preempt_count & DEPTH_MASK;

	/* That of a uprobe disables it where the kernel's does not. */
	if (!is_uprobe(h) && !guestsym_addr(h->t->gs, "preempt_schedule"))
		return;
	depth = depth + more < 0 ? 0 : depth + more > DEPTH_MASK ? DEPTH_MASK : depth + more;
	h->state.preempt_count = (uint8_t)((h->state.preempt_count & ~DEPTH_MASK) | depth);
}

/* What there is in user mode alone; the machine has no segments of a task's. */
static struct fetch_user user_of(const struct event_hit *h)
{
	const struct guest_probe_hit *at = h->guest;

	return (struct fetch_user){
		.cs = at->user.cs,
		.ss = at->user.ss,
		.orig_ax = at->user.orig_ax,
		.file = at->func - h->pe->def->offset,
	};
}

/* Behind the head that all records have. */
static void place_take(struct event_hit *h)
{
	h->record.probe.ip = is_uprobe(h) ? h->guest->func : h->pe->ip;
	if (h->guest && h->pe->def->is_return)
		h->record.probe.ret_ip = h->guest->ret_ip;
}

/* False: it has more strings than a record may have. */
static bool record_make(struct event_hit *h)
{
	const struct fetch_user user = is_uprobe(h) ? user_of(h) : (struct fetch_user){0};
	const struct probe_def *def = h->pe->def;
	char comm[GUEST_COMM_LEN + 1] = "";
	const struct fetch_hit at = {
		.regs = h->guest ? &h->guest->regs : h->hit->regs,
		.args = h->guest && def->is_return ? h->guest->args : NULL,
		/* behind the kernel's own int3, as its probes have it */
		.ip = h->guest ? h->guest->regs.rip : h->pe->ip + 1,
		.user = is_uprobe(h) ? &user : NULL,
		.comm = comm,
		.read = read_memory,
		.symbol = print_symbol,
		.arg = h,
	};

	guest_get_state(&h->t->guest, h->hit->vcpu, h->hit->regs, &h->state);
	if (h->guest)
		state_of_handler(h);
	h->task = guest_current(&h->t->guest, h->hit->vcpu);
	memcpy(comm, h->state.comm, sizeof(h->state.comm));
	h->record.e = (struct trace_entry){
		.type = events_list(h->t->trace_events)->v[h->pe->event].id,
		.flags = h->state.flags,
		.preempt_count = h->state.preempt_count,
		.pid = h->state.pid,
	};
	place_take(h);
	h->len = fetch_args(def->arg, def->nr_args, &at, h->record.bytes,
			    def->is_return ? PROBE_RETURN_HEAD : PROBE_HEAD, RECORD_MAX);
	return h->len;
}

/* From where the handler returns to: it is a task's that has come from user mode. */
static void handler_stack(const struct event_hit *h, struct event_stack *stack)
{
	struct trace *t = h->t;
	uint64_t sp = h->hit->regs->rsp + GUEST_UPROBE_FRAME * sizeof(uint64_t), ip;

	stack->n = 0;
	if (!guest_read(&t->guest, sp, &ip, sizeof(ip)))
		stack->n = unwind_entry(trace_unwind(t), &t->guest, ip, sp + sizeof(ip),
					h->hit->regs->rbp, stack->ip, NULL, EVENT_STACK_DEPTH);
}

/* Where the kernel has its own: as if the site's call had been made. */
static void stack_make(const struct event_hit *h, bool user, struct event_stack *stack)
{
	struct trace *t = h->t;
	const struct unwind *u = trace_unwind(t);

	stack->has_user = user;
	if (user)
		trace_user_stack(t, h->hit->vcpu, &stack->tgid, stack->user_ip,
				 EVENT_USER_STACK_DEPTH);
	if (is_uprobe(h)) {
		handler_stack(h, stack);
		return;
	}
	if (h->guest) {
		stack->n = unwind_stack(u, &t->guest, &h->guest->regs, stack->ip, NULL,
					EVENT_STACK_DEPTH);
		return;
	}
	stack->n = unwind_entry(u, &t->guest, h->hit->va + SITE_SIZE, h->hit->regs->rsp,
				h->hit->regs->rbp, stack->ip, NULL, EVENT_STACK_DEPTH);
}

static void record_take(struct instance *i, const struct event_hit *h)
{
	bool wants_stack = instance_wants_event_stacks(i, h->pe->event);
	unsigned int vcpu = h->hit->vcpu;
	struct clock_reading now;
	struct event_stack stack;
	struct event_view view;
	uint64_t ts;

	if (!pid_filter_traces(&i->event_pids, h->state.pid))
		return;
	clock_begin(i->clock, h->t, vcpu, h->hit->tsc, &now);
	ts = instance_time(i, &now, h->hit->tsc);
	instances_note_task(h->t, &h->state);
	if (wants_stack)
		stack_make(h, i->options & OUTPUT_USER_STACKTRACE, &stack);
	event_view_init(&view, i, vcpu, h->record.bytes, h->len, ts, wants_stack ? &stack : NULL);
	view.tsc = h->hit->tsc;
	instance_take_event(i, h->pe->event, &view);
}

/* True: triggers were asked. */
static bool hit_record(struct event_hit *h)
{
	bool made = false, triggers = false;

	for (struct instance *i = h->t->instances; i; i = i->next) {
		if (!instance_takes_event(i, h->hit->vcpu, h->pe->event))
			continue;
		if (!made && !record_make(h))
			return false;
		made = true;
		record_take(i, h);
		triggers = triggers || i->events[h->pe->event].triggers;
	}
	return triggers;
}

/* What triggers have set off; no lock is held. */
static void do_deferred(struct trace *t)
{
	machine_pause_for(t->m, "doing what a probe has asked for");
	record_do_deferred(t);
	machine_resume(t->m);
}

static bool of_guest_probe(const struct probe_event *pe, const struct guest_probe_hit *at)
{
	return pe->in_guest && pe->wanted && pe->guest.row == at->row;
}

/* True: triggers were asked. */
static bool take_guests(struct probe_events *p, const struct machine_hit *call)
{
	struct trace *t = p->t;
	struct guest_probe_hit at;
	struct event_hit h = {.t = t, .hit = call, .guest = &at};
	bool triggers = false;

	if (!guest_probe_look(p->guest, call, &at))
		return false;
	vcpu_lock(t, call->vcpu);
	collect_drain(t, call->vcpu);
	trace_seen(t, call->tsc);
	for (struct probe_event *pe = p->first; pe; pe = pe->next) {
		if (!of_guest_probe(pe, &at))
			continue;
		h.pe = pe;
		if (pe->def->kind == PROBE_TPROBE)
			at.regs.rip = pe->ip + SITE_SIZE; /* behind the site's call */
		triggers = hit_record(&h) || triggers;
	}
	vcpu_unlock(t, call->vcpu);
	return triggers;
}

void probe_events_call(struct probe_events *p, const struct machine_hit *call)
{
	take_guests(p, call);
	trace_wake(p->t);
}

void probe_events_stop(struct probe_events *p, const struct machine_hit *hit)
{
	if (take_guests(p, hit))
		do_deferred(p->t);
	trace_wake(p->t);
}

void probe_events_hit(struct probe_events *p, uint32_t probe, const struct machine_hit *hit)
{
	struct trace *t = p->t;
	struct event_hit h = {.t = t, .hit = hit};
	bool triggers = false;

	vcpu_lock(t, hit->vcpu);
	collect_drain(t, hit->vcpu); /* what the guest has recorded by itself came before */
	trace_seen(t, hit->tsc);
	for (struct probe_event *pe = p->first; pe; pe = pe->next) {
		if (pe->probe != probe || !pe->wanted)
			continue;
		atomic_fetch_add_explicit(&pe->hits, 1, memory_order_relaxed);
		h.pe = pe;
		triggers = hit_record(&h) || triggers;
	}
	vcpu_unlock(t, hit->vcpu);
	if (triggers)
		do_deferred(t);
	trace_wake(t);
}
