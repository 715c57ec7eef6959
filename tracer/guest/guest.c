// SPDX-License-Identifier: GPL-2.0-or-later
/* guest.c - where the guest kernel keeps its state, and how its addresses are reached. */
#include "tracer/guest/guest.h"
#include "tracer/lib/host-time.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Defaults of kernels without CONFIG_DYNAMIC_MEMORY_LAYOUT (arch/x86/include/asm/page_64_types.h).
 */
#define PAGE_OFFSET_L4 UINT64_C(0xffff888000000000)
#define DIRECT_MAP_MAX (UINT64_C(1) << 46)
#define PAGE_SIZE      UINT64_C(4096)
#define NSEC_PER_SEC   UINT64_C(1000000000)
#define PAGE_LEFT(va)  (PAGE_SIZE - ((va) & (PAGE_SIZE - 1)))

static uint64_t addr_or_none(const struct guestsym *gs, const char *name)
{
	const struct guestsym_symbol *sym = guestsym_lookup(gs, name);

	return sym ? sym->addr : GUEST_NONE;
}

static uint64_t field_or_none(const struct guestsym *gs, const char *path)
{
	struct guestsym_field f;

	return guestsym_field(gs, path, &f) ? GUEST_NONE : f.offset;
}

/*
 * A per-CPU variable that is one of its own (up to 6.1, again from 6.15) or a member of pcpu_hot
 * (6.2 to 6.14, arch/x86/include/asm/current.h).
 */
static uint64_t percpu_or_hot(const struct guestsym *gs, const char *name, const char *hot_path)
{
	uint64_t hot = addr_or_none(gs, "pcpu_hot"), off = field_or_none(gs, hot_path);

	if (hot != GUEST_NONE && off != GUEST_NONE)
		return hot + off;
	return addr_or_none(gs, name);
}

/* Ticks in a second: NTP and adjtimex(2) have a say in a tick's length, by 500 millionths mostly.
 */
static uint64_t tick_to_hz(uint64_t tick_nsec)
{
	static const uint64_t choices[] = {100, 250, 300, 1000}; /* kernel/Kconfig.hz */
	uint64_t hz = (NSEC_PER_SEC + tick_nsec / 2) / tick_nsec;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (hz >= choices[i] - choices[i] / 12 && hz <= choices[i] + choices[i] / 12)
			return choices[i];
	return hz;
}

/*
 * What jiffies_64 begins with: five minutes before 2^32 (INITIAL_JIFFIES, include/linux/jiffies.h).
 * The image has it; in the memory of a kernel that runs it has been counted up.
 */
static bool jiffies_begin(const struct guestsym *gs, uint64_t *start)
{
	uint64_t tick;

	if (!guestsym_from_memory(gs))
		return !guestsym_variable(gs, GUESTSYM_JIFFIES_64, start);
	if (guestsym_variable(gs, GUESTSYM_TICK_NSEC, &tick) || !tick || tick > NSEC_PER_SEC)
		return false;
	*start = (uint32_t)(0 - 300 * tick_to_hz(tick));
	return true;
}

static void layout_jiffies(struct guest_layout *at, const struct guestsym *gs)
{
	at->jiffies = addr_or_none(gs, "jiffies_64");
	at->tick_nsec = addr_or_none(gs, "tick_nsec");
	if (at->jiffies == GUEST_NONE || !jiffies_begin(gs, &at->jiffies_start))
		at->jiffies = GUEST_NONE;
}

static void layout_clock(struct guest_layout *at, const struct guestsym *gs)
{
	struct guestsym_field data;

	at->cyc2ns = addr_or_none(gs, "cyc2ns");
	at->irq_stack = percpu_or_hot(gs, "hardirq_stack_ptr", "pcpu_hot.hardirq_stack_ptr");
	at->c2n_data = field_or_none(gs, "cyc2ns.data");
	at->c2n_seq = field_or_none(gs, "cyc2ns.seq");
	at->c2n_mul = field_or_none(gs, "cyc2ns_data.cyc2ns_mul");
	at->c2n_shift = field_or_none(gs, "cyc2ns_data.cyc2ns_shift");
	at->c2n_offset = field_or_none(gs, "cyc2ns_data.cyc2ns_offset");
	at->c2n_size = guestsym_field(gs, "cyc2ns.data", &data) ? 0 : data.size / 2;
	if (at->c2n_data == GUEST_NONE || at->c2n_seq == GUEST_NONE || at->c2n_mul == GUEST_NONE ||
	    at->c2n_shift == GUEST_NONE || at->c2n_offset == GUEST_NONE)
		at->cyc2ns = GUEST_NONE;
	at->use_tsc = addr_or_none(gs, "__use_tsc");
	at->sched_clock_offset = addr_or_none(gs, "__sched_clock_offset");
	at->kvm_sched_clock_offset = addr_or_none(gs, "kvm_sched_clock_offset");
	at->clock_running = addr_or_none(gs, "sched_clock_running");
	at->clock_stable = addr_or_none(gs, "__sched_clock_stable");
	at->gtod_offset = addr_or_none(gs, "__gtod_offset");
	layout_jiffies(at, gs);
}

static void layout_timekeeper(struct guest_time_layout *at, const struct guestsym *gs)
{
	uint64_t core = addr_or_none(gs, "tk_core"), off = field_or_none(gs, "tk_data.timekeeper");

	/* Until 6.12 it is in a struct without a name, behind a sequence count. */
	at->timekeeper = core == GUEST_NONE ? core : core + (off == GUEST_NONE ? 8 : off);
	at->tk_clock = field_or_none(gs, "timekeeper.tkr_mono.clock");
	at->offs_boot = field_or_none(gs, "timekeeper.offs_boot");
	at->offs_tai = field_or_none(gs, "timekeeper.offs_tai");
	if (at->tk_clock == GUEST_NONE)
		at->timekeeper = GUEST_NONE;
	at->pvclock = addr_or_none(gs, "hv_clock_per_cpu");
	at->scd = addr_or_none(gs, "sched_clock_data");
	at->tick_raw = field_or_none(gs, "sched_clock_data.tick_raw");
	at->tick_gtod = field_or_none(gs, "sched_clock_data.tick_gtod");
	if (at->tick_raw == GUEST_NONE || at->tick_gtod == GUEST_NONE)
		at->scd = GUEST_NONE;
}

static void layout_time(struct guest_time_layout *at, const struct guestsym *gs)
{
	struct guestsym_field base;
	uint64_t *const all[] = {&at->fast_seq, &at->clock, &at->cycle_last, &at->mult,
				 &at->shift,	&at->base,  &at->xtime_nsec, &at->clocksource_name,
				 &at->fast_base};
	static const char *const paths[] = {"tk_fast.seq",
					    "tk_read_base.clock",
					    "tk_read_base.cycle_last",
					    "tk_read_base.mult",
					    "tk_read_base.shift",
					    "tk_read_base.base",
					    "tk_read_base.xtime_nsec",
					    "clocksource.name",
					    "tk_fast.base"};

	at->fast_mono = addr_or_none(gs, "tk_fast_mono");
	at->fast_raw = addr_or_none(gs, "tk_fast_raw");
	at->base_size = guestsym_field(gs, "tk_fast.base", &base) ? 0 : base.size / 2;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		*all[i] = field_or_none(gs, paths[i]);
		if (*all[i] == GUEST_NONE)
			at->fast_mono = GUEST_NONE;
	}
	if (at->fast_raw == GUEST_NONE)
		at->fast_mono = GUEST_NONE;
	layout_timekeeper(at, gs);
}

int guest_learn(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen)
{
	struct guest_layout *at = &g->at;
	uint64_t end = guestsym_addr(gs, "_end");

	g->pvclock_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	at->per_cpu_offset = addr_or_none(gs, "__per_cpu_offset");
	at->current_task = percpu_or_hot(gs, "current_task", "pcpu_hot.current_task");
	at->preempt_count = percpu_or_hot(gs, "__preempt_count", "pcpu_hot.preempt_count");
	at->cpu_number = percpu_or_hot(gs, "cpu_number", "pcpu_hot.cpu_number");
	at->task_pid = field_or_none(gs, "task_struct.pid");
	at->task_tgid = field_or_none(gs, "task_struct.tgid");
	at->task_comm = field_or_none(gs, "task_struct.comm");
	at->task_flags = field_or_none(gs, "task_struct.thread_info.flags");
	at->task_migration_disabled = field_or_none(gs, "task_struct.migration_disabled");
	layout_clock(at, gs);
	layout_time(&at->time, gs);

	g->page_offset_base = addr_or_none(gs, "page_offset_base");
	g->pgtable_root = addr_or_none(gs, "init_top_pgt");
	g->l5_enabled = addr_or_none(gs, "__pgtable_l5_enabled");
	g->text_va = guestsym_addr(gs, "_text");
	g->text_len = end > g->text_va ? end - g->text_va : 0;
	if (!g->text_va) {
		snprintf(err, errlen,
			 "the kernel image does not say where its text lies (no _text)");
		return -ENOENT;
	}
	/* A kernel that was read from memory does not say; guest_locate() finds it. */
	if (guestsym_phys(gs, g->text_va, &g->text_pa))
		g->text_pa = GUEST_NONE;
	return 0;
}

void guest_bind(struct guest_kernel *g, struct machine *m)
{
	g->m = m;
	g->now_ms = host_ms;
}

static bool in_image(const struct guest_kernel *g, uint64_t va)
{
	return va - g->text_va < g->text_len;
}

uint64_t guest_image_pa(const struct guest_kernel *g, uint64_t va)
{
	return va - g->text_va + g->text_pa;
}

static bool image_get(struct guest_kernel *g, uint64_t va, void *buf, size_t len)
{
	return va != GUEST_NONE && in_image(g, va) &&
	       !machine_read(g->m, guest_image_pa(g, va), buf, len);
}

uint64_t guest_image_u64(struct guest_kernel *g, uint64_t va, uint64_t otherwise)
{
	uint64_t value;

	return image_get(g, va, &value, sizeof(value)) ? value : otherwise;
}

uint32_t guest_image_u32(struct guest_kernel *g, uint64_t va, uint32_t otherwise)
{
	uint32_t value;

	return image_get(g, va, &value, sizeof(value)) ? value : otherwise;
}

int guest_translate(struct guest_kernel *g, uint64_t va, uint64_t *pa)
{
	uint64_t base;

	if (in_image(g, va - g->slide)) {
		*pa = guest_image_pa(g, va - g->slide);
		return 0;
	}
	base = guest_image_u64(g, g->page_offset_base, PAGE_OFFSET_L4);
	if (va - base < DIRECT_MAP_MAX) {
		*pa = va - base;
		return 0;
	}
	/* vmalloc space (task stacks lie there) is in every page table (mm/vmalloc.c, fault.c). */
	return machine_walk(g->m, guest_image_pa(g, g->pgtable_root),
			    guest_image_u32(g, g->l5_enabled, 0) ? 5 : 4, va, pa, NULL);
}

int guest_read(struct guest_kernel *g, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		size_t part = PAGE_LEFT(va) < len ? PAGE_LEFT(va) : len;
		uint64_t pa;
		int ret = guest_translate(g, va, &pa);

		if (!ret)
			ret = machine_read(g->m, pa, to, part);
		if (ret)
			return ret;
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

/* What is there can be read: an address that the page tables have may be nowhere in memory. */
static int find_memory(struct guest_kernel *g, uint64_t va, uint64_t *pa)
{
	uint8_t byte;
	int ret = guest_translate(g, va, pa);

	return ret ? ret : machine_read(g->m, *pa, &byte, sizeof(byte));
}

int guest_write(struct guest_kernel *g, uint64_t va, const void *buf, size_t len)
{
	size_t first = PAGE_LEFT(va) < len ? PAGE_LEFT(va) : len;
	uint64_t pa, next_pa = 0;
	int ret;

	if (len - first > PAGE_SIZE)
		return -EINVAL;
	ret = find_memory(g, va, &pa);
	if (!ret && first < len)
		ret = find_memory(g, va + first, &next_pa);
	if (!ret)
		ret = machine_write(g->m, pa, buf, first);
	if (!ret && first < len)
		ret = machine_write(g->m, next_pa, (const uint8_t *)buf + first, len - first);
	return ret;
}

bool guest_is_given_up(const struct guest_kernel *g)
{
	return g->given_up && g->given_up(g->given_up_arg);
}

bool guest_has_halted(const struct guest_kernel *g)
{
	bool halted;

	machine_pause_for(g->m, "looking whether it has halted");
	halted = machine_has_halted(g->m);
	machine_resume(g->m);
	return halted;
}

static bool is_given_up(void *arg)
{
	return guest_is_given_up(arg);
}

static int read_memory(void *arg, uint64_t va, void *buf, size_t len)
{
	return is_given_up(arg) ? -ECANCELED : guest_read(arg, va, buf, len);
}

struct guestsym_memory guest_memory(struct guest_kernel *g)
{
	return (struct guestsym_memory){.read = read_memory, .arg = g, .cancelled = is_given_up};
}

void guest_find(struct guest_kernel *g, uint64_t va, size_t len, struct guest_word *w)
{
	memset(w, 0, sizeof(*w));
	if (PAGE_LEFT(va) < len || guest_translate(g, va, &w->pa))
		return;
	w->host = machine_host_ptr(g->m, w->pa, len);
	w->len = len;
	w->found = true;
}

/* Where things lie in them is what an image says, which may say anything. */
bool guest_copy(struct guest_kernel *g, const struct guest_word *w, uint64_t off, void *buf,
		size_t len)
{
	if (!w->found || off > w->len || len > w->len - off)
		return false;
	if (!w->host)
		return !machine_read(g->m, w->pa + off, buf, len);
	memcpy(buf, (const uint8_t *)w->host + off, len);
	return true;
}

uint64_t guest_get(struct guest_kernel *g, const struct guest_word *w, size_t len)
{
	uint64_t value = 0;

	return guest_copy(g, w, 0, &value, len) ? value : 0;
}
