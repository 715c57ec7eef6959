// SPDX-License-Identifier: GPL-2.0-or-later
/* test-trace.c - probes, guards, guest state and limits of a trace, on a made-up guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "tests/unit/fake-guest.h"
#include "tracer/entry.h"
#include "tracer/instance.h"

/* Offsets in the made-up image. */
enum {
	FN_ALPHA = 0x1000,
	FN_BETA = 0x1100,
	FN_START = 0x1200, /* calls ftrace_init() */
	FN_FTRACE_INIT = 0x1300,
	FN_FREE_INITMEM = 0x1400,
	FN_FENTRY = 0x1f00,
	FN_SETUP = 0x3000, /* init text */
	PER_CPU_OFFSET = 0x5000,
	USE_TSC = 0x5100,
	CLOCK_OFFSET = 0x5108,
	JIFFIES = 0x5110,
	TICK_NSEC = 0x5118,
	PER_CPU_AREA = 0x6000,
	TASK = 0x7000,
	STACK = 0x8000,
	TOP_PGT = 0x9000,
	IMAGE_END = 0x10000,
	/* in the per-CPU area */
	PCPU_CURRENT = 0x100,
	PCPU_COUNT = 0x108,
	PCPU_CYC2NS = 0x140,
	/* in struct task_struct */
	TASK_FLAGS = 0,
	TASK_PID = 0x20,
	TASK_TGID = 0x24,
	TASK_COMM = 0x30,
	TASK_MIGRATION = 0x40,
};

static const uint8_t nop5[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static void put(uint32_t off, uint64_t value, size_t len)
{
	memcpy(fake_at(FAKE_VA(off)), &value, len);
}

static void add_function(const char *name, uint32_t off, uint32_t flags)
{
	int32_t rel = FN_FENTRY - ((int32_t)off + 5);

	fake_symbol(name, FAKE_VA(off), 't');
	fake.sites[fake.nsites++] = (struct guestsym_site){FAKE_VA(off), FAKE_VA(off), name, flags};
	*fake_at(FAKE_VA(off)) = 0xe8;
	memcpy(fake_at(FAKE_VA(off) + 1), &rel, sizeof(rel));
}

static int guest_set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.ram = calloc(1, FAKE_RAM);
	assert_non_null(fake.ram);
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	fake_symbol("__fentry__", FAKE_VA(FN_FENTRY), 'T');
	fake_symbol("ftrace_init", FAKE_VA(FN_FTRACE_INIT), 'T');
	fake_symbol("start_kernel", FAKE_VA(FN_START), 'T');
	fake_symbol("__per_cpu_offset", FAKE_VA(PER_CPU_OFFSET), 'D');
	fake_symbol("__use_tsc", FAKE_VA(USE_TSC), 'd');
	fake_symbol("__sched_clock_offset", FAKE_VA(CLOCK_OFFSET), 'd');
	fake_symbol("jiffies_64", FAKE_VA(JIFFIES), 'D');
	fake_symbol("tick_nsec", FAKE_VA(TICK_NSEC), 'D');
	fake_symbol("init_top_pgt", FAKE_VA(TOP_PGT), 'D');
	fake_symbol("current_task", PCPU_CURRENT, 'A');
	fake_symbol("__preempt_count", PCPU_COUNT, 'A');
	fake_symbol("cyc2ns", PCPU_CYC2NS, 'A');
	add_function("alpha", FN_ALPHA, 0);
	add_function("beta", FN_BETA, 0);
	add_function("free_initmem", FN_FREE_INITMEM, 0);
	add_function("setup_all", FN_SETUP, GUESTSYM_SITE_INIT);
	fake_field("task_struct.pid", TASK_PID, 4);
	fake_field("task_struct.tgid", TASK_TGID, 4);
	fake_field("task_struct.comm", TASK_COMM, 16);
	fake_field("task_struct.thread_info.flags", TASK_FLAGS, 8);
	fake_field("task_struct.migration_disabled", TASK_MIGRATION, 2);
	fake_field("cyc2ns.data", 0, 32);
	fake_field("cyc2ns.seq", 32, 4);
	fake_field("cyc2ns_data.cyc2ns_mul", 0, 4);
	fake_field("cyc2ns_data.cyc2ns_shift", 4, 4);
	fake_field("cyc2ns_data.cyc2ns_offset", 8, 8);

	put(PER_CPU_OFFSET, FAKE_VA(PER_CPU_AREA), 8);
	put(PER_CPU_AREA + PCPU_CURRENT, FAKE_VA(TASK), 8);
	put(PER_CPU_AREA + PCPU_COUNT, 0x80000000, 4);
	put(TASK + TASK_PID, 42, 4);
	put(TASK + TASK_TGID, 41, 4);
	memcpy(fake_at(FAKE_VA(TASK + TASK_COMM)), "tester", 7);
	put(JIFFIES, 0xffff0000, 8);
	put(TICK_NSEC, 4000000, 8);
	return 0;
}

static int guest_tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

static struct trace *trace_with(struct trace_config cfg, char *err, size_t errlen)
{
	cfg.vcpus = cfg.vcpus ? cfg.vcpus : 1;
	cfg.tracer = cfg.tracer ? cfg.tracer : "function";
	cfg.buffer_bytes = 65536;
	cfg.engine = TRACE_ENGINE_TRAP;
	return trace_new(&cfg, err, errlen);
}

static struct trace *trace_started(struct trace_config cfg)
{
	char err[256] = "";
	struct trace *t = trace_with(cfg, err, sizeof(err));

	if (!t || trace_attach(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	return t;
}

/* Call the function at off: its trap, if it has one, fires with `parent` as return address. */
static bool guest_calls(struct trace *t, uint32_t off, uint64_t parent)
{
	const struct machine_trap *trap = fake_trap(FAKE_VA(off));
	struct machine_regs regs = {
		.rsp = FAKE_VA(STACK), .rip = FAKE_VA(off) + 5, .rflags = 0x202};
	struct machine_hit hit = {.tsc = 1000, .va = FAKE_VA(off), .regs = &regs};

	if (!trap)
		return false;
	put(STACK, parent, 8);
	hit.cookie = trap->cookie;
	if (trap->action == MACHINE_TRAP_ONCE)
		machine_traps_clear(NULL, &hit.va, 1);
	trace_trap(t, &hit);
	assert_int_equal(fake.paused, 0);
	return true;
}

static bool next_entry(struct trace *t, struct ring_cursor *c, struct trace_function_entry *e)
{
	struct ring_event ev;

	(void)t;
	if (!ring_next(c, &ev))
		return false;
	assert_true(ev.len >= sizeof(*e));
	memcpy(e, ev.data, sizeof(*e));
	return true;
}

static uint64_t entries(struct trace *t)
{
	struct ring_stats st;

	ring_get_stats(t->instances->ring[0], &st);
	return st.entries;
}

static void hits_become_records(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct ring_cursor *c = ring_look(t->instances->ring[0]);
	struct trace_function_entry e = {0};

	(void)state;
	assert_true(guest_calls(t, FN_ALPHA, FAKE_VA(FN_START + 7)));
	assert_true(guest_calls(t, FN_BETA, FAKE_VA(FN_ALPHA + 9)));
	assert_true(next_entry(t, c, &e));
	assert_true(e.ip == FAKE_VA(FN_ALPHA) && e.parent_ip == FAKE_VA(FN_START + 7));
	assert_int_equal(e.ent.type, TRACE_FN);
	assert_int_equal(e.ent.pid, 42);
	assert_int_equal(e.ent.flags, 0);
	assert_true(next_entry(t, c, &e));
	assert_true(e.ip == FAKE_VA(FN_BETA) && e.parent_ip == FAKE_VA(FN_ALPHA + 9));
	assert_false(next_entry(t, c, &e));
	ring_cursor_free(c);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void state_flags_are_the_kernels(void **state)
{
	static const struct {
		uint32_t count;
		uint64_t thread_flags, rflags;
		uint16_t migration;
		uint8_t flags, preempt_count;
	} cases[] = {
		{0x80000000, 0, 0x202, 0, 0, 0},
		{0x80000000, 0, 0x002, 0, TRACE_FLAG_IRQS_OFF, 0},
		{0x80000002, 0, 0x202, 0, 0, 2},
		{0x80000030, 0, 0x202, 0, 0, 15},
		{0x80010001, 0, 0x002, 0, TRACE_FLAG_IRQS_OFF | TRACE_FLAG_HARDIRQ, 1},
		{0x80000100, 0, 0x202, 0, TRACE_FLAG_SOFTIRQ, 0},
		{0x80000200, 0, 0x202, 0, TRACE_FLAG_BH_OFF, 0},
		{0x80100000, 0, 0x202, 0, TRACE_FLAG_NMI, 0},
		{0x00000000, 8, 0x202, 0, TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED, 0},
		{0x80000001, 0, 0x202, 3, 0, 0x31},
	};
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine_regs regs = {.rflags = cases[i].rflags};
		struct guest_state st;

		put(PER_CPU_AREA + PCPU_COUNT, cases[i].count, 4);
		put(TASK + TASK_FLAGS, cases[i].thread_flags, 8);
		put(TASK + TASK_MIGRATION, cases[i].migration, 2);
		guest_get_state(&t->guest, 0, &regs, &st);
		assert_int_equal(st.flags, cases[i].flags);
		assert_int_equal(st.preempt_count, cases[i].preempt_count);
		assert_int_equal(st.tgid, 41);
		assert_string_equal(st.comm, "tester");
	}
	trace_detach(t);
	trace_free(t);
}

/* A wild task pointer costs the record its task, nothing more. */
static void hostile_pointers_read_as_zero(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct machine_regs regs = {.rflags = 0x202};
	struct guest_state st;

	(void)state;
	put(PER_CPU_AREA + PCPU_CURRENT, UINT64_MAX - 3, 8);
	guest_get_state(&t->guest, 0, &regs, &st);
	assert_int_equal(st.pid, 0);
	assert_string_equal(st.comm, "");
	put(PER_CPU_AREA + PCPU_CURRENT, FAKE_DIRECT + FAKE_RAM - TASK_COMM - 8, 8);
	guest_get_state(&t->guest, 0, &regs, &st);
	assert_string_equal(st.comm, "");
	trace_detach(t);
	trace_free(t);
}

static uint64_t sched_clock(struct guest_kernel *g, uint64_t tsc, bool stable)
{
	struct guest_clock c;

	guest_get_clock(g, 0, stable, &c);
	return guest_clock_ns(&c, tsc);
}

static void clock_is_the_kernels(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct guest_kernel *g = &t->guest;
	uint32_t copy = PER_CPU_AREA + PCPU_CYC2NS;

	(void)state;
	/* Before the TSC is in use: jiffies, from their start in the image. */
	assert_true(sched_clock(g, 123456, false) == 0);
	put(JIFFIES, 0xffff0003, 8);
	assert_true(sched_clock(g, 123456, false) == 12000000);
	/* Two copies; the sequence count says which one holds. */
	put(USE_TSC, 1, 4);
	put(copy, 1 << 10, 4);
	put(copy + 4, 11, 4);
	put(copy + 8, 1000, 8);
	put(copy + 16, 1 << 10, 4);
	put(copy + 20, 10, 4);
	put(copy + 24, UINT64_MAX - 99, 8); /* -100 */
	assert_true(sched_clock(g, 4000, false) == 3000);
	put(copy + 32, 1, 4);
	assert_true(sched_clock(g, 4000, false) == 3900);
	put(CLOCK_OFFSET, 7, 8);
	assert_true(sched_clock(g, 4000, false) == 3900);
	assert_true(sched_clock(g, 4000, true) == 3907);
	trace_detach(t);
	trace_free(t);
}

static void sites_are_clean_while_ftrace_init_runs(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	uint32_t back = FN_START + 0x20;

	(void)state;
	assert_true(guest_calls(t, FN_FTRACE_INIT, FAKE_VA(back)));
	assert_int_equal(fake.ntraps, 1);
	assert_non_null(fake_trap(FAKE_VA(back)));
	/* The kernel turns its calls into NOPs and goes back to start_kernel(). */
	for (size_t i = 0; i < fake.nsites; i++)
		memcpy(fake_at(fake.sites[i].addr), nop5, sizeof(nop5));
	assert_true(guest_calls(t, back, 0));
	assert_int_equal(fake.ntraps, fake.nsites);
	assert_true(guest_calls(t, FN_ALPHA, 0));
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void detach_inside_ftrace_init_leaves_nothing(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	assert_true(guest_calls(t, FN_FTRACE_INIT, FAKE_VA(FN_START + 0x20)));
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void freed_init_memory_is_left_alone(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	assert_non_null(fake_trap(FAKE_VA(FN_SETUP)));
	assert_true(guest_calls(t, FN_FREE_INITMEM, 0));
	assert_null(fake_trap(FAKE_VA(FN_SETUP)));
	assert_non_null(fake_trap(FAKE_VA(FN_ALPHA)));
	/* Also when the probes come back for another reason. */
	assert_int_equal(probes_remove(t, 0, PROBE_FL_ONCE), 0);
	assert_int_equal(probes_insert(t, 0, PROBE_FL_ONCE), 0);
	assert_null(fake_trap(FAKE_VA(FN_SETUP)));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void guards_without_filter_record_nothing(void **state)
{
	const char *only_alpha = "alpha";
	struct trace *t =
		trace_started((struct trace_config){.filter = &only_alpha, .nr_filter = 1});
	struct trace_status st;

	(void)state;
	assert_true(guest_calls(t, FN_FREE_INITMEM, 0));
	trace_get_status(t, &st);
	assert_int_equal(st.hits, 0);
	assert_int_equal(st.sites, 1);
	trace_detach(t);
	trace_free(t);
}

static void unknown_bytes_are_left_out(void **state)
{
	struct trace *t;
	struct trace_status st;

	(void)state;
	memset(fake_at(FAKE_VA(FN_BETA)), 0x90, 5);
	*fake_at(FAKE_VA(FN_ALPHA) + 2) ^= 1; /* a call, but to somewhere else */
	t = trace_started((struct trace_config){0});
	trace_get_status(t, &st);
	assert_int_equal(st.sites, 4);
	assert_int_equal(st.skipped, 2);
	assert_null(fake_trap(FAKE_VA(FN_BETA)));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void until_ends_the_trace_with_its_record(void **state)
{
	struct trace *t = trace_started((struct trace_config){.until = "beta"});
	struct trace_status st;

	(void)state;
	guest_calls(t, FN_ALPHA, 0);
	assert_int_equal(fake.woken, 0);
	guest_calls(t, FN_BETA, 0);
	guest_calls(t, FN_ALPHA, 0);
	trace_get_status(t, &st);
	assert_true(st.done);
	assert_int_equal(fake.woken, 1);
	assert_int_equal(entries(t), 2);
	trace_detach(t);
	trace_free(t);
}

static void until_works_without_a_site(void **state)
{
	struct trace *t = trace_started((struct trace_config){.until = "start_kernel"});
	struct trace_status st;

	(void)state;
	assert_true(guest_calls(t, FN_START, 0));
	trace_get_status(t, &st);
	assert_true(st.done);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void errors_end_the_trace(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct trace_status st;

	(void)state;
	trace_fail(t, -EFAULT);
	trace_get_status(t, &st);
	assert_true(st.done);
	assert_int_equal(fake.woken, 1);
	assert_int_equal(trace_detach(t), -EFAULT);
	trace_free(t);
}

/* How it has ended is what the machine tells, a little later. */
static void a_guest_that_has_gone_is_waited_for(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});
	struct trace_status st;

	(void)state;
	trace_fail(t, -ECONNRESET);
	trace_get_status(t, &st);
	assert_false(st.done);
	assert_int_equal(fake.woken, 0);
	assert_int_equal(trace_detach(t), -ECONNRESET);
	trace_free(t);
}

static void max_events_is_exact(void **state)
{
	struct trace *t = trace_started((struct trace_config){.max_events = 3});
	struct trace_status st;

	(void)state;
	for (int i = 0; i < 10; i++)
		guest_calls(t, FN_ALPHA, 0);
	trace_get_status(t, &st);
	assert_int_equal(st.hits, 3);
	assert_true(st.done);
	assert_int_equal(entries(t), 3);
	trace_detach(t);
	trace_free(t);
}

static void wrong_configurations_are_explained(void **state)
{
	const char *nothing = "zz*", *all = "*";
	const struct {
		struct trace_config cfg;
		const char *says;
	} cases[] = {
		{{.tracer = "nosuch"},
		 "unknown tracer 'nosuch'; there are: hwlat, function_graph, wakeup_dl, wakeup_rt, wakeup, "
		 "preemptirqsoff, preemptoff, irqsoff, function, sched_switch, nop"},
		{{.clock = "sundial"}, "unknown clock 'sundial'"},
		{{.filter = &nothing, .nr_filter = 1}, "filter 'zz*' matches none"},
		{{.notrace = &nothing, .nr_notrace = 1}, "notrace 'zz*' matches none"},
		{{.notrace = &all, .nr_notrace = 1}, "leave no function"},
		{{.until = "gamma"}, "until 'gamma': the kernel has no such function"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char err[256] = "";

		assert_null(trace_with(cases[i].cfg, err, sizeof(err)));
		if (!strstr(err, cases[i].says))
			fail_msg("'%s' does not say '%s'", err, cases[i].says);
	}
}

static void failed_patching_is_told(void **state)
{
	char err[256] = "";
	struct trace *t = trace_with((struct trace_config){0}, err, sizeof(err));

	(void)state;
	fake.trap_error = -EFAULT;
	assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), -EFAULT);
	assert_non_null(strstr(err, "cannot place the probes"));
	fake.trap_error = 0;
	assert_int_equal(trace_attach(t, NULL, err, sizeof(err)), 0);
	fake.trap_error = -EFAULT;
	assert_int_equal(trace_detach(t), -EFAULT);
	trace_free(t);
}

enum {
	SLIDE = 0x1c00000,
	SLID_PA = 0x400000, /* where the slid kernel lies */
	IDT_PA = 0x50000,
	GATE = 16,
	TABLES = 0x2000, /* its kernel half; the user half is one page above */
};

#define IDT_VA UINT64_C(0xfffffe0000000000)

static void put_gate(unsigned int vector, uint64_t handler)
{
	uint8_t *gate = fake.ram + IDT_PA + vector * GATE;
	uint32_t high = (uint32_t)(handler >> 32);

	memset(gate, 0, GATE);
	memcpy(gate, &handler, 2);
	memcpy(gate + 6, (const uint8_t *)&handler + 2, 2);
	memcpy(gate + 8, &high, sizeof(high));
}

/* Move the made-up kernel to where KASLR might have put it, booted, its vCPU in user mode. */
static void guest_slides(void)
{
	memcpy(fake.ram + SLID_PA, fake_at(FAKE_TEXT), IMAGE_END);
	memset(fake_at(FAKE_TEXT), 0, IMAGE_END);
	fake_symbol("asm_exc_divide_error", FAKE_VA(0xa000), 'T');
	fake_symbol("asm_exc_page_fault", FAKE_VA(0xa100), 'T');
	put_gate(0, FAKE_VA(0xa000) + SLIDE);
	put_gate(14, FAKE_VA(0xa100) + SLIDE);
	fake_map(TABLES, FAKE_TEXT + SLIDE, IMAGE_END, SLID_PA);
	fake_map(TABLES + 0x1000, IDT_VA, 4096, IDT_PA);
	fake_map(TABLES, IDT_VA, 4096, IDT_PA);
	fake_map(TABLES + 0x1000, FAKE_VA(0xa000) + SLIDE, 4096, SLID_PA + 0xa000);
	fake.sregs = (struct machine_sregs){
		.cr0 = UINT64_C(1) << 31,
		.cr3 = TABLES + 0x1000,
		.idt_base = IDT_VA,
		.idt_limit = 4095,
	};
}

static uint8_t *slid_at(uint32_t off)
{
	return fake.ram + SLID_PA + off;
}

static void running_kernels_are_found_where_they_are(void **state)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK) + SLIDE, .rflags = 0x202};
	struct machine_hit hit = {.regs = &regs};
	const struct machine_trap *trap;
	struct trace_function_entry e = {0};
	struct ring_cursor *c;
	char err[256] = "";
	struct trace *t;

	(void)state;
	guest_slides();
	memcpy(slid_at(PER_CPU_OFFSET), &(uint64_t){FAKE_VA(PER_CPU_AREA) + SLIDE}, 8);
	memcpy(slid_at(PER_CPU_AREA + PCPU_CURRENT), &(uint64_t){FAKE_VA(TASK) + SLIDE}, 8);
	t = trace_with((struct trace_config){0}, err, sizeof(err));
	assert_non_null(t);
	if (trace_attach_running(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	/* Init text is gone, and so is the need to guard the boot. */
	assert_int_equal(fake.ntraps, 3);
	trap = fake_trap(FAKE_VA(FN_ALPHA) + SLIDE);
	assert_non_null(trap);
	assert_true(trap->pa == SLID_PA + FN_ALPHA);
	hit.cookie = trap->cookie;
	trace_trap(t, &hit);
	c = ring_look(t->instances->ring[0]);
	assert_true(next_entry(t, c, &e));
	assert_true(e.ip == FAKE_VA(FN_ALPHA) + SLIDE);
	assert_int_equal(e.ent.pid, 42);
	ring_cursor_free(c);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void other_kernels_are_refused(void **state)
{
	char err[512] = "";
	struct trace *t;

	(void)state;
	fake_symbol("linux_banner", FAKE_VA(0xb000), 'D');
	fake.banner = "Linux version 6.1.0-fake";
	guest_slides();
	t = trace_with((struct trace_config){0}, err, sizeof(err));
	assert_non_null(t);
	memcpy(slid_at(0xb000), "Linux version 6.1.0-real\n", 26);
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -ESRCH);
	assert_non_null(strstr(err, "'Linux version 6.1.0-real', not 'Linux version 6.1.0-fake'"));
	put_gate(14, FAKE_VA(0xa200) + SLIDE); /* the gates disagree */
	assert_int_equal(trace_attach_running(t, NULL, err, sizeof(err)), -ESRCH);
	assert_non_null(strstr(err, "the guest does not run Linux 6.1.0-fake"));
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(fake.paused, 0);
	trace_free(t);
}

#define MOD_TEXT UINT64_C(0xffffffffc0000000)

enum { MOD_PA = 0x200000, FN_INIT_MODULE = 0x1500, FN_FREE_MODULE = 0x1600 };

static const struct guestsym_symbol mod_syms[] = {
	{MOD_TEXT, "mod_first", 't'},
	{MOD_TEXT + 0x40, "mod_second", 't'},
};
static const struct guestsym_site mod_sites[] = {
	{MOD_TEXT, MOD_TEXT, "mod_first", 0},
	{MOD_TEXT + 0x40, MOD_TEXT + 0x40, "mod_second", 0},
};

static void guest_has_module(enum guestsym_module_state state)
{
	fake.nmods = 1;
	fake.mods[0] = (struct guestsym_module){
		.addr = 0x1234,
		.name = "mod",
		.state = state,
		.text = {MOD_TEXT, MOD_TEXT + 0x1000},
		.syms = mod_syms,
		.nr_syms = 2,
		.sites = mod_sites,
		.nr_sites = 2,
	};
	memcpy(fake.ram + MOD_PA, nop5, sizeof(nop5));
	memcpy(fake.ram + MOD_PA + 0x40, nop5, sizeof(nop5));
	fake_map(FAKE_PA + TOP_PGT, MOD_TEXT, 0x1000, MOD_PA);
}

static void hit_with(struct trace *t, uint64_t va, uint64_t rdi)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK), .rdi = rdi, .rflags = 0x202};
	struct machine_hit hit = {.va = va, .regs = &regs};
	const struct machine_trap *trap = fake_trap(va);

	assert_non_null(trap);
	hit.cookie = trap->cookie;
	trace_trap(t, &hit);
	assert_int_equal(fake.paused, 0);
}

static void modules_come_and_go(void **state)
{
	struct trace *t;
	uint64_t off, size;

	(void)state;
	add_function("do_init_module", FN_INIT_MODULE, 0);
	add_function("free_module", FN_FREE_MODULE, 0);
	t = trace_started((struct trace_config){0});
	assert_null(fake_trap(MOD_TEXT));
	guest_has_module(GUESTSYM_MODULE_COMING);
	hit_with(t, FAKE_VA(FN_INIT_MODULE), 0x1234);
	assert_non_null(fake_trap(MOD_TEXT));
	assert_true(fake_trap(MOD_TEXT + 0x40)->pa == MOD_PA + 0x40);
	assert_string_equal(modules_name_at(t, MOD_TEXT + 0x40), fake.mods[0].name);
	hit_with(t, MOD_TEXT + 0x40, 0);
	/* Read once more, as when another one is loaded: nothing twice. */
	hit_with(t, FAKE_VA(FN_INIT_MODULE), 0x1234);
	assert_int_equal(entries(t), 3);
	fake.mods[0].state = GUESTSYM_MODULE_GOING;
	hit_with(t, FAKE_VA(FN_FREE_MODULE), 0x1234);
	assert_null(fake_trap(MOD_TEXT));
	assert_null(fake_trap(MOD_TEXT + 0x40));
	/* Its records still have names. */
	assert_string_equal(modules_find(t, MOD_TEXT + 0x44, &off, &size)->name, "mod_second");
	assert_int_equal(off, 4);
	/* Loaded again, at the same place. */
	fake.mods[0].state = GUESTSYM_MODULE_COMING;
	hit_with(t, FAKE_VA(FN_INIT_MODULE), 0x1234);
	assert_non_null(fake_trap(MOD_TEXT));
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	trace_free(t);
}

static void write_functions(struct trace *t, enum func_file_kind kind, const char *text)
{
	struct func_file *file;

	trace_change_begin(t);
	assert_int_equal(func_file_open(instance_functions(trace_top(t)), kind, O_WRONLY, &file),
			 0);
	assert_int_equal(func_file_write(file, text, strlen(text)), strlen(text));
	func_file_close(file);
	trace_change_end(t);
}

/* What is written to files arrives where the records are made. */
static void graphs_are_filtered(void **state)
{
	const struct graph_filter *f;
	struct trace *t;

	(void)state;
	t = trace_started((struct trace_config){0});
	f = &trace_top(t)->graph;
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 7, true, 0), GRAPH_CALL_SHOWN);
	write_functions(t, FUNC_GRAPH, "alpha\n");
	write_functions(t, FUNC_GRAPH_NOTRACE, "beta\n");
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 0, false, 0),
			 GRAPH_CALL_SHOWN | GRAPH_CALL_NAMED);
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_BETA), 0, false, 0), GRAPH_CALL_HUSHED);
	trace_set_graph_depth(t, 3);
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 3, false, GRAPH_CALL_NAMED), 0);
	instance_set_tracer_option(trace_top(t), "function_graph", OUTPUT_GRAPH_IRQS, false);
	assert_int_equal(graph_filter_call(f, FAKE_VA(FN_ALPHA), 1, true, GRAPH_CALL_NAMED), 0);
	assert_true(graph_filter_enters(f, GRAPH_CALL_SHOWN));
	trace_set_thresh(t, 1000);
	assert_false(graph_filter_enters(f, GRAPH_CALL_SHOWN));
	assert_false(graph_filter_leaves(f, GRAPH_CALL_SHOWN, 999));
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, guest_set_up, guest_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hits_become_records),
		TEST(state_flags_are_the_kernels),
		TEST(hostile_pointers_read_as_zero),
		TEST(clock_is_the_kernels),
		TEST(sites_are_clean_while_ftrace_init_runs),
		TEST(detach_inside_ftrace_init_leaves_nothing),
		TEST(freed_init_memory_is_left_alone),
		TEST(guards_without_filter_record_nothing),
		TEST(unknown_bytes_are_left_out),
		TEST(until_ends_the_trace_with_its_record),
		TEST(until_works_without_a_site),
		TEST(errors_end_the_trace),
		TEST(a_guest_that_has_gone_is_waited_for),
		TEST(max_events_is_exact),
		TEST(wrong_configurations_are_explained),
		TEST(failed_patching_is_told),
		TEST(running_kernels_are_found_where_they_are),
		TEST(other_kernels_are_refused),
		TEST(modules_come_and_go),
		TEST(graphs_are_filtered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
