// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-nest.c - the payload interrupted at each of its instructions, by single steps: what
 * interrupts call comes in there, and the host does something at the worst moments.
 */
#include "tests/unit/payload-guest.h"
#include "tracer/payload/frame.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>
#include <x86intrin.h>

enum { FLAG_TRAP = 1 << 8, FLAG_IF = 1 << 9, FLAG_DF = 1 << 10 };

#define DI UINT64_C(0x1122334455667788)
#define BP 7

/* What happens between two instructions of the payload, at this offset in its code. */
typedef void step_fn(struct payload_guest *g, uint32_t off);

static struct {
	struct payload_guest *g;
	step_fn *fn;
	unsigned int steps, bad;
} stepping;

static void expect(bool holds)
{
	stepping.bad += !holds;
}

/* By what it has pushed, from wherever it is: to function 0's site, or to its end. */
static bool returns_to_site(const struct payload_guest *g, uint32_t off, const uint64_t *sp)
{
	const uint64_t text = (uintptr_t)g->window + WINDOW_TEXT;
	struct payload_frame f;

	while (payload_frame_at(off, &f)) {
		uint64_t to = sp[f.words];

		sp += f.words + 1;
		if (to == (uintptr_t)g->code || to == (uintptr_t)g->code + 5)
			return f.bare && *sp == (uintptr_t)payload_guest_parent;
		off = (uint32_t)(to - text);
	}
	return false;
}

static void step(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	struct payload_guest *g = stepping.g;
	uint32_t count = g->percpu.preempt_count;
	uint64_t off = (uint64_t)c->uc_mcontext.gregs[REG_RIP] - (uintptr_t)g->window - WINDOW_TEXT;

	(void)sig;
	(void)info;
	if (off >= g->text.size)
		return;
	stepping.steps++;
	/* Outside the edges, and only there, preempt_count is raised. */
	expect(returns_to_site(g, (uint32_t)off, (const uint64_t *)c->uc_mcontext.gregs[REG_RSP]));
	expect(count == (in_edge(&g->text, off) ? GUEST_PREEMPT : GUEST_PREEMPT + 1U));
	stepping.fn(g, (uint32_t)off);
}

static void step_through(struct payload_guest *g, uint32_t entry, step_fn *fn,
			 struct guest_regs *regs)
{
	struct sigaction sa = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, old;

	stepping.g = g;
	stepping.fn = fn;
	stepping.steps = stepping.bad = 0;
	regs->rflags |= FLAG_TRAP;
	assert_int_equal(sigaction(SIGTRAP, &sa, &old), 0);
	payload_guest_call(g, entry, regs);
	assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
	assert_true(stepping.steps > 20);
	assert_int_equal(stepping.bad, 0);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

/* An interrupt's function calls an entry of the payload: function 1. */
static void interrupt(struct payload_guest *g, uint32_t entry)
{
	void (*fn)(void);
	void *site = payload_guest_function(g, 1, entry);

	memcpy(&fn, &site, sizeof(fn));
	fn();
}

/* --- records in records --------------------------------------------------------------------- */

static void interrupt_with_record(struct payload_guest *g, uint32_t off)
{
	uint64_t head = *ctl64(g, CTL_HEAD);
	const struct payload_record *r;

	(void)off;
	interrupt(g, g->text.function);
	if (*ctl64(g, CTL_HEAD) == head)
		return;
	r = &g->ring[(*ctl64(g, CTL_HEAD) - 1) & (GUEST_LENGTH - 1)];
	expect(r->seq == (uint32_t)(*ctl64(g, CTL_HEAD) - 1));
	expect((r->state & STATE_COUNT_MASK) == g->percpu.preempt_count);
	expect(r->task == g->task.pid);
}

/* Every record is there and whole; of each task the name comes first. */
static void check_records(struct payload_guest *g, bool new_task)
{
	uint64_t head = *ctl64(g, CTL_HEAD);
	unsigned int outer = 0, nested = 0, comms = 0;

	assert_in_range(head, GUEST_LENGTH + 1, 2 * GUEST_LENGTH);
	for (uint64_t nr = GUEST_LENGTH; nr < head; nr++) {
		const struct payload_record *r = payload_guest_record(g, nr);

		if (r->state >> STATE_TYPE_SHIFT == PAYLOAD_COMM) {
			assert_int_equal(r->comm_pid, g->task.pid);
			assert_string_equal(r->comm, "workload");
			comms++;
			continue;
		}
		assert_int_equal(r->state >> STATE_TYPE_SHIFT, PAYLOAD_FUNCTION);
		assert_true(comms || !new_task);
		outer += r->ip == (uint32_t)(uintptr_t)g->code;
		nested += r->ip == (uint32_t)(uintptr_t)g->code + 16;
	}
	assert_int_equal(outer, 1);
	assert_int_equal(nested, stepping.steps);
	assert_int_equal(outer + nested + comms, head - GUEST_LENGTH);
	assert_int_equal(comms != 0, new_task);
}

static void test_record(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	step_through(g, g->text.function, interrupt_with_record, &regs);
	check_records(g, false);
}

static void test_record_of_new_task(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	*ctl32(g, CTL_LAST_PID) = UINT32_MAX;
	payload_guest_wait(g, 1000000);
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON | CTL_FL_PIDS;
	memset(g->window + WINDOW_PIDS, 0xff, WINDOW_PIDS_SIZE);
	step_through(g, g->text.function, interrupt_with_record, &regs);
	check_records(g, true);
}

static void interrupt_untraced(struct payload_guest *g, uint32_t off)
{
	(void)g;
	(void)off;
}

static void test_off(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	*ctl32(g, CTL_FLAGS) = 0;
	step_through(g, g->text.function, interrupt_untraced, &regs);
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON | CTL_FL_PIDS;
	step_through(g, g->text.function, interrupt_untraced, &regs);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
}

/* Nobody takes anything: each record waits its time, the interrupts' ones in that of the others. */
static void test_full(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	payload_guest_wait(g, 100);
	*ctl64(g, CTL_HEAD) += GUEST_LENGTH - 64;
	step_through(g, g->text.function, interrupt_with_record, &regs);
	assert_int_equal(*ctl64(g, CTL_DROPPED), stepping.steps + 1);
	assert_int_equal(*ctl64(g, CTL_HEAD), 2 * GUEST_LENGTH - 64);
}

static void take_some(struct payload_guest *g, uint32_t off)
{
	(void)off;
	if (stepping.steps == 100)
		*ctl64(g, CTL_TAIL) += 1;
}

static void test_full_until_taken(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	payload_guest_wait(g, UINT64_C(1) << 62);
	*ctl64(g, CTL_HEAD) += GUEST_LENGTH - 64;
	step_through(g, g->text.function, take_some, &regs);
	assert_true(stepping.steps > 100);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 0);
	payload_guest_record(g, 2 * GUEST_LENGTH - 64);
}

/* The host has stopped the vCPU for longer than it waits, and takes something when it runs again.
 */
static void stop_and_take(struct payload_guest *g, uint32_t off)
{
	uint64_t start = __rdtsc();

	(void)off;
	while (stepping.steps == 100 && __rdtsc() - start < 2 * g->cfg.full_timeout)
		;
	if (stepping.steps == 300)
		*ctl64(g, CTL_TAIL) += 1;
}

static void test_full_and_stopped(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	payload_guest_wait(g, 50000000);
	*ctl64(g, CTL_HEAD) += GUEST_LENGTH - 64;
	step_through(g, g->text.function, stop_and_take, &regs);
	assert_true(stepping.steps > 300);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 0);
	payload_guest_record(g, 2 * GUEST_LENGTH - 64);
}

/* --- calls to the host ---------------------------------------------------------------------- */

static void expect_call(struct payload_guest *g)
{
	expect(*ctl32(g, CTL_CALL_IP) == (uint32_t)(uintptr_t)g->code);
	expect(*ctl64(g, CTL_CALL_DI) == DI);
	expect(__rdtsc() >= *ctl64(g, CTL_CALL_TSC));
	expect((*ctl64(g, CTL_CALL_FL) & (FLAG_IF | FLAG_DF)) == FLAG_IF);
	expect(*ctl64(g, CTL_CALL_BP) == BP);
	expect(*ctl32(g, CTL_CALL_PC) == g->percpu.preempt_count);
}

static void answer(struct payload_guest *g, uint32_t off)
{
	(void)off;
	if (*ctl32(g, CTL_CALL) != PAYLOAD_CALL_MADE || stepping.steps < 500)
		return;
	expect_call(g);
	*ctl32(g, CTL_CALL) = PAYLOAD_CALL_DONE;
}

static void test_call(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};
	uint64_t start = __rdtsc();

	g->cfg.call_timeout = UINT64_MAX;
	payload_guest_load(g);
	*ctl32(g, CTL_CALL) = PAYLOAD_CALL_DONE; /* an answer that came too late */
	step_through(g, g->text.call, answer, &regs);
	assert_true(stepping.steps >= 500);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(*ctl64(g, CTL_CALL_SP), regs.rsp);
	assert_true(*ctl64(g, CTL_CALL_TSC) > start);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
}

static unsigned int answers;

/* An interrupt may come behind each answer, and call as well. */
static void answer_again(struct payload_guest *g, uint32_t off)
{
	(void)off;
	if (*ctl32(g, CTL_CALL) == PAYLOAD_CALL_AGAIN) {
		interrupt(g, g->text.call);
		interrupt(g, g->text.stack);
		expect(*ctl32(g, CTL_CALL) == PAYLOAD_CALL_AGAIN);
	}
	if (*ctl32(g, CTL_CALL) != PAYLOAD_CALL_MADE)
		return;
	expect_call(g);
	*ctl32(g, CTL_CALL) = ++answers < 3 ? PAYLOAD_CALL_AGAIN : PAYLOAD_CALL_DONE;
}

enum { MSLEEP = 512, SLEPT = 768 }; /* in the guest's code */

/* A function that notes for how long, and has its caller's %rdi again for the test's sake. */
static void msleep_make(struct payload_guest *g)
{
	uint8_t code[] = {0x48, 0x89, 0x3c, 0x25, 0, 0, 0, 0,	    /* mov %rdi, SLEPT */
			  0x48, 0xbf, 0,    0,	  0, 0, 0, 0, 0, 0, /* movabs $DI, %rdi */
			  0xc3};
	uint32_t slept = (uint32_t)(uintptr_t)g->code + SLEPT;
	uint64_t di = DI;

	memcpy(code + 4, &slept, sizeof(slept));
	memcpy(code + 10, &di, sizeof(di));
	memcpy(g->code + MSLEEP, code, sizeof(code));
	g->cfg.msleep = (uintptr_t)g->code + MSLEEP;
}

/* As often as the host wants it the task sleeps, and is back at the site. */
static void test_call_again(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};
	uint64_t slept = 0;

	msleep_make(g);
	g->cfg.call_timeout = 1000000000;
	payload_guest_load(g);
	answers = 0;
	step_through(g, g->text.call, answer_again, &regs);
	memcpy(&slept, g->code + SLEPT, sizeof(slept));
	assert_int_equal(answers, 3);
	assert_int_equal(slept, PAYLOAD_AGAIN_MS);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(*ctl64(g, CTL_CALL_SP), regs.rsp);
}

static void test_call_unanswered(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};
	uint64_t start = __rdtsc();

	payload_guest_call(g, g->text.call, &regs);
	assert_true(__rdtsc() - start >= g->cfg.call_timeout);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	assert_int_equal(*ctl32(g, CTL_CALL_IP), (uint32_t)(uintptr_t)g->code);
}

static void take_call(struct payload_guest *g, uint32_t off)
{
	(void)off;
	if (*ctl32(g, CTL_CALL) == PAYLOAD_CALL_MADE)
		*ctl32(g, CTL_CALL) = PAYLOAD_CALL_TAKEN;
}

/* The host has taken it, and dies. */
static void test_call_abandoned(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};
	uint64_t start = __rdtsc();

	step_through(g, g->text.call, take_call, &regs);
	assert_true(__rdtsc() - start >= 2 * g->cfg.call_timeout);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
}

static uint64_t *host(struct payload_guest *g)
{
	return (uint64_t *)(void *)(g->window + WINDOW_HOST);
}

/* Nothing is asked of a host that has gone. */
static void test_call_without_host(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	g->cfg.call_timeout = UINT64_MAX;
	payload_guest_load(g);
	*host(g) = HOST_GONE;
	payload_guest_call(g, g->text.call, &regs);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(*ctl32(g, CTL_CALL_IP), 0);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	*host(g) = HOST_HERE;
	step_through(g, g->text.call, answer, &regs);
	assert_int_equal(*ctl32(g, CTL_CALL_IP), (uint32_t)(uintptr_t)g->code);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
}

static void host_goes(struct payload_guest *g, uint32_t off)
{
	(void)off;
	if (*ctl32(g, CTL_CALL) & PAYLOAD_CALL_BUSY && stepping.steps == 200)
		*host(g) = HOST_GONE;
}

static void host_takes_and_goes(struct payload_guest *g, uint32_t off)
{
	take_call(g, off);
	host_goes(g, off);
}

/* It goes while it is waited for: before it has taken the call, or behind that. */
static void test_call_host_goes(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	g->cfg.call_timeout = UINT64_MAX;
	payload_guest_load(g);
	*host(g) = HOST_HERE;
	step_through(g, g->text.call, host_goes, &regs);
	assert_in_range(stepping.steps, 200, 250);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	*host(g) = HOST_HERE;
	step_through(g, g->text.call, host_takes_and_goes, &regs);
	assert_in_range(stepping.steps, 200, 260);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
}

/* The first time is over; from now on there is all the time, and some of it is needed. */
static void answer_late(struct payload_guest *g, uint32_t off)
{
	take_call(g, off);
	if (g->window[WINDOW_TEXT + off] == 0xf0) { /* lock cmpxchg */
		expect(*ctl32(g, CTL_CALL) == PAYLOAD_CALL_TAKEN);
		g->cfg.call_timeout = UINT64_MAX;
		payload_guest_load(g);
		stepping.steps = 0;
	}
	if (g->cfg.call_timeout && stepping.steps == 500)
		*ctl32(g, CTL_CALL) = PAYLOAD_CALL_DONE;
}

static void test_call_answered_late(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	g->cfg.call_timeout = 0;
	payload_guest_load(g);
	step_through(g, g->text.call, answer_late, &regs);
	assert_in_range(stepping.steps, 500, 600);
	assert_int_equal(g->cfg.call_timeout, UINT64_MAX);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
}

/* While a vCPU waits, its interrupts' functions record, and make no calls. */
static void interrupt_call(struct payload_guest *g, uint32_t off)
{
	uint32_t call = *ctl32(g, CTL_CALL);

	if (g->cfg.call_timeout == UINT64_MAX && !(call & PAYLOAD_CALL_BUSY))
		return; /* one of its own would wait for ever */
	if (*ctl64(g, CTL_HEAD) < 2 * GUEST_LENGTH)
		interrupt_with_record(g, off);
	interrupt(g, g->text.call);
	if (call & PAYLOAD_CALL_BUSY)
		expect(*ctl32(g, CTL_CALL) == call);
	if (call == PAYLOAD_CALL_MADE)
		expect_call(g);
	answer(g, off);
}

static void test_call_in_call(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	g->cfg.call_timeout = UINT64_MAX;
	payload_guest_load(g);
	step_through(g, g->text.call, interrupt_call, &regs);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(*ctl64(g, CTL_HEAD), 2 * GUEST_LENGTH);
}

/* One before and one behind another one's: each has its turn. */
static void test_call_around_call(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	g->cfg.call_timeout = 0;
	payload_guest_load(g);
	step_through(g, g->text.call, interrupt_call, &regs);
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	assert_int_equal(*ctl32(g, CTL_CALL_IP), (uint32_t)(uintptr_t)g->code + 16);
}

static void test_lock(void **state)
{
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rflags = 0};

	payload_guest_call(g, g->text.lock, &regs);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	payload_guest_call(g, g->text.lock_record, &regs);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 1);
	payload_guest_record(g, GUEST_LENGTH);
	assert_int_equal(*ctl64(g, CTL_CALL_TSC), 0);

	g->cfg.text_mutex = UINT64_C(0xffffffff80123456);
	payload_guest_load(g);
	regs = (struct guest_regs){.rdi = g->cfg.text_mutex};
	payload_guest_call_with(g, g->text.lock, &regs);
	assert_int_equal(*ctl64(g, CTL_CALL_DI), g->cfg.text_mutex);
	*ctl64(g, CTL_CALL_DI) = 0;
	payload_guest_call_with(g, g->text.lock_record, &regs);
	assert_int_equal(*ctl64(g, CTL_CALL_DI), g->cfg.text_mutex);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 1);
}

/* Whether the host is told that this guest's only function locks text_mutex. */
static bool lock_is_told(struct payload_guest *g, uint32_t entry)
{
	struct guest_regs regs = {.rdi = g->cfg.text_mutex};

	*ctl64(g, CTL_CALL_DI) = 0;
	payload_guest_call_with(g, entry, &regs);
	return *ctl64(g, CTL_CALL_DI) == g->cfg.text_mutex;
}

/* Who is in the table, which is full, is not asked about, and is recorded as ever. */
static void test_locker(void **state)
{
	struct payload_guest *g = *state;
	uint32_t parent = (uint32_t)(uintptr_t)payload_guest_parent;
	struct payload_locker table[LOCKERS] = {{0}}, *last = &table[LOCKERS - 1];

	g->cfg.text_mutex = UINT64_C(0xffffffff80123456);
	payload_guest_load(g);
	for (size_t i = 0; i < LOCKERS; i++)
		table[i] = (struct payload_locker){parent + 1, UINT32_MAX - 1};
	memcpy(g->window + WINDOW_LOCKERS, table, sizeof(table));
	assert_true(lock_is_told(g, g->text.lock));
	assert_true(lock_is_told(g, g->text.lock_record));
	*last = (struct payload_locker){parent - 2, 2};
	memcpy(g->window + WINDOW_LOCKERS, table, sizeof(table));
	assert_true(lock_is_told(g, g->text.lock));
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	last->bytes = 3;
	memcpy(g->window + WINDOW_LOCKERS, table, sizeof(table));
	assert_false(lock_is_told(g, g->text.lock));
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	assert_false(lock_is_told(g, g->text.lock_record));
	payload_guest_record(g, GUEST_LENGTH);
}

static bool calls_for_stack(struct payload_guest *g)
{
	struct guest_regs regs = {.rflags = 0};

	*ctl64(g, CTL_CALL_TSC) = 0;
	payload_guest_call(g, g->text.stack, &regs); /* nobody answers */
	return *ctl64(g, CTL_CALL_TSC);
}

static void test_stack(void **state)
{
	struct payload_guest *g = *state;
	uint64_t head = *ctl64(g, CTL_HEAD);
	uint8_t *pids = g->window + WINDOW_PIDS;

	*ctl32(g, CTL_NO_WAIT) = 1;
	assert_true(calls_for_stack(g)); /* it is a task */
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON | CTL_FL_PIDS;
	assert_false(calls_for_stack(g));
	pids[g->task.pid / 8] |= (uint8_t)(1 << (g->task.pid & 7));
	assert_true(calls_for_stack(g));
	*ctl32(g, CTL_FLAGS) = 0;
	assert_false(calls_for_stack(g));
	assert_int_equal(*ctl64(g, CTL_HEAD), head);
}

/* What waits already, and in interrupts what must not wait, is recorded only. */
static void test_stack_without_wait(void **state)
{
	static const uint32_t interrupts[] = {0x10000, 0x100000, 0x100};
	struct payload_guest *g = *state;
	uint64_t head = *ctl64(g, CTL_HEAD);

	*ctl32(g, CTL_CALL) = PAYLOAD_CALL_FILLING;
	assert_false(calls_for_stack(g));
	payload_guest_record(g, head++);
	*ctl32(g, CTL_CALL) = PAYLOAD_CALL_DONE;
	*ctl32(g, CTL_NO_WAIT) = 1;
	for (unsigned int i = 0; i < 3; i++) {
		g->percpu.preempt_count = interrupts[i];
		assert_false(calls_for_stack(g));
		payload_guest_record(g, head++);
	}
	*ctl32(g, CTL_NO_WAIT) = 0;
	assert_true(calls_for_stack(g));
	assert_int_equal(*ctl64(g, CTL_HEAD), head);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_record),
		TEST(test_record_of_new_task),
		TEST(test_off),
		TEST(test_full),
		TEST(test_full_until_taken),
		TEST(test_full_and_stopped),
		TEST(test_call),
		TEST(test_call_again),
		TEST(test_call_unanswered),
		TEST(test_call_abandoned),
		TEST(test_call_without_host),
		TEST(test_call_host_goes),
		TEST(test_call_answered_late),
		TEST(test_call_in_call),
		TEST(test_call_around_call),
		TEST(test_lock),
		TEST(test_locker),
		TEST(test_stack),
		TEST(test_stack_without_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
