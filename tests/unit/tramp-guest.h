/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tramp-guest.h - on top of fake-kernel.h: a kernel that boots far enough to be traced with
 * trampolines, and what its vCPUs do where the payload would run: the test writes the records and
 * makes the calls.
 */
#ifndef HVTRACE_TESTS_TRAMP_GUEST_H
#define HVTRACE_TESTS_TRAMP_GUEST_H

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "tests/unit/fake-kernel.h"
#include "tracer/core/trace.h"
#include "tracer/payload/code.h"
#include "tracer/payload/payload.h"
#include "tracer/guest/preempt.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/tracer.h"

#define TRAMP_REGION   UINT64_C(0xffffffffc0000000)
#define TRAMP_LIMIT_MS 120000 /* for things that must happen */

/* Offsets in the made-up image, besides those of fake-kernel.h. */
enum {
	FN_ALPHA = 0x2000,
	FN_BETA = 0x2100,
	FN_MUTEX_LOCK = 0x2200,
	FN_FTRACE_INIT = 0x2300,
	FN_START_KERNEL = 0x2400,
	FN_KPROBES = 0x2500,
	FN_JUMP_LABEL = 0x2600,
	FN_TASK_NEW = 0x2700, /* with tramp_add_ends() */
	FN_TASK_GONE = 0x2800,
	TEXT_MUTEX = 0x5800,
	INIT_TASK = 0x9000,
	SIGNAL = 0x9800, /* of CPU 0's task; the next follow */
	SIGNAL_SIZE = 0x100,
	SLEEPER = 0xa000, /* a task that does not run: a thread of CPU 1's */
	SLEEPER_STACK = 0x24000,
	UPPER = TOP_PGT + 0x1000, /* the table between, and the page directory */
	DIRECTORY = TOP_PGT + 0x2000,
	PCPU_NUMBER = 0x118,
	/* in struct task_struct */
	TASK_FLAGS = 0,
	TASK_TGID = 0x24,
	TASK_TASKS = 0x40,
	TASK_SIGNAL = 0x50,
	TASK_THREAD_NODE = 0x58,
	TASK_SP = 0x68,
	TASK_COMM = 0x70,
	TASK_MIGRATION = 0x80,
	TASK_EXIT_STATE = 0x90,
	TASK_ON_CPU = 0x94,
	THREAD_HEAD = 0x10, /* in struct signal_struct */
	TRAMP_CPUS = 2,
};

/* --- the kernel ------------------------------------------------------------------------------ */

static inline void tramp_add_types(void)
{
	fake_field("task_struct.tgid", TASK_TGID, 4);
	fake_field("task_struct.comm", TASK_COMM, 16);
	fake_field("task_struct.thread_info.flags", TASK_FLAGS, 8);
	fake_field("task_struct.migration_disabled", TASK_MIGRATION, 2);
	fake_field("task_struct.tasks", TASK_TASKS, 16);
	fake_field("task_struct.signal", TASK_SIGNAL, 8);
	fake_field("task_struct.thread_node", TASK_THREAD_NODE, 16);
	fake_field("task_struct.thread.sp", TASK_SP, 8);
	fake_field("signal_struct.thread_head", THREAD_HEAD, 16);
	fake_field("mutex.owner", 0, 8);
}

/* The list of processes is init_task, CPU 0's, CPU 1's; the sleeper is a thread of the latter. */
static inline void tramp_add_tasks(void)
{
	static const uint32_t order[] = {INIT_TASK, TASK, TASK + TASK_SIZE, INIT_TASK};

	for (unsigned int i = 0; i < 3; i++)
		put(order[i] + TASK_TASKS, FAKE_VA(order[i + 1] + TASK_TASKS), 8);
	for (unsigned int cpu = 0; cpu < TRAMP_CPUS; cpu++) {
		uint64_t task = TASK + cpu * TASK_SIZE, signal = SIGNAL + cpu * SIGNAL_SIZE;

		put(task + TASK_SIGNAL, FAKE_VA(signal), 8);
		put(signal + THREAD_HEAD, FAKE_VA(task + TASK_THREAD_NODE), 8);
		put(task + TASK_THREAD_NODE, FAKE_VA(signal + THREAD_HEAD), 8);
		put(task + TASK_COMM, 0x30757063 + ((uint64_t)cpu << 24), 8); /* "cpu0" */
		put(task + TASK_TGID, 42 + cpu, 4);
		put(PER_CPU_AREA + cpu * PER_CPU_SIZE + PCPU_NUMBER, cpu, 4);
	}
	put(TASK + TASK_SIZE + TASK_THREAD_NODE, FAKE_VA(SLEEPER + TASK_THREAD_NODE), 8);
	put(SLEEPER + TASK_THREAD_NODE, FAKE_VA(SIGNAL + SIGNAL_SIZE + THREAD_HEAD), 8);
	put(SLEEPER + TASK_STACK, FAKE_VA(SLEEPER_STACK), 8);
	put(SLEEPER + TASK_SP, FAKE_VA(SLEEPER_STACK + 0x3000), 8);
}

/* What tells of tasks that come and go, behind tramp_kernel_make(). */
static inline void tramp_add_ends(void)
{
	add_site("wake_up_new_task", FN_TASK_NEW);
	add_site("put_task_struct_rcu_user", FN_TASK_GONE);
	fake_field("task_struct.exit_state", TASK_EXIT_STATE, 4);
	fake_field("task_struct.on_cpu", TASK_ON_CPU, 4);
}

static inline void tramp_kernel_make(void)
{
	kernel_make();
	fake.window = true;
	fake.vcpus = TRAMP_CPUS;
	fake.sregs.cr0 = UINT64_C(0x80000001);
	add_site("alpha", FN_ALPHA);
	add_site("beta", FN_BETA);
	add_site("mutex_lock", FN_MUTEX_LOCK);
	fake_symbol("ftrace_init", FAKE_VA(FN_FTRACE_INIT), 'T');
	fake_symbol("start_kernel", FAKE_VA(FN_START_KERNEL), 'T');
	fake_symbol("register_kprobe", FAKE_VA(FN_KPROBES), 'T');
	fake_symbol("arch_jump_label_transform_queue", FAKE_VA(FN_JUMP_LABEL), 't');
	fake_symbol("text_mutex", FAKE_VA(TEXT_MUTEX), 'D');
	fake_symbol("init_task", FAKE_VA(INIT_TASK), 'D');
	fake_symbol("cpu_number", PCPU_NUMBER, 'A');
	tramp_add_types();
	tramp_add_tasks();
	put(TOP_PGT + 8 * 511, (FAKE_PA + UPPER) | 0x63, 8);
	put(UPPER + 8 * 511, (FAKE_PA + DIRECTORY) | 0x63, 8);
	for (unsigned int cpu = 0; cpu < TRAMP_CPUS; cpu++)
		fake.now[cpu] = (struct machine_regs){
			.rip = FAKE_VA(FN_START_KERNEL),
			.rsp = FAKE_VA(STACK + cpu * STACK_SIZE + 0x3f00),
		};
}

/* --- a trace of it --------------------------------------------------------------------------- */

static inline struct trace *tramp_trace(struct trace_config cfg)
{
	static const char *const filter[] = {"alpha", "beta"};
	char err[256] = "";
	struct trace *t;

	cfg.vcpus = TRAMP_CPUS;
	cfg.tracer = "function";
	cfg.clock = "x86-tsc";
	cfg.buffer_bytes = 65536;
	cfg.window_bytes = TRACE_WINDOW_MIN;
	if (!cfg.filter) {
		cfg.filter = filter;
		cfg.nr_filter = 2;
	}
	t = trace_new(&cfg, err, sizeof(err));
	if (!t)
		fail_msg("%s", err);
	return t;
}

/* vCPU 0 comes upon a trap, with this at the top of its stack. */
static inline void tramp_trap(struct trace *t, uint64_t va, uint64_t top)
{
	const struct machine_trap *trap = fake_trap(va);
	struct machine_regs regs = {.rsp = fake.now[0].rsp, .rip = va, .rflags = 0x202};
	struct machine_hit hit = {.tsc = 1000, .va = va, .regs = &regs};

	assert_non_null(trap);
	put(regs.rsp - FAKE_TEXT, top, 8);
	hit.cookie = trap->cookie;
	if (trap->action == MACHINE_TRAP_ONCE)
		machine_traps_clear(NULL, &va, 1);
	trace_trap(t, &hit);
}

/* As far as ftrace_init() and back. */
static inline void tramp_boot(struct trace *t)
{
	char err[256] = "";

	/* Its functions are the fake's, but it is known that there is one. */
	if (trace_attach(t, (struct machine *)&fake, err, sizeof(err)))
		fail_msg("%s", err);
	tramp_trap(t, FAKE_VA(FN_FTRACE_INIT), FAKE_VA(FN_START_KERNEL + 0x50));
	tramp_trap(t, FAKE_VA(FN_START_KERNEL + 0x50), 0);
}

static inline struct trace *tramp_started(struct trace_config cfg)
{
	struct trace *t;

	cfg.engine = TRACE_ENGINE_TRAMPOLINE;
	t = tramp_trace(cfg);
	tramp_boot(t);
	return t;
}

static inline void tramp_end(struct trace *t)
{
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.paused, 0);
	trace_free(t);
}

/* --- what is in its memory ------------------------------------------------------------------- */

/* Run-time address that the site calls, 0: it holds its NOP. */
static inline uint64_t tramp_target(uint32_t off)
{
	uint8_t now[SITE_SIZE] = {0};

	assert_int_equal(machine_read(NULL, FAKE_PA + off, now, sizeof(now)), 0);
	if (!memcmp(now, site_nop, sizeof(now)))
		return 0;
	assert_int_equal(now[0], INSN_CALL);
	return site_call_target(now, FAKE_VA(off));
}

/* Run-time address of the window, as the page directory has it; 0: none. */
static inline uint64_t tramp_window(void)
{
	for (unsigned int i = 0; i < 512; i++)
		if (get(FAKE_VA(DIRECTORY + 8 * i)))
			return TRAMP_REGION + (uint64_t)i * WINDOW_PIECE;
	return 0;
}

static inline uint64_t tramp_entry(const uint8_t *label)
{
	return tramp_window() + WINDOW_TEXT + (uint64_t)(label - payload_code);
}

/* --- what its vCPUs do ----------------------------------------------------------------------- */

static inline void window_get_at(uint64_t off, void *buf, size_t len)
{
	memset(buf, 0, len); /* analysers think that the rest is reached when it fails */
	assert_int_equal(machine_read(NULL, FAKE_WINDOW + off, buf, len), 0);
}

static inline void window_put_at(uint64_t off, const void *buf, size_t len)
{
	assert_int_equal(machine_write(NULL, FAKE_WINDOW + off, buf, len), 0);
}

static inline uint64_t ctl_off(unsigned int vcpu, unsigned int member)
{
	return WINDOW_CTL + (uint64_t)vcpu * CTL_SIZE + member;
}

static inline uint32_t tramp_ring_size(void)
{
	struct payload_header h;

	window_get_at(WINDOW_HEADER, &h, sizeof(h));
	return h.ring_size;
}

/* The number of a vCPU's next record, which is its to write now. */
static inline uint64_t tramp_reserve(unsigned int vcpu)
{
	uint64_t n, next;

	window_get_at(ctl_off(vcpu, CTL_HEAD), &n, sizeof(n));
	next = n + 1;
	window_put_at(ctl_off(vcpu, CTL_HEAD), &next, sizeof(next));
	return n;
}

static inline void tramp_write(unsigned int vcpu, uint64_t n, struct payload_record r)
{
	uint32_t size = tramp_ring_size();

	r.seq = (uint32_t)n;
	window_put_at(WINDOW_RINGS + (uint64_t)vcpu * size + (n * sizeof(r) & (size - 1)), &r,
		      sizeof(r));
}

static inline void tramp_record(unsigned int vcpu, struct payload_record r)
{
	tramp_write(vcpu, tramp_reserve(vcpu), r);
}

static inline void tramp_function(unsigned int vcpu, uint64_t tsc, uint32_t off, uint32_t state,
				  uint32_t task)
{
	tramp_record(vcpu, (struct payload_record){
				   .tsc = tsc,
				   .ip = (uint32_t)FAKE_VA(off),
				   .parent = (uint32_t)FAKE_VA(FN_START_KERNEL + 0x10),
				   .task = task,
				   .state = state | PAYLOAD_FUNCTION << STATE_TYPE_SHIFT,
			   });
}

static inline void tramp_comm(unsigned int vcpu, uint32_t pid, uint32_t tgid, const char *comm)
{
	struct payload_record r = {.comm_pid = pid,
				   .comm_tgid = tgid,
				   .state = (uint32_t)PAYLOAD_COMM << STATE_TYPE_SHIFT};

	strncpy(r.comm, comm, sizeof(r.comm) - 1);
	tramp_record(vcpu, r);
}

static inline int64_t tramp_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Wait for what other threads do. */
#define tramp_wait(condition)                                                                      \
	do {                                                                                       \
		int64_t end_ = tramp_ms() + TRAMP_LIMIT_MS;                                        \
                                                                                                   \
		while (!(condition)) {                                                             \
			if (tramp_ms() > end_)                                                     \
				fail_msg("not in time: %s", #condition);                           \
			sched_yield();                                                             \
		}                                                                                  \
	} while (0)

static inline uint32_t tramp_call_state(unsigned int vcpu)
{
	uint32_t state;

	window_get_at(ctl_off(vcpu, CTL_CALL), &state, sizeof(state));
	return state;
}

/* The site at `va` is about to call the host; sp as it is at the site. */
static inline void tramp_call_fill(unsigned int vcpu, uint64_t va, uint64_t sp, uint64_t di)
{
	uint32_t ip = (uint32_t)va, count = PREEMPT_NO_RESCHED + 1;
	uint64_t tsc = 5000, flags = 0x202;

	window_put_at(ctl_off(vcpu, CTL_CALL_IP), &ip, sizeof(ip));
	window_put_at(ctl_off(vcpu, CTL_CALL_TSC), &tsc, sizeof(tsc));
	window_put_at(ctl_off(vcpu, CTL_CALL_SP), &sp, sizeof(sp));
	window_put_at(ctl_off(vcpu, CTL_CALL_DI), &di, sizeof(di));
	window_put_at(ctl_off(vcpu, CTL_CALL_FL), &flags, sizeof(flags));
	window_put_at(ctl_off(vcpu, CTL_CALL_PC), &count, sizeof(count));
}

static inline void tramp_call_go(unsigned int vcpu)
{
	static const uint32_t made = PAYLOAD_CALL_MADE;

	window_put_at(ctl_off(vcpu, CTL_CALL), &made, sizeof(made));
}

static inline void tramp_call_make(unsigned int vcpu, uint64_t va, uint64_t sp, uint64_t di)
{
	tramp_call_fill(vcpu, va, sp, di);
	tramp_call_go(vcpu);
}

/* The same, and wait for the answer as the payload does. */
static inline void tramp_call(unsigned int vcpu, uint64_t va, uint64_t sp, uint64_t di)
{
	static const uint32_t none = PAYLOAD_CALL_NONE;

	tramp_call_make(vcpu, va, sp, di);
	tramp_wait(tramp_call_state(vcpu) == PAYLOAD_CALL_DONE);
	window_put_at(ctl_off(vcpu, CTL_CALL), &none, sizeof(none));
}

/* The trace as it reads, without its header; to be freed. */
static inline char *tramp_print(struct trace *t)
{
	char *text = NULL, *from, *to;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(trace_print(t, f), 0);
	assert_int_equal(fclose(f), 0);
	for (from = to = text; *from;) {
		size_t line = strcspn(from, "\n") + 1;

		if (*from != '#') {
			memmove(to, from, line);
			to += line;
		}
		from += line;
	}
	*to = '\0';
	return text;
}

#endif
