// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * places.c - where a vCPU may be borrowed: the functions at whose entries traps wait for it,
 * and whether a hit is at a safe point.
 */
#include "tracer/borrow/internal.h"
#include "tracer/ring/entry.h"

#include <errno.h>
#include <string.h>

#define SITE_SIZE  5
#define STACK_ROOM 8192	 /* left below the borrowed place */
#define STACK_MAX  32768 /* THREAD_SIZE with KASAN, 16384 without */
#define IRQ_STACK  16384 /* IRQ_STACK_SIZE (arch/x86/include/asm/page_64_types.h) */

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

/* --- is it a safe point? ---------------------------------------------------------------------- */

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

void borrow_find_stacks(struct borrow *b)
{
	struct guestsym_field f;

	b->task_stack = guestsym_field(b->gs, "task_struct.stack", &f) ? GUEST_NONE : f.offset;
	b->irq_stack = irq_stack_pointer(b->gs);
}

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
bool borrow_point_is_safe(struct borrow *b, const struct machine_hit *hit)
{
	struct guest_state st;

	guest_get_state(b->g, hit->vcpu, hit->regs, &st);
	if (st.flags & (TRACE_FLAG_IRQS_OFF | TRACE_FLAG_HARDIRQ | TRACE_FLAG_NMI))
		return false;
	if (st.flags & TRACE_FLAG_SOFTIRQ) {
		if (b->how.where != BORROW_ANY)
			return false;
	} else if (st.flags & TRACE_FLAG_BH_OFF || st.preempt_count & 0xf) {
		return false;
	}
	if (b->how.where != BORROW_ANY && !st.pid)
		return false; /* the idle task must neither sleep nor wait */
	return stack_is_good(b, hit->vcpu, hit->regs->rsp);
}

/* --- traps ------------------------------------------------------------------------------------ */

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

static int places_trap(struct borrow *b)
{
	_Static_assert(NR_PLACES < BORROW_MAX_SITES, "all places and the landing");

	for (size_t i = 0; i < NR_PLACES; i++) {
		int ret = places[i].most >= b->how.where ? trap_in(b, places[i].name) : 0;

		/* A place that someone else uses, or that this kernel does not have: others do. */
		if (ret && ret != -ENOENT && ret != -EEXIST)
			return ret;
	}
	return b->nr_set > 1 ? 0 : -ENOENT;
}

int borrow_traps_clear(struct borrow *b)
{
	int ret = b->nr_set ? machine_traps_clear(b->g->m, b->set, b->nr_set) : 0;

	b->nr_set = 0;
	return ret;
}

int borrow_traps_set(struct borrow *b, const char **what)
{
	int ret;

	*what = landing_name;
	ret = trap_in(b, landing_name);
	if (!ret) {
		b->landing = b->set[0];
		*what = "schedule";
		ret = places_trap(b);
	}
	if (ret)
		borrow_traps_clear(b);
	return ret;
}

/* The landing's trap is the first. */
int borrow_traps_keep_landing(struct borrow *b)
{
	int ret = b->nr_set > 1 ? machine_traps_clear(b->g->m, b->set + 1, b->nr_set - 1) : 0;

	if (!ret)
		b->nr_set = 1;
	return ret;
}

/* --- the lender of the sites ------------------------------------------------------------------ */

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
int borrow_sites_ask(struct borrow *b)
{
	uint64_t vas[BORROW_MAX_SITES];
	size_t n = 0;

	for (size_t i = 0; i <= NR_PLACES; i++) {
		uint64_t link = site_of(b->gs, i < NR_PLACES ? places[i].name : landing_name);

		if (link)
			vas[n++] = link + b->g->slide;
	}
	return b->lend && n ? b->lend(b->lend_arg, vas, n) : 0;
}

void borrow_sites_give_back(struct borrow *b)
{
	if (b->lend)
		b->lend(b->lend_arg, NULL, 0);
}
