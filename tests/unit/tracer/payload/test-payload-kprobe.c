// SPDX-License-Identifier: GPL-2.0-or-later
/* test-payload-kprobe.c - the handlers of the guest's kprobes and uprobes, run by this process. */
#include "tests/unit/payload-guest.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <ucontext.h>

enum { ROW = 2 };

static uint8_t *row_of(struct payload_guest *g)
{
	return g->window + WINDOW_PROBES + ROW * PROBE_ROW_SIZE;
}

static uint64_t row_count(struct payload_guest *g, unsigned int member)
{
	uint64_t count;

	memcpy(&count, row_of(g) + member, sizeof(count));
	return count;
}

/* As the kernel calls a handler: with these two arguments; with three, the last is the same. */
static void hit(struct payload_guest *g, uint32_t entry, const void *first, const void *second)
{
	struct guest_regs regs = {.rdi = (uintptr_t)first,
				  .rsi = (uintptr_t)second,
				  .rdx = (uintptr_t)g,
				  .rbx = 1,
				  .r12 = 2,
				  .rax = 3};

	payload_guest_enter(&regs, g->window + WINDOW_TEXT + entry);
	assert_int_equal(regs.rax, 0);
	assert_int_equal(regs.rbx, 1);
	assert_int_equal(regs.r12, 2);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

static void test_unanswered(void **state)
{
	struct payload_guest *g = *state;
	uint64_t text = (uintptr_t)g->window + WINDOW_TEXT;

	hit(g, g->text.kprobe, row_of(g), g);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	assert_int_equal(*ctl32(g, CTL_CALL_IP), (uint32_t)(text + g->text.kprobe_call));
	assert_int_equal(*ctl64(g, CTL_CALL_DI), (uintptr_t)g);
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 0);
	assert_int_equal(row_count(g, PROBE_ROW_MISSED), 1);
	/* This would never end, should it wait again. */
	g->cfg.call_timeout = UINT64_MAX;
	payload_guest_load(g);
	hit(g, g->text.kprobe, row_of(g), g);
	assert_int_equal(row_count(g, PROBE_ROW_MISSED), 2);
	/* The host has seen that. */
	g->cfg.call_timeout = 1000000;
	payload_guest_load(g);
	*ctl32(g, CTL_CALL_HEARD) = 1;
	hit(g, g->text.kprobe, row_of(g), g);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 2);
	assert_int_equal(row_count(g, PROBE_ROW_MISSED), 3);
}

/* Within another call of this vCPU's. */
static void test_busy(void **state)
{
	struct payload_guest *g = *state;

	*ctl32(g, CTL_CALL) = PAYLOAD_CALL_MADE;
	*ctl64(g, CTL_CALL_DI) = 1;
	hit(g, g->text.kprobe, row_of(g), g);
	assert_int_equal(*ctl64(g, CTL_CALL_DI), 1);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 0);
	assert_int_equal(row_count(g, PROBE_ROW_MISSED), 1);
}

/* struct pt_regs (arch/x86/include/asm/ptrace.h) */
enum {
	PT_R15,
	PT_R12 = 3,
	PT_BX = 5,
	PT_R9 = 8,
	PT_R8 = 9,
	PT_CX = 11,
	PT_DX = 12,
	PT_SI,
	PT_DI,
	PT_IP = 16,
	PT_SP = 19,
	PT_REGS = 21
};

struct host {
	struct payload_guest *g;
	uint64_t on_stack[2]; /* first argument, row */
	uint64_t regs[PT_REGS], regs_at;
	uint32_t preempt_count; /* what is told, less 1 */
};

static void *answer(void *arg)
{
	struct host *h = arg;
	const uint64_t *sp;

	while (ctl32_look(h->g, CTL_CALL) != PAYLOAD_CALL_MADE)
		sched_yield();
	sp = (const uint64_t *)ctl64_look(h->g, CTL_CALL_SP);
	memcpy(h->on_stack, sp, sizeof(h->on_stack));
	h->regs_at = ctl64_look(h->g, CTL_CALL_DI);
	memcpy(h->regs, (const void *)h->regs_at, sizeof(h->regs));
	h->preempt_count = ctl32_look(h->g, CTL_CALL_PC) - 1;
	ctl32_set(h->g, CTL_CALL, PAYLOAD_CALL_DONE);
	return NULL;
}

static struct host hit_answered_with(struct payload_guest *g, uint32_t entry, const void *first,
				     const void *second)
{
	struct host h = {.g = g};
	pthread_t thread;

	g->cfg.call_timeout = UINT64_MAX;
	payload_guest_load(g);
	assert_int_equal(pthread_create(&thread, NULL, answer, &h), 0);
	hit(g, entry, first, second);
	pthread_join(thread, NULL);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	return h;
}

static struct host hit_answered(struct payload_guest *g, uint32_t entry, const void *first)
{
	return hit_answered_with(g, entry, first, g);
}

static void test_entry(void **state)
{
	struct payload_guest *g = *state;
	struct host h = hit_answered(g, g->text.kprobe, row_of(g));

	assert_int_equal(h.on_stack[1], (uintptr_t)row_of(g));
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 1);
	assert_int_equal(row_count(g, PROBE_ROW_MISSED), 0);
}

/* Its first argument is not the row, which the kernel says elsewhere. */
static void test_return(void **state)
{
	struct payload_guest *g = *state;
	struct host h;

	g->percpu.current_kprobe = row_of(g);
	h = hit_answered(g, g->text.kretprobe, &h);
	assert_int_equal(h.on_stack[0], (uintptr_t)&h);
	assert_int_equal(h.on_stack[1], (uintptr_t)row_of(g));
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 1);
}

/* The function is entered: its arguments go behind the instance, for its return. */
static void test_return_keeps_arguments(void **state)
{
	static const unsigned int at[PROBE_ARGS] = {PT_DI, PT_SI, PT_DX, PT_CX, PT_R8, PT_R9};
	struct payload_guest *g = *state;
	uint64_t instance[3 + PROBE_ARGS] = {1, 2, 3}, regs[PT_REGS];

	for (unsigned int i = 0; i < PT_REGS; i++)
		regs[i] = 100 + i;
	g->cfg.instance_data = 3 * sizeof(instance[0]);
	payload_guest_load(g);
	hit(g, g->text.kretprobe_entry, instance, regs);
	assert_int_equal(instance[2], 3);
	for (unsigned int i = 0; i < PROBE_ARGS; i++)
		assert_int_equal(instance[3 + i], 100 + at[i]);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
}

/* Its arguments are those of a function that is entered: the stack begins with who called it. */
static void test_tracepoint(void **state)
{
	struct payload_guest *g = *state;
	struct host h = hit_answered(g, g->text.tracepoint, row_of(g));

	assert_int_equal(h.on_stack[0], (uintptr_t)row_of(g));
	assert_int_equal(h.on_stack[1], (uintptr_t)row_of(g));
	assert_int_equal(h.regs[PT_DI], (uintptr_t)row_of(g));
	assert_int_equal(h.regs[PT_SI], (uintptr_t)g);
	assert_int_equal(h.regs[PT_BX], 1);
	assert_int_equal(h.regs[PT_R12], 2);
	assert_int_equal(h.regs[PT_IP], 0);
	assert_int_equal(h.regs[PT_SP], h.regs_at + sizeof(h.regs));
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 1);
}

/* A task calls it that may be preempted: not while it waits. */
static void test_uprobe(void **state)
{
	struct payload_guest *g = *state;
	struct host h = hit_answered(g, g->text.uprobe, row_of(g));

	assert_int_equal(h.on_stack[1], (uintptr_t)row_of(g));
	assert_int_equal(h.regs_at, (uintptr_t)g);
	assert_int_equal(h.preempt_count, GUEST_PREEMPT + 1);
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 1);
}

/* Its second argument is the function; calls of that are counted where it begins. */
static void test_uprobe_return(void **state)
{
	static const uint8_t function;
	struct payload_guest *g = *state;
	struct host h;

	hit(g, g->text.uprobe_called, row_of(g), g);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(row_count(g, PROBE_ROW_CALLS), 1);
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 0);
	h = hit_answered_with(g, g->text.uretprobe, row_of(g), &function);
	assert_int_equal(h.on_stack[0], (uintptr_t)&function);
	assert_int_equal(h.on_stack[1], (uintptr_t)row_of(g));
	assert_int_equal(h.regs_at, (uintptr_t)g);
	assert_int_equal(h.preempt_count, GUEST_PREEMPT + 1);
	assert_int_equal(row_count(g, PROBE_ROW_CALLS), 1);
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 1);
}

/* --- with traps ------------------------------------------------------------------------------ */

/* What the host sees at the trap. */
static struct {
	unsigned int hits;
	uint64_t on_stack[2], rdi, regs[PT_REGS];
} seen;

static void trapped(int sig, siginfo_t *info, void *context)
{
	const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	(void)info;
	seen.hits++;
	seen.rdi = (uint64_t)regs[REG_RDI];
	memcpy(seen.regs, (const void *)regs[REG_RDI], sizeof(seen.regs));
	memcpy(seen.on_stack, (const void *)regs[REG_RSP], sizeof(seen.on_stack));
}

static void hit_trapped_with(struct payload_guest *g, uint32_t entry, const void *first,
			     const void *second)
{
	static const uint8_t int3_nop[] = {0xcc, 0x90};
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO}, before;

	memset(&seen, 0, sizeof(seen));
	memcpy(g->window + WINDOW_TEXT + g->text.kprobe_trap, int3_nop, sizeof(int3_nop));
	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	hit(g, entry, first, second);
	assert_int_equal(sigaction(SIGTRAP, &before, NULL), 0);
	assert_int_equal(seen.hits, 1);
	assert_int_equal(seen.on_stack[1], (uintptr_t)row_of(g));
	assert_int_equal(row_count(g, PROBE_ROW_HITS), 1);
}

static void hit_trapped(struct payload_guest *g, uint32_t entry, const void *first)
{
	hit_trapped_with(g, entry, first, g);
}

static void test_stop(void **state)
{
	struct payload_guest *g = *state;

	hit_trapped(g, g->text.kprobe_stop, row_of(g));
	assert_int_equal(seen.rdi, (uintptr_t)g);
}

static void test_stop_at_tracepoint(void **state)
{
	struct payload_guest *g = *state;

	hit_trapped(g, g->text.tracepoint_stop, row_of(g));
	assert_int_equal(seen.regs[PT_DI], (uintptr_t)row_of(g));
	assert_int_equal(seen.regs[PT_SI], (uintptr_t)g);
}

static void test_stop_at_return(void **state)
{
	struct payload_guest *g = *state;

	g->percpu.current_kprobe = row_of(g);
	hit_trapped(g, g->text.kretprobe_stop, &seen);
	assert_int_equal(seen.rdi, (uintptr_t)g);
	assert_int_equal(seen.on_stack[0], (uintptr_t)&seen);
}

static void test_stop_in_user_mode(void **state)
{
	struct payload_guest *g = *state;

	hit_trapped(g, g->text.uprobe_stop, row_of(g));
	assert_int_equal(seen.rdi, (uintptr_t)g);
}

static void test_stop_at_return_in_user_mode(void **state)
{
	struct payload_guest *g = *state;

	hit_trapped_with(g, g->text.uretprobe_stop, row_of(g), &seen);
	assert_int_equal(seen.rdi, (uintptr_t)g);
	assert_int_equal(seen.on_stack[0], (uintptr_t)&seen);
}

/* Without a host nobody waits. */
static void test_stop_alone(void **state)
{
	struct payload_guest *g = *state;

	hit(g, g->text.kprobe_stop, row_of(g), g);
	assert_int_equal(row_count(g, PROBE_ROW_MISSED), 0);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unanswered),
		TEST(test_busy),
		TEST(test_entry),
		TEST(test_return),
		TEST(test_return_keeps_arguments),
		TEST(test_stop),
		TEST(test_stop_at_return),
		TEST(test_stop_alone),
		TEST(test_tracepoint),
		TEST(test_stop_at_tracepoint),
		TEST(test_uprobe),
		TEST(test_uprobe_return),
		TEST(test_stop_in_user_mode),
		TEST(test_stop_at_return_in_user_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
