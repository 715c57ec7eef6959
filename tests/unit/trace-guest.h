/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-guest.h - on top of fake-guest.h: a made-up kernel with a few functions, a task, and what a
 * trace reads of them; and traces of it.
 */
#ifndef HVTRACE_TESTS_UNIT_TRACE_GUEST_H
#define HVTRACE_TESTS_UNIT_TRACE_GUEST_H

#include <stdlib.h>

#include "tests/unit/fake-guest.h"
#include "tracer/ring/entry.h"
#include "tracer/instance/instance.h"
#include "tracer/tracer.h"

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

static inline void put(uint32_t off, uint64_t value, size_t len)
{
	memcpy(fake_at(FAKE_VA(off)), &value, len);
}

static inline void add_function(const char *name, uint32_t off, uint32_t flags)
{
	int32_t rel = FN_FENTRY - ((int32_t)off + 5);

	fake_symbol(name, FAKE_VA(off), 't');
	fake.sites[fake.nsites++] = (struct guestsym_site){FAKE_VA(off), FAKE_VA(off), name, flags};
	*fake_at(FAKE_VA(off)) = 0xe8;
	memcpy(fake_at(FAKE_VA(off) + 1), &rel, sizeof(rel));
}

static inline int guest_set_up(void **state)
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

static inline int guest_tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

static inline struct trace *trace_with(struct trace_config cfg, char *err, size_t errlen)
{
	cfg.vcpus = cfg.vcpus ? cfg.vcpus : 1;
	cfg.tracer = cfg.tracer ? cfg.tracer : "function";
	cfg.buffer_bytes = 65536;
	cfg.engine = TRACE_ENGINE_TRAP;
	return trace_new(&cfg, err, errlen);
}

static inline struct trace *trace_started(struct trace_config cfg)
{
	char err[256] = "";
	struct trace *t = trace_with(cfg, err, sizeof(err));

	if (!t || trace_attach(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	return t;
}

/* Call the function at off: its trap, if it has one, fires with `parent` as return address. */
static inline bool guest_calls(struct trace *t, uint32_t off, uint64_t parent)
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

static inline bool next_entry(struct trace *t, struct ring_cursor *c,
			      struct trace_function_entry *e)
{
	struct ring_event ev;

	(void)t;
	if (!ring_next(c, &ev))
		return false;
	assert_true(ev.len >= sizeof(*e));
	memcpy(e, ev.data, sizeof(*e));
	return true;
}

static inline uint64_t entries(struct trace *t)
{
	struct ring_stats st;

	ring_get_stats(t->instances->ring[0], &st);
	return st.entries;
}

/* A test of this guest. */
#define TEST(f) cmocka_unit_test_setup_teardown(f, guest_set_up, guest_tear_down)

#endif
