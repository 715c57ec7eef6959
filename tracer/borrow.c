// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * borrow.c - makes a running guest's kernel call functions of its own for us.
 *
 * Traps wait at functions that are entered at safe points. The first suitable hit borrows its vCPU:
 * below its stack goes a frame with all of its registers, and it is sent to the function that is
 * to be called, which returns to a function that does nothing (the landing). There it is trapped,
 * and gets the next call or its registers back.
 *
 * The guest does not depend on us once a call has begun. Without the trap the landing returns to
 * the end of the kernel's own interrupt return, which loads the registers from the frame. So a
 * tracer that is killed meanwhile costs the guest the memory that the call has allocated, no more.
 *
 * The borrowed task may be preempted in the function and go on on another vCPU: it is known again
 * by its stack pointer.
 */
#include "tracer/borrow.h"
#include "tracer/entry.h"
#include "tracer/host-time.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE_SIZE   5
#define MAX_SITES   24
#define STACK_ROOM  8192  /* left below the borrowed place */
#define STACK_MAX   32768 /* THREAD_SIZE with KASAN, 16384 without */
#define IRQ_STACK   16384 /* IRQ_STACK_SIZE (arch/x86/include/asm/page_64_types.h) */
#define STACK_SPACE 128	  /* between what the task has on its stack and the frame */

static const uint8_t nop5[SITE_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/*
 * schedule() is entered by whatever sleeps or is preempted: with interrupts on and no spinlock
 * held, but perhaps with its state already set to sleeping, or with a mutex. Softirq handlers start
 * with interrupts on and without locks of their own, system calls without any lock, as do the
 * functions of work items.
 */
static const struct place {
	const char *name;
	enum borrow_where most; /* what may be done there */
} places[] = {
	{"schedule", BORROW_TASK},
	{"run_timer_softirq", BORROW_ANY},
	{"rcu_core_si", BORROW_ANY},
	{"net_rx_action", BORROW_ANY},
	{"vmstat_update", BORROW_SLEEP},
	{"flush_to_ldisc", BORROW_SLEEP},
	{"wb_workfn", BORROW_SLEEP},
	{"__x64_sys_read", BORROW_SLEEP},
	{"__x64_sys_write", BORROW_SLEEP},
	{"__x64_sys_openat", BORROW_SLEEP},
	{"__x64_sys_newfstatat", BORROW_SLEEP},
	{"__x64_sys_poll", BORROW_SLEEP},
	{"__x64_sys_ppoll", BORROW_SLEEP},
	{"__x64_sys_select", BORROW_SLEEP},
	{"__x64_sys_pselect6", BORROW_SLEEP},
	{"__x64_sys_epoll_wait", BORROW_SLEEP},
	{"__x64_sys_futex", BORROW_SLEEP},
	{"__x64_sys_nanosleep", BORROW_SLEEP},
	{"__x64_sys_clock_nanosleep", BORROW_SLEEP},
	{"__x64_sys_wait4", BORROW_SLEEP},
	{"__x64_sys_getppid", BORROW_SLEEP},
	{"__x64_sys_sched_yield", BORROW_SLEEP},
};

#define NR_PLACES (sizeof(places) / sizeof(places[0]))

/* The function that borrowed calls return to. It does nothing, and hardly anyone calls it. */
static const char landing_name[] = "sys_ni_syscall";

/*
 * restore_regs_and_return_to_kernel: the end of an interrupt's return, which loads all registers
 * from a struct pt_regs (arch/x86/entry/entry_64.S, POP_REGS and what follows).
 */
static const char restore_name[] = "restore_regs_and_return_to_kernel";
static const uint8_t restore_code[] = {
	0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, /* pop %r15, %r14, %r13, %r12 */
	0x5d, 0x5b,					/* pop %rbp, %rbx */
	0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58, /* pop %r11, %r10, %r9, %r8 */
	0x58, 0x59, 0x5a, 0x5e, 0x5f,			/* pop %rax, %rcx, %rdx, %rsi, %rdi */
	0x48, 0x83, 0xc4, 0x08,				/* add $8, %rsp */
};

/* What lies on the stack of a borrowed task, from its stack pointer in the called function on. */
struct frame {
	uint64_t landing; /* where the function returns to */
	uint64_t restore; /* where the landing returns to, when nobody traps it */
	struct {	  /* struct pt_regs */
		uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
		uint64_t orig_rax, rip, cs, eflags, rsp, ss;
	} regs;
};

enum borrow_state {
	BORROW_IDLE,
	BORROW_WAITING, /* for a safe point */
	BORROW_CALLING,
	BORROW_DONE,
};

struct borrow {
	const struct guestsym *gs;
	struct guest_kernel *g;
	uint64_t task_stack;  /* offset in task_struct */
	uint64_t irq_stack;   /* per-CPU offset of the pointer to the top word, or GUEST_NONE */
	borrow_lend_fn *lend; /* NULL: nobody has any sites */
	void *lend_arg;
	pthread_cond_t change;
	/*
	 * For the rest. Taken with the machine paused: a vCPU whose hit waits for it must not hold
	 * up another's pause.
	 */
	pthread_mutex_t lock;
	enum borrow_state state;
	bool cancelled;
	int error; /* of the machine; the state is BORROW_DONE then */
	enum borrow_where where;
	uint64_t landing, restore;
	uint64_t set[MAX_SITES]; /* traps that are in the guest */
	size_t nr_set;
	struct borrow_call *calls;
	size_t next, n;
	struct machine_regs saved; /* of the borrowed task */
	uint64_t sp;		   /* of its frame */
};

static uint64_t symbol_or_none(const struct guestsym *gs, const char *name)
{
	const struct guestsym_symbol *sym = guestsym_lookup(gs, name);

	return sym ? sym->addr : GUEST_NONE;
}

/* A member of pcpu_hot from 6.2 to 6.14, otherwise a variable of its own. */
static uint64_t irq_stack_pointer(const struct guestsym *gs)
{
	uint64_t hot = symbol_or_none(gs, "pcpu_hot");
	struct guestsym_field f;

	if (hot != GUEST_NONE && !guestsym_field(gs, "pcpu_hot.hardirq_stack_ptr", &f))
		return hot + f.offset;
	return symbol_or_none(gs, "hardirq_stack_ptr");
}

struct borrow *borrow_new(const struct guestsym *gs, struct guest_kernel *g)
{
	struct borrow *b = calloc(1, sizeof(*b));
	struct guestsym_field f;
	pthread_condattr_t attr;

	if (!b)
		return NULL;
	b->gs = gs;
	b->g = g;
	b->task_stack = guestsym_field(gs, "task_struct.stack", &f) ? GUEST_NONE : f.offset;
	b->irq_stack = irq_stack_pointer(gs);
	pthread_mutex_init(&b->lock, NULL); /* neither fails with glibc */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->change, &attr);
	pthread_condattr_destroy(&attr);
	return b;
}

void borrow_free(struct borrow *b)
{
	if (!b)
		return;
	pthread_cond_destroy(&b->change);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

uint64_t borrow_function(const struct borrow *b, const char *name)
{
	uint64_t link = guestsym_addr(b->gs, name);

	return link ? link + b->g->slide : 0;
}

static void borrow_lock(struct borrow *b)
{
	machine_pause(b->g->m);
	pthread_mutex_lock(&b->lock);
}

static void borrow_unlock(struct borrow *b)
{
	pthread_mutex_unlock(&b->lock);
	machine_resume(b->g->m);
}

/* --- is it a safe point? ------------------------------------------------------------------------
 */

static uint64_t read_u64(struct guest_kernel *g, uint64_t va)
{
	uint64_t value;

	return guest_read(g, va, &value, sizeof(value)) ? 0 : value;
}

/* [low, high) has sp in it, with room below. */
static bool stack_has_room(uint64_t sp, uint64_t low, uint64_t high)
{
	return low && sp < high && sp >= low + STACK_ROOM;
}

/*
 * Softirqs run on the CPU's interrupt stack, or on that of the task that they interrupt. The limits
 * of the former are known exactly, so it is asked for first.
 */
static bool stack_is_good(struct borrow *b, unsigned int vcpu, uint64_t sp)
{
	struct guest_kernel *g = b->g;
	uint64_t base = guest_image_u64(g, g->at.per_cpu_offset + 8 * vcpu, 0), top, task, low;

	if (b->irq_stack != GUEST_NONE) {
		top = read_u64(g, base + b->irq_stack) + 8;
		if (sp < top && sp >= top - IRQ_STACK)
			return stack_has_room(sp, top - IRQ_STACK, top);
	}
	if (b->task_stack == GUEST_NONE || g->at.current_task == GUEST_NONE)
		return false;
	task = read_u64(g, base + g->at.current_task);
	low = task ? read_u64(g, task + b->task_stack) : 0;
	return stack_has_room(sp, low, low + STACK_MAX);
}

/*
 * A softirq counts the depth of what it has interrupted, too; what is held there does not concern
 * it. A function that is entered with softirqs off may hold a lock.
 */
static bool point_is_safe(struct borrow *b, const struct machine_hit *hit)
{
	struct guest_state st;

	guest_get_state(b->g, hit->vcpu, hit->regs, &st);
	if (st.flags & (TRACE_FLAG_IRQS_OFF | TRACE_FLAG_HARDIRQ | TRACE_FLAG_NMI))
		return false;
	if (st.flags & TRACE_FLAG_SOFTIRQ) {
		if (b->where != BORROW_ANY)
			return false;
	} else if (st.flags & TRACE_FLAG_BH_OFF || st.preempt_count & 0xf) {
		return false;
	}
	if (b->where != BORROW_ANY && !st.pid)
		return false; /* the idle task must neither sleep nor wait */
	return stack_is_good(b, hit->vcpu, hit->regs->rsp);
}

/* --- borrowing ----------------------------------------------------------------------------------
 */

/* To the stack, where it may cross from one page to the next. */
static int guest_write(struct guest_kernel *g, uint64_t va, const void *buf, size_t len)
{
	const uint8_t *from = buf;

	while (len) {
		size_t left = 4096 - (va & 4095), part = left < len ? left : len;
		uint64_t pa;
		int ret = guest_translate(g, va, &pa);

		if (!ret)
			ret = machine_write(g->m, pa, from, part);
		if (ret)
			return ret;
		va += part;
		from += part;
		len -= part;
	}
	return 0;
}

static int frame_write(struct borrow *b, unsigned int vcpu)
{
	const struct machine_regs *r = &b->saved;
	struct frame f = {.landing = b->landing, .restore = b->restore};
	struct machine_sregs s;
	int ret = machine_get_sregs(b->g->m, vcpu, &s);

	if (ret)
		return ret;
	f.regs.r15 = r->r15, f.regs.r14 = r->r14, f.regs.r13 = r->r13, f.regs.r12 = r->r12;
	f.regs.rbp = r->rbp, f.regs.rbx = r->rbx, f.regs.r11 = r->r11, f.regs.r10 = r->r10;
	f.regs.r9 = r->r9, f.regs.r8 = r->r8, f.regs.rax = r->rax, f.regs.rcx = r->rcx;
	f.regs.rdx = r->rdx, f.regs.rsi = r->rsi, f.regs.rdi = r->rdi;
	f.regs.rip = r->rip, f.regs.cs = s.cs, f.regs.eflags = r->rflags;
	f.regs.rsp = r->rsp, f.regs.ss = s.ss;
	/* As a call leaves it: 8 below a multiple of 16. */
	b->sp = ((r->rsp - STACK_SPACE - sizeof(f)) & ~UINT64_C(15)) - 8;
	return guest_write(b->g, b->sp, &f, sizeof(f));
}

static int call_begin(struct borrow *b, unsigned int vcpu)
{
	const struct borrow_call *call = &b->calls[b->next];
	struct machine_regs regs = b->saved;
	int ret;

	regs.rip = call->fn;
	regs.rdi = call->arg[0];
	regs.rsi = call->arg[1];
	regs.rdx = call->arg[2];
	regs.rcx = call->arg[3];
	regs.rsp = b->sp;
	/* An interrupt may have come since the last return, and used the stack from here on. */
	ret = guest_write(b->g, b->sp, &b->landing, sizeof(b->landing));
	return ret ? ret : machine_set_regs(b->g->m, vcpu, &regs);
}

static int traps_out(struct borrow *b)
{
	int ret = b->nr_set ? machine_traps_clear(b->g->m, b->set, b->nr_set) : 0;

	b->nr_set = 0;
	return ret;
}

static void borrow_over(struct borrow *b, int error)
{
	int ret = traps_out(b);

	b->error = error ? error : ret;
	b->state = BORROW_DONE;
	pthread_cond_signal(&b->change);
}

/* The landing's trap is the first; breakpoints on busy functions would only slow the guest. */
static int keep_landing(struct borrow *b)
{
	int ret = b->nr_set > 1 ? machine_traps_clear(b->g->m, b->set + 1, b->nr_set - 1) : 0;

	if (!ret)
		b->nr_set = 1;
	return ret;
}

static void safe_point_hit(struct borrow *b, const struct machine_hit *hit)
{
	int ret;

	if (hit->va == b->landing || !point_is_safe(b, hit))
		return;
	b->saved = *hit->regs;
	if (frame_write(b, hit->vcpu))
		return; /* not a stack, or one that the page tables do not have: wait on */
	ret = keep_landing(b);
	if (!ret)
		ret = call_begin(b, hit->vcpu);
	if (!ret) {
		b->state = BORROW_CALLING;
		return;
	}
	machine_set_regs(b->g->m, hit->vcpu, &b->saved);
	borrow_over(b, ret);
}

static bool has_landed(const struct borrow *b, const struct machine_hit *hit)
{
	/* The return has taken one word off. */
	return b->state == BORROW_CALLING && hit->va == b->landing &&
	       hit->regs->rsp == b->sp + sizeof(b->landing);
}

static void landing_hit(struct borrow *b, const struct machine_hit *hit)
{
	int ret = 0;

	b->calls[b->next].ret = hit->regs->rax;
	b->calls[b->next++].done = true;
	if (b->next < b->n) {
		ret = call_begin(b, hit->vcpu);
		if (!ret)
			return;
	}
	/* Should this fail, the frame does it. */
	machine_set_regs(b->g->m, hit->vcpu, &b->saved);
	borrow_over(b, ret);
}

bool borrow_hit(struct borrow *b, const struct machine_hit *hit)
{
	bool landed;

	borrow_lock(b);
	landed = has_landed(b, hit);
	if (landed)
		landing_hit(b, hit);
	else if (b->state == BORROW_WAITING)
		safe_point_hit(b, hit);
	borrow_unlock(b);
	return !landed;
}

/* --- setting out --------------------------------------------------------------------------------
 */

/* The fentry site of a function, as a link address: 0 when it has none, or not in booted kernels.
 */
static uint64_t site_of(const struct guestsym *gs, const char *name)
{
	const struct guestsym_site *sites;
	size_t low = 0, high = guestsym_fentry_sites(gs, &sites);
	uint64_t func = guestsym_addr(gs, name);
	size_t nr = high;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sites[mid].addr < func)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == nr || sites[low].func != func ||
	    sites[low].flags & (GUESTSYM_SITE_INIT | GUESTSYM_SITE_INVALID))
		return 0;
	return sites[low].addr;
}

/*
 * Trap the site of a function. -ENOENT: it has none that holds a NOP, -EEXIST: there is a trap
 * already.
 */
static int trap_in(struct borrow *b, const char *name)
{
	struct guest_kernel *g = b->g;
	struct machine_trap trap = {
		.size = SITE_SIZE,
		.kind = MACHINE_TRAP_OUT,
		.action = MACHINE_TRAP_SKIP,
		.cookie = BORROW_COOKIE,
	};
	uint64_t link = site_of(b->gs, name);
	uint8_t now[SITE_SIZE];
	int ret;

	if (!link)
		return -ENOENT;
	trap.va = link + g->slide;
	trap.pa = guest_image_pa(g, link);
	ret = machine_read(g->m, trap.pa, now, sizeof(now));
	if (!ret && memcmp(now, nop5, sizeof(nop5)))
		ret = -ENOENT;
	if (!ret)
		ret = machine_traps_set(g->m, &trap, 1);
	if (!ret)
		b->set[b->nr_set++] = trap.va;
	return ret;
}

static int restore_find(struct borrow *b)
{
	uint8_t code[sizeof(restore_code)];

	b->restore = borrow_function(b, restore_name);
	if (!b->restore || guest_read(b->g, b->restore, code, sizeof(code)) ||
	    memcmp(code, restore_code, sizeof(code)))
		return -ENOENT;
	return 0;
}

static int places_trap(struct borrow *b)
{
	_Static_assert(NR_PLACES < MAX_SITES, "all places and the landing");

	for (size_t i = 0; i < NR_PLACES; i++) {
		int ret = places[i].most >= b->where ? trap_in(b, places[i].name) : 0;

		/* A place that someone else uses, or that this kernel does not have: others do. */
		if (ret && ret != -ENOENT && ret != -EEXIST)
			return ret;
	}
	return b->nr_set > 1 ? 0 : -ENOENT;
}

/* On error in what: the function that is missing, or NULL. */
static int borrow_begin(struct borrow *b, struct borrow_call *calls, size_t n,
			enum borrow_where where, const char **what)
{
	int ret;

	b->calls = calls;
	b->next = 0;
	b->n = n;
	b->where = where;
	b->error = 0;
	*what = restore_name;
	ret = restore_find(b);
	if (!ret) {
		*what = landing_name;
		ret = trap_in(b, landing_name);
	}
	if (!ret) {
		b->landing = b->set[0];
		*what = "schedule";
		ret = places_trap(b);
	}
	if (ret)
		traps_out(b);
	else
		b->state = BORROW_WAITING;
	return ret;
}

static void borrow_wait(struct borrow *b, int ms)
{
	struct timespec end = host_deadline(ms * NS_PER_MS);

	pthread_mutex_lock(&b->lock);
	while (b->state != BORROW_DONE && !(b->state == BORROW_WAITING && b->cancelled) &&
	       !pthread_cond_timedwait(&b->change, &b->lock, &end))
		;
	pthread_mutex_unlock(&b->lock);
}

/* The time is over, or all is done. -EAGAIN: a call is under way. */
static int borrow_end(struct borrow *b, bool finish)
{
	int ret = 0;

	borrow_lock(b);
	if (b->state == BORROW_DONE)
		ret = b->error;
	else if (b->state == BORROW_WAITING)
		ret = b->cancelled ? -ECANCELED : -ETIMEDOUT;
	else
		ret = finish ? -EIO : -EAGAIN;
	if (ret != -EAGAIN) {
		int cleared = traps_out(b);

		ret = ret ? ret : cleared;
		b->state = BORROW_IDLE;
	}
	borrow_unlock(b);
	return ret;
}

static void complain(int ret, int timeout_ms, const char *what, char *err, size_t errlen)
{
	if (ret == -ETIMEDOUT)
		snprintf(
			err, errlen,
			"the guest did not get to a place where it can be asked for something in %d ms: does it run?",
			timeout_ms);
	else if (ret == -EIO)
		snprintf(err, errlen,
			 "the guest has not come back from a function of its own: was it reset?");
	else if (ret == -ENOENT || ret == -EEXIST)
		snprintf(err, errlen, "the guest cannot be asked for something: its kernel's %s %s",
			 what,
			 ret == -ENOENT ? "is missing or being traced by itself"
					: "is being traced");
	else
		snprintf(err, errlen, "the guest cannot be asked for something: %s",
			 strerror(-ret));
}

void borrow_lender(struct borrow *b, borrow_lend_fn *lend, void *arg)
{
	b->lend = lend;
	b->lend_arg = arg;
}

bool borrow_needs(const struct borrow *b, uint64_t va)
{
	uint64_t link = site_of(b->gs, landing_name), from = borrow_function(b, landing_name);

	return link && va >= from && va < link + b->g->slide + SITE_SIZE;
}

/* All that traps will be set at. */
static int sites_ask_for(struct borrow *b)
{
	uint64_t vas[MAX_SITES];
	size_t n = 0;

	for (size_t i = 0; i <= NR_PLACES; i++) {
		uint64_t link = site_of(b->gs, i < NR_PLACES ? places[i].name : landing_name);

		if (link)
			vas[n++] = link + b->g->slide;
	}
	return b->lend && n ? b->lend(b->lend_arg, vas, n) : 0;
}

static void sites_give_back(struct borrow *b)
{
	if (b->lend)
		b->lend(b->lend_arg, NULL, 0);
}

static int run_calls(struct borrow *b, struct borrow_call *calls, size_t n, enum borrow_where where,
		     int timeout_ms, const char **what)
{
	int ret;

	borrow_lock(b);
	ret = borrow_begin(b, calls, n, where, what);
	borrow_unlock(b);
	if (!ret) {
		borrow_wait(b, timeout_ms);
		ret = borrow_end(b, false);
	}
	if (ret == -EAGAIN) {
		borrow_wait(b, BORROW_FINISH_MS);
		ret = borrow_end(b, true);
	}
	return ret;
}

void borrow_cancel(struct borrow *b, bool cancel)
{
	pthread_mutex_lock(&b->lock);
	b->cancelled = cancel;
	pthread_cond_signal(&b->change);
	pthread_mutex_unlock(&b->lock);
}

int borrow_run(struct borrow *b, struct borrow_call *calls, size_t n, enum borrow_where where,
	       int timeout_ms, char *err, size_t errlen)
{
	const char *what = "sites";
	int ret;

	for (size_t i = 0; i < n; i++)
		calls[i].done = false;
	if (!n)
		return 0;
	ret = sites_ask_for(b);
	if (!ret) {
		ret = run_calls(b, calls, n, where, timeout_ms, &what);
		sites_give_back(b);
	}
	if (ret)
		complain(ret, timeout_ms, what, err, errlen);
	return ret;
}
