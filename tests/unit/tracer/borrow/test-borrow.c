// SPDX-License-Identifier: GPL-2.0-or-later
/* test-borrow.c - vCPUs are borrowed at safe points only, and get all registers back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/fake-kernel.h"

#define SP	 (FAKE_VA(STACK) + STACK_SIZE - 0x100)
#define FN	 UINT64_C(0xffffffff81777000)
#define SHORT_MS 5
#define HOUR_MS	 3600000

static struct guest_kernel guest;
static struct borrow *borrow;

static int set_up(void **state)
{
	char err[128];

	(void)state;
	kernel_make();
	memset(&guest, 0, sizeof(guest));
	if (guest_learn(&guest, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	guest_bind(&guest, NULL);
	borrow = borrow_new(NULL, &guest);
	assert_non_null(borrow);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.paused, 0);
	borrow_free(borrow);
	free(fake.ram);
	return 0;
}

static int run(struct borrow_call *calls, size_t n, enum borrow_where where, char *err)
{
	return borrow_run(borrow, calls, n, where, SHORT_MS, err, 256);
}

static void assert_given_back(unsigned int vcpu, uint64_t off, uint64_t sp)
{
	struct machine_regs want = {
		1, 2, 3, 4, 5, 6, sp, 8, 9, 10, 11, 12, 13, 14, 15, 16, FAKE_VA(off) + 5, 0x202};

	assert_memory_equal(&fake.regs[vcpu], &want, sizeof(want));
}

/* --- calls -------------------------------------------------------------------------------- */

static void guest_makes_two_calls(void)
{
	const struct machine_regs *r = &fake.regs[0];

	if (!fake.ntraps)
		return;
	assert_true(kernel_calls(borrow, 0, FN_SCHEDULE, SP));
	assert_true(r->rip == FN && r->rdi == 11 && r->rsi == 12 && r->rdx == 13 && r->rcx == 14);
	assert_int_equal(r->rsp % 16, 8);
	assert_true(r->rsp < SP - 128);
	assert_int_equal(fake.ntraps, 1); /* where the function returns to */
	kernel_returns(borrow, 0, 0, 77);
	assert_true(r->rip == FN + 16 && r->rdi == 21);
	kernel_returns(borrow, 0, 0, 78);
	assert_given_back(0, FN_SCHEDULE, SP);
}

static void calls_are_made_in_order(void **state)
{
	struct borrow_call calls[] = {{.fn = FN, .arg = {11, 12, 13, 14}},
				      {.fn = FN + 16, .arg = {21}}};
	char err[256];

	(void)state;
	fake.run = guest_makes_two_calls;
	assert_int_equal(run(calls, 2, BORROW_ANY, err), 0);
	assert_true(calls[0].done && calls[0].ret == 77);
	assert_true(calls[1].done && calls[1].ret == 78);
	assert_int_equal(fake.ntraps, 0);
	assert_int_equal(run(calls, 0, BORROW_ANY, err), 0);
}

/* What those are told who want to know, one letter each. */
struct told {
	const struct borrow_call *calls;
	char text[16];
	size_t n;
	char stop_at; /* they say no */
};

static int tell(struct told *told, char what, size_t i)
{
	assert_int_equal(fake.paused, 1);
	what = (char)(what + (int)i);
	told->text[told->n++] = what;
	return what == told->stop_at ? -EPERM : 0;
}

static int told_before(void *arg, size_t i)
{
	struct told *told = arg;

	assert_false(told->calls[i].done);
	return tell(told, 'a', i);
}

static int told_after(void *arg, size_t i)
{
	struct told *told = arg;

	assert_true(told->calls[i].done && told->calls[i].ret == 77 + i);
	return tell(told, 'A', i);
}

static void guest_does_as_it_is_asked(void)
{
	unsigned int n = 0;

	if (!kernel_calls(borrow, 0, FN_SCHEDULE, SP))
		return;
	while (fake.regs[0].rip != FAKE_VA(FN_SCHEDULE) + 5)
		kernel_returns(borrow, 0, 0, 77 + n++);
	assert_given_back(0, FN_SCHEDULE, SP);
}

static void calls_are_told(void **state)
{
	static const struct {
		char stop_at;
		const char *text;
		int ret;
		unsigned int done;
	} rows[] = {
		{0, "aAbB", 0, 2},	 {'a', "a", -EPERM, 0},	   {'A', "aA", -EPERM, 1},
		{'b', "aAb", -EPERM, 1}, {'B', "aAbB", -EPERM, 2},
	};
	char err[256];

	(void)state;
	fake.run = guest_does_as_it_is_asked;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct borrow_call calls[] = {{.fn = FN}, {.fn = FN + 16}};
		struct told told = {.calls = calls, .stop_at = rows[i].stop_at};
		const struct borrow_how how = {.where = BORROW_ANY,
					       .ms = HOUR_MS,
					       .before = told_before,
					       .after = told_after,
					       .arg = &told};

		assert_int_equal(borrow_run_as(borrow, calls, 2, &how, err, sizeof(err)),
				 rows[i].ret);
		assert_string_equal(told.text, rows[i].text);
		assert_int_equal(calls[0].done + calls[1].done, rows[i].done);
		assert_int_equal(fake.ntraps, 0);
	}
}

/* What the guest's own code would load when nobody were there any more at the landing. */
static void guest_is_left_alone(void)
{
	const struct machine_regs *r = &fake.regs[0];
	uint64_t sp;

	if (!fake.ntraps)
		return;
	assert_true(kernel_calls(borrow, 0, FN_SCHEDULE, SP));
	sp = r->rsp;
	assert_int_equal(get(sp), FAKE_VA(FN_LANDING));
	assert_int_equal(get(sp + 8), FAKE_VA(FN_RESTORE));
	sp += 16;
	/* struct pt_regs: r15 to r12, rbp, rbx, r11 to r8, rax, rcx, rdx, rsi, rdi */
	static const uint64_t popped[] = {16, 15, 14, 13, 8, 2, 12, 11, 10, 9, 1, 3, 4, 5, 6};

	for (size_t i = 0; i < sizeof(popped) / sizeof(popped[0]); i++)
		assert_int_equal(get(sp + 8 * i), popped[i]);
	sp += sizeof(popped) + 8; /* orig_rax */
	assert_int_equal(get(sp), FAKE_VA(FN_SCHEDULE) + 5);
	assert_int_equal(get(sp + 8), 0x10);
	assert_int_equal(get(sp + 16), 0x202);
	assert_int_equal(get(sp + 24), SP);
	assert_int_equal(get(sp + 32), 0x18);
	kernel_returns(borrow, 0, 0, 0);
}

static void frame_gives_registers_back(void **state)
{
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	fake.run = guest_is_left_alone;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), 0);
}

static void guest_migrates(void)
{
	if (!fake.ntraps)
		return;
	assert_true(kernel_calls(borrow, 0, FN_SCHEDULE, SP));
	/* Others get to the landing meanwhile. */
	assert_true(kernel_calls(borrow, 1, FN_LANDING, SP + STACK_SIZE));
	assert_given_back(1, FN_LANDING, SP + STACK_SIZE);
	kernel_returns(borrow, 0, 1, 5);
	assert_given_back(1, FN_SCHEDULE, SP);
	assert_int_equal(fake.ntraps, 0);
}

static void task_is_known_by_its_stack(void **state)
{
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	fake.run = guest_migrates;
	assert_int_equal(run(&one, 1, BORROW_TASK, err), 0);
	assert_int_equal(one.ret, 5);
}

/* --- safe points -------------------------------------------------------------------------- */

static struct {
	uint64_t off, sp;
	bool borrowed, called;
} attempt;

static void guest_attempts(void)
{
	if (!fake.ntraps || attempt.called)
		return;
	attempt.called = kernel_calls(borrow, 0, attempt.off, attempt.sp);
	attempt.borrowed = fake.regs[0].rip == FN;
	if (attempt.borrowed)
		kernel_returns(borrow, 0, 0, 0);
	else if (attempt.called)
		assert_given_back(0, attempt.off, attempt.sp);
}

static bool try(enum borrow_where where, uint64_t off, uint64_t sp, uint32_t count, uint32_t pid)
{
	struct borrow_call one = {.fn = FN};
	char err[256] = "";
	int ret;

	put(PER_CPU_AREA + PCPU_COUNT, count, 4);
	put(TASK + TASK_PID, pid, 4);
	attempt.off = off;
	attempt.sp = sp;
	attempt.borrowed = attempt.called = false;
	fake.run = guest_attempts;
	ret = run(&one, 1, where, err);
	assert_int_equal(ret, attempt.borrowed ? 0 : -ETIMEDOUT);
	assert_true(one.done == attempt.borrowed && !*err == attempt.borrowed);
	assert_int_equal(fake.ntraps, 0);
	return attempt.borrowed;
}

static void only_safe_points_are_taken(void **state)
{
	const uint64_t irq_sp = FAKE_VA(IRQ_STACK) + STACK_SIZE - 0x100;
	const uint32_t none = (uint32_t)COUNT_NONE;

	(void)state;
	assert_true(try(BORROW_ANY, FN_SCHEDULE, SP, none, 42));
	assert_true(try(BORROW_TASK, FN_SCHEDULE, SP, none, 42));
	assert_true(try(BORROW_SLEEP, FN_READ, SP, none, 42));
	/* A place that does not go with what is to be done there is not even trapped. */
	assert_false(try(BORROW_SLEEP, FN_SCHEDULE, SP, none, 42));
	assert_false(try(BORROW_TASK, FN_TIMER, SP, none, 42));
	assert_false(attempt.called);
	/* preempt_count: depth, softirqs off, hardirq, NMI */
	assert_false(try(BORROW_ANY, FN_SCHEDULE, SP, none | 1, 42));
	assert_false(try(BORROW_ANY, FN_SCHEDULE, SP, none | 0x200, 42));
	assert_false(try(BORROW_ANY, FN_SCHEDULE, SP, none | 0x10000, 42));
	assert_false(try(BORROW_ANY, FN_SCHEDULE, SP, none | 0x100000, 42));
	assert_true(attempt.called);
	/* A softirq, in whatever it has interrupted; the idle task */
	assert_true(try(BORROW_ANY, FN_TIMER, SP, none | 0x101, 0));
	assert_true(try(BORROW_ANY, FN_TIMER, irq_sp, none | 0x101, 42));
	assert_false(try(BORROW_TASK, FN_SCHEDULE, SP, none | 0x100, 42));
	assert_false(try(BORROW_TASK, FN_SCHEDULE, SP, none, 0));
}

static void stack_must_have_room(void **state)
{
	const uint32_t none = (uint32_t)COUNT_NONE;

	(void)state;
	assert_true(try(BORROW_ANY, FN_SCHEDULE, FAKE_VA(STACK) + 0x2000, none, 42));
	assert_false(try(BORROW_ANY, FN_SCHEDULE, FAKE_VA(STACK) + 0x1ff8, none, 42));
	assert_false(try(BORROW_ANY, FN_SCHEDULE, FAKE_VA(STACK) - 8, none, 42));
	assert_true(try(BORROW_ANY, FN_TIMER, FAKE_VA(IRQ_STACK) + 0x2000, none | 0x100, 42));
	assert_false(try(BORROW_ANY, FN_TIMER, FAKE_VA(IRQ_STACK) + 0x1ff8, none | 0x100, 42));
	put(TASK + TASK_STACK, UINT64_MAX - 0x1000, 8);
	assert_false(try(BORROW_ANY, FN_SCHEDULE, SP, none, 42));
	put(PER_CPU_AREA + PCPU_CURRENT, UINT64_MAX - 3, 8);
	assert_false(try(BORROW_ANY, FN_SCHEDULE, SP, none, 42));
}

/* --- time and errors ---------------------------------------------------------------------- */

static unsigned int resumed;

/* It gets to a safe point when the time is over already, and comes back later. */
static void guest_is_late(void)
{
	resumed++;
	if (resumed == 1)
		assert_true(kernel_calls(borrow, 0, FN_SCHEDULE, SP));
	if (resumed == 2)
		kernel_returns(borrow, 0, 0, 9);
}

static void call_under_way_is_waited_for(void **state)
{
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	resumed = 0;
	fake.run = guest_is_late;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), 0);
	assert_true(one.done && one.ret == 9);
	assert_given_back(0, FN_SCHEDULE, SP);
}

/* It gets to a safe point, and not back. */
static void guest_is_asked(void)
{
	fake.run = NULL;
	assert_true(kernel_calls(borrow, 0, FN_SCHEDULE, SP));
}

static unsigned int looks_left;

static bool given_up(void *arg)
{
	(void)arg;
	return !looks_left || !--looks_left;
}

/* It never comes by a safe point; and once it has been asked it is waited for. */
static void nobody_waits_for_what_is_given_up(void **state)
{
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	guest.given_up = given_up;
	looks_left = 3;
	assert_int_equal(borrow_run_wanted(borrow, &one, 1, BORROW_ANY, HOUR_MS, err, sizeof(err)),
			 -ECANCELED);
	assert_int_equal(looks_left, 0);
	assert_int_equal(fake.ntraps, 0);
	assert_false(one.done);
	resumed = 0;
	fake.run = guest_is_late;
	assert_int_equal(borrow_run_wanted(borrow, &one, 1, BORROW_ANY, SHORT_MS, err, sizeof(err)),
			 0);
	assert_true(one.done && one.ret == 9);
	/* What is undone is asked for all the same. */
	one.done = false;
	resumed = 0;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), 0);
	assert_true(one.done);
	guest.given_up = NULL;
}

/* It comes by no safe point any more, nor back from what it has been asked for. */
static void nobody_waits_for_one_that_has_halted(void **state)
{
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	fake.halted = true;
	assert_int_equal(borrow_run(borrow, &one, 1, BORROW_ANY, HOUR_MS, err, sizeof(err)),
			 -EHOSTDOWN);
	assert_non_null(strstr(err, "has halted"));
	assert_int_equal(fake.ntraps, 0);
	assert_false(one.done);
	fake.run = guest_is_asked;
	assert_int_equal(borrow_run(borrow, &one, 1, BORROW_ANY, HOUR_MS, err, sizeof(err)),
			 -EHOSTDOWN);
	assert_int_equal(fake.ntraps, 0);
	assert_false(one.done);
	fake.halted = false;
}

/* As when it powers itself off while it gives memory back. */
static void nobody_waits_for_one_that_has_ended(void **state)
{
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	fake.ended = true;
	assert_int_equal(borrow_run(borrow, &one, 1, BORROW_ANY, HOUR_MS, err, sizeof(err)),
			 -ESRCH);
	assert_non_null(strstr(err, "has ended"));
	assert_int_equal(fake.ntraps, 0);
	fake.run = guest_is_asked;
	assert_int_equal(borrow_run(borrow, &one, 1, BORROW_ANY, HOUR_MS, err, sizeof(err)),
			 -ESRCH);
	assert_int_equal(fake.ntraps, 0);
	assert_false(one.done);
	fake.ended = false;
}

static void busy_sites_are_left_alone(void **state)
{
	struct machine_trap other = {.va = FAKE_VA(FN_SCHEDULE), .cookie = 1};
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	assert_int_equal(machine_traps_set(NULL, &other, 1), 0);
	*fake_at(FAKE_VA(FN_TIMER)) = 0xe8; /* the guest traces it */
	attempt.off = FN_READ;
	attempt.sp = SP;
	attempt.called = false;
	fake.run = guest_attempts;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), 0);
	assert_int_equal(fake.ntraps, 1);
	assert_int_equal(fake.traps[0].cookie, 1);
	*fake_at(FAKE_VA(FN_READ)) = 0xe8;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), -ENOENT);
	assert_non_null(strstr(err, "schedule"));
	assert_int_equal(fake.ntraps, 1);
}

static void missing_functions_are_named(void **state)
{
	struct borrow_call one = {.fn = FN};
	char err[256];

	(void)state;
	*fake_at(FAKE_VA(FN_RESTORE)) = 0xcc;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), -ENOENT);
	assert_non_null(strstr(err, "restore_regs_and_return_to_kernel"));
	*fake_at(FAKE_VA(FN_RESTORE)) = 0x41;
	fake.trap_error = -EPIPE;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), -EPIPE);
	fake.trap_error = 0;
	*fake_at(FAKE_VA(FN_LANDING)) = 0xe8;
	assert_int_equal(run(&one, 1, BORROW_ANY, err), -ENOENT);
	assert_non_null(strstr(err, "sys_ni_syscall"));
	assert_int_equal(fake.ntraps, 0);
	assert_true(borrow_function(borrow, "free_pages") == FAKE_VA(FN_FREE));
	assert_true(borrow_function(borrow, "no_such") == 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_are_made_in_order),
		TEST(calls_are_told),
		TEST(frame_gives_registers_back),
		TEST(task_is_known_by_its_stack),
		TEST(only_safe_points_are_taken),
		TEST(stack_must_have_room),
		TEST(call_under_way_is_waited_for),
		TEST(busy_sites_are_left_alone),
		TEST(missing_functions_are_named),
		TEST(nobody_waits_for_what_is_given_up),
		TEST(nobody_waits_for_one_that_has_halted),
		TEST(nobody_waits_for_one_that_has_ended),
	};

	return cmocka_run_group_tests_name("borrow", tests, NULL, NULL);
}
