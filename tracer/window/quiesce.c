// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * quiesce.c - when has everything in the guest left the payload?
 *
 * The payload runs with the preempt count raised, but for its first few instructions and its last:
 * at these edges an interrupt may preempt the task, and then a frame with an address within the
 * payload stays on that task's stack for as long as it likes to sleep. There nothing has been done
 * yet, or all is done, so such a frame is changed: to go on behind the call, with the return
 * address taken off the stack, or where the call was (payload.h, EDGE_). Everywhere else the
 * payload is left within a microsecond or two of running, and it only takes another look. A frame
 * where nothing but a detour has been done is sent back to the function that it came from. Where
 * instructions of the kernel's own are executed that have moved (moved.h) it goes on where they
 * were.
 *
 * Interrupt frames are recognised by what the CPU pushes (Intel SDM vol. 3, 6.14.2): five words,
 * of which ip lies in the payload, cs and ss are the kernel's, and sp points to right above it or
 * a few words further (the CPU aligns it) in the same stack.
 */
#include "tracer/window/quiesce.h"
#include "tracer/guest/preempt.h"
#include "tracer/guest/site.h"
#include "tracer/guest/tasks.h"
#include "tracer/lib/host-time.h"
#include "tracer/window/moved.h"

#include <errno.h>
#include <stdlib.h>

#define KERNEL_CS    0x10 /* arch/x86/include/asm/segment.h */
#define KERNEL_DS    0x18
#define RFLAGS_FIXED 0x2
#define CR0_PG	     (UINT64_C(1) << 31)
#define STACK_MAX    (64u << 10)
#define LOOK_MS	     1
#define SLICE_MS     20 /* until it is seen that the guest is given up */

struct frame {
	uint64_t ip, cs, flags, sp, ss;
};

struct look {
	struct guest_kernel *g;
	const struct window *w; /* NULL: the kernel's own text is looked at, and only looked at */
	const struct moved *moved; /* NULL: nothing has */
	bool enters;		   /* the way there is looked for, not the way back */
	const struct text_range *range;
	size_t nr_ranges;
	struct task_layout at;
	uint64_t running[MACHINE_MAX_VCPUS]; /* current task of each vCPU */
	unsigned int vcpus;		     /* with those that have been plugged in since */
	uint64_t *words;		     /* of a stack; stack_size bytes */
	bool busy;			     /* someone is inside and has to run on */
	int error;
};

static uint64_t text_va(const struct look *l)
{
	return l->w->header.va + WINDOW_TEXT;
}

static bool in_text(const struct look *l, uint64_t ip)
{
	if (l->enters)
		return moved_to(l->moved, ip);
	for (size_t i = 0; i < l->nr_ranges; i++)
		if (ip - l->range[i].va < l->range[i].size)
			return true;
	return false;
}

static const struct payload_way_out *edge_at(const struct look *l, uint64_t ip)
{
	const struct payload_header *h;

	if (!l->w)
		return NULL;
	h = &l->w->header;
	for (uint32_t i = 0; i < h->nr_edges; i++)
		if (ip - text_va(l) >= h->edge[i].from && ip - text_va(l) < h->edge[i].to)
			return &h->edge[i];
	return NULL;
}

/*
 * Where the function goes on whose own instructions are executed here, or that has come here by a
 * detour and has done nothing yet but some of its first ones; 0: it is not there.
 */
static uint64_t goes_on_at(const struct look *l, uint64_t ip, const struct payload_way_out *edge)
{
	uint64_t off;

	if (l->enters)
		return moved_to(l->moved, ip);
	if (!l->w)
		return 0;
	off = l->moved ? moved_home(l->moved, ip) : 0;
	if (off)
		return off;
	off = ip - text_va(l);
	for (size_t i = 0; i < PAYLOAD_DETOURS; i++) {
		const struct payload_detour *d = &l->w->header.detour[i];

		if (!d->va)
			continue;
		if (edge && edge->how == EDGE_DETOUR && edge->from == d->entry)
			return d->va;
		if (off - d->rest <= d->size && d->size <= DETOUR_INSNS)
			return d->va + (off - d->rest);
	}
	return 0;
}

static void frame_move(struct look *l, uint64_t va, uint64_t ip)
{
	int ret = guest_write(l->g, va, &ip, sizeof(ip));

	if (ret)
		l->error = ret;
}

/* The interrupted task goes on behind the call of the payload, or at the site once more. */
static void frame_evict(struct look *l, uint64_t va, const struct frame *f,
			const struct payload_way_out *edge)
{
	uint32_t site = EDGE_SITE_OF(edge->how) ? EDGE_SITE_OF(edge->how) : SITE_SIZE;
	uint64_t sp = f->sp + 8 * EDGE_PUSHED_OF(edge->how);
	struct frame out = *f;
	int ret = guest_read(l->g, sp, &out.ip, sizeof(out.ip));

	if (EDGE_KIND(edge->how) == EDGE_REDO)
		out.ip -= site;
	out.sp = sp + 8;
	if (!ret && l->moved && moved_home(l->moved, out.ip))
		out.ip = moved_home(l->moved, out.ip);
	if (!ret && !in_text(l, out.ip))
		ret = guest_write(l->g, va, &out, sizeof(out));
	if (ret)
		l->error = ret;
}

/* A stack's words from `from` (8-byte aligned) on. */
static void scan_words(struct look *l, uint64_t from, size_t nr)
{
	for (size_t i = 0; i + 5 <= nr; i++) {
		const struct frame *f = (const struct frame *)&l->words[i];
		const struct payload_way_out *edge;
		uint64_t va = from + 8 * i, home;

		if (!in_text(l, f->ip) || f->cs != KERNEL_CS || !(f->flags & RFLAGS_FIXED) ||
		    (f->ss != KERNEL_DS && f->ss) || f->sp - va < sizeof(*f) ||
		    f->sp - va > sizeof(*f) + 16)
			continue;
		edge = edge_at(l, f->ip);
		home = goes_on_at(l, f->ip, edge);
		if (home)
			frame_move(l, va, home);
		else if (edge)
			frame_evict(l, va, f, edge);
		else
			l->busy = true;
	}
}

static void scan_stack(struct look *l, uint64_t stack, uint64_t sp)
{
	uint64_t top = stack + l->at.stack_size;

	sp &= ~UINT64_C(7);
	if (sp < stack || sp >= top)
		sp = stack; /* what is there to be believed? all of it is looked at */
	if (!guest_read(l->g, sp, l->words, (size_t)(top - sp)))
		scan_words(l, sp, (size_t)(top - sp) / 8);
}

static bool scan_task(void *arg, const struct task *task)
{
	struct look *l = arg;

	for (unsigned int i = 0; i < l->vcpus; i++)
		if (l->running[i] == task->addr)
			return true;
	scan_stack(l, task->stack, task->sp);
	return !l->error;
}

/* Interrupts run on stacks of their own: they end before anything is said about a vCPU. */
static void look_at_vcpu(struct look *l, unsigned int vcpu)
{
	struct machine_regs regs;
	struct machine_sregs sregs;
	struct task task;
	int ret = machine_get_regs(l->g->m, vcpu, &regs);

	l->running[vcpu] = 0;
	if (ret == -ENODEV)
		return; /* it was unplugged: it has no task */
	if (!ret)
		ret = machine_get_sregs(l->g->m, vcpu, &sregs);
	if (ret) {
		l->error = ret;
		return;
	}
	if (!(sregs.cr0 & CR0_PG))
		return; /* not started yet: it has no kernel addresses, and no task */
	l->running[vcpu] = guest_current(l->g, vcpu);
	if (sregs.cpl == 3)
		return; /* its kernel stack is empty */
	if (in_text(l, regs.rip) || preempt_in_interrupt(guest_preempt_count(l->g, vcpu)) ||
	    task_read(l->g, &l->at, l->running[vcpu], &task) ||
	    regs.rsp - task.stack >= l->at.stack_size)
		l->busy = true;
	else
		scan_stack(l, task.stack, regs.rsp);
}

/* What an interrupt has come into is on the task's stack, or on that of interrupts. */
static void enter_vcpu_stacks(struct look *l, unsigned int vcpu, const struct task *task,
			      uint64_t sp)
{
	uint64_t top = guest_irq_stack(l->g, vcpu) + 8, size = l->at.stack_size;

	if (sp - task->stack < size) {
		scan_stack(l, task->stack, sp);
	} else if (top != 8 && top - sp <= IRQ_STACK_SIZE && size >= IRQ_STACK_SIZE) {
		scan_words(l, sp, guest_read(l->g, sp, l->words, top - sp) ? 0 : (top - sp) / 8);
		scan_stack(l, task->stack, task->stack);
	} else {
		l->busy = true;
	}
}

static void enter_vcpu(struct look *l, unsigned int vcpu)
{
	struct machine_regs regs;
	struct machine_sregs sregs = {0};
	struct task task;
	int ret = machine_get_regs(l->g->m, vcpu, &regs);

	l->running[vcpu] = 0;
	if (ret == -ENODEV)
		return;
	if (!ret)
		ret = machine_get_sregs(l->g->m, vcpu, &sregs);
	if (ret || !(sregs.cr0 & CR0_PG)) {
		l->error = ret;
		return;
	}
	l->running[vcpu] = guest_current(l->g, vcpu);
	if (sregs.cpl == 3)
		return;
	if (in_text(l, regs.rip)) {
		regs.rip = moved_to(l->moved, regs.rip);
		l->error = machine_set_regs(l->g->m, vcpu, &regs);
	}
	if (task_read(l->g, &l->at, l->running[vcpu], &task))
		l->busy = true;
	else
		enter_vcpu_stacks(l, vcpu, &task, regs.rsp & ~UINT64_C(7));
}

/* The machine is paused. */
static void look(struct look *l)
{
	int ret = machine_look_at_vcpus(l->g->m);

	l->busy = false;
	l->error = ret < 0 ? ret : 0;
	l->vcpus = ret < 0 ? 0 : (unsigned int)ret;
	for (unsigned int i = 0; i < l->vcpus && !l->error; i++)
		l->enters ? enter_vcpu(l, i) : look_at_vcpu(l, i);
	if (l->error || l->busy)
		return;
	ret = tasks_each(l->g, &l->at, scan_task, l);
	if (ret)
		l->error = ret;
}

static bool is_wanted(const struct look *l, const struct quiesce_patience *patience)
{
	return patience->to_undo || !guest_is_given_up(l->g);
}

/* A guest that has stood runs for as long at least. */
static void run_on(const struct look *l, const struct quiesce_patience *patience, int64_t stood_ms)
{
	int64_t left = stood_ms > LOOK_MS ? stood_ms : LOOK_MS;

	while (left > 0 && is_wanted(l, patience)) {
		int64_t ms = left < SLICE_MS ? left : SLICE_MS;
		struct timespec time = {.tv_nsec = ms * NS_PER_MS};

		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		left -= ms;
	}
}

static int look_until_quiet(struct look *l, const struct quiesce_patience *patience,
			    int (*then)(void *arg), void *arg)
{
	int64_t end = l->g->now_ms() + patience->ms;

	for (;;) {
		int64_t begin = l->g->now_ms();
		int ret = 0;

		machine_pause_for(l->g->m, "waiting until no vCPU is in code that goes");
		look(l);
		if (!l->error && !l->busy && then)
			ret = then(arg);
		machine_resume(l->g->m);
		if (l->error)
			return l->error;
		if (!l->busy)
			return ret;
		if (machine_has_ended(l->g->m, NULL))
			return -ESRCH; /* and whoever is inside stays there */
		if (l->g->now_ms() >= end)
			return -ETIMEDOUT;
		run_on(l, patience, l->g->now_ms() - begin);
		if (!is_wanted(l, patience))
			return -ECANCELED;
	}
}

static int look_begin(struct look *l, const struct guestsym *gs)
{
	int ret = task_layout_learn(&l->at, gs, l->g);

	if (ret)
		return ret;
	if (l->at.stack_size > STACK_MAX)
		return -ENODATA;
	l->words = malloc(l->at.stack_size);
	return l->words ? 0 : -ENOMEM;
}

static int quiesce_look(struct look *l, const struct guestsym *gs,
			const struct quiesce_patience *patience, int (*then)(void *arg), void *arg)
{
	int ret = look_begin(l, gs);

	if (ret)
		return ret;
	ret = look_until_quiet(l, patience, then, arg);
	free(l->words);
	return ret;
}

int quiesce(struct guest_kernel *g, const struct guestsym *gs, const struct window *w,
	    struct quiesce_patience patience)
{
	struct moved *m = malloc(sizeof(*m));
	struct window read = *w;
	int ret = m ? moved_read(&read, m) : -ENOMEM;

	if (!ret) {
		const struct text_range text[] = {
			{w->header.va + WINDOW_TEXT, w->header.text_size},
			{m->va, m->nr * MOVED_SIZE},
		};
		struct look l = {.g = g, .w = w, .moved = m, .range = text, .nr_ranges = 2};

		ret = quiesce_look(&l, gs, &patience, NULL, NULL);
	}
	free(m);
	return ret;
}

int quiesce_enter(struct guest_kernel *g, const struct guestsym *gs, const struct moved *m)
{
	struct look l = {.g = g, .moved = m, .enters = true};
	int ret = look_begin(&l, gs);

	if (ret)
		return ret;
	look(&l);
	free(l.words);
	if (l.error)
		return l.error;
	return l.busy ? -EBUSY : 0;
}

int quiesce_then(struct guest_kernel *g, const struct guestsym *gs, const struct text_range *range,
		 size_t n, struct quiesce_patience patience, int (*then)(void *arg), void *arg)
{
	struct look l = {.g = g, .range = range, .nr_ranges = n};

	return quiesce_look(&l, gs, &patience, then, arg);
}
