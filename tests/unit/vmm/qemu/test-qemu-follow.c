// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-follow.c - a call is followed instruction by instruction, in a guest of QEMU's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"

#define SITE	 (FAKE_VA + 0x10)
#define INNER	 (SITE + 8) /* another trap, on the way */
#define STACK	 (FAKE_VA + 0x800)
#define CALLER	 (FAKE_VA + 0x123)
#define HANDLER	 (FAKE_VA + 0x900)
#define LIMIT_MS 20000

enum { SEEN_MAX = 8 };

static struct seen {
	unsigned int hits, n;
	int follow[2]; /* what machine_follow() has said at each hit */
	struct machine_branch b[SEEN_MAX];
	struct machine_follow wish;
} seen;

static void on_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct machine_follow follow = seen.wish;

	(void)arg;
	follow.sp = hit->regs->rsp;
	if (seen.hits < 2)
		seen.follow[seen.hits] = machine_follow(m, &follow);
	seen.hits++;
	machine_pause(m);
	machine_resume(m);
	if (follow.steps == 0)
		machine_wake(m);
}

static bool on_branch(struct machine *m, const struct machine_branch *b, void *arg)
{
	(void)arg;
	if (seen.n < SEEN_MAX)
		seen.b[seen.n++] = *b;
	if (b->end && b->end != MACHINE_FOLLOW_STOPPED) /* the machine's end is what comes then */
		machine_wake(m);
	return true;
}

static void put_code(struct fake_qemu *q)
{
	static const uint8_t code[] = {
		0x90,				    /* SITE */
		0xeb, 0x05,			    /* jmp INNER */
		0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x90, /* INNER */
		0xf3, 0xa4,			    /* rep movsb */
		0xc3,
	};

	memcpy(q->ram + FAKE_TEXT + (SITE - FAKE_VA), code, sizeof(code));
}

static struct fake_qemu *guest(const struct fake_step *steps, bool kvm)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = ~0u;
	q->cr3 = q->sees = FAKE_TABLES;
	q->rip = SITE;
	q->rsp = STACK;
	q->kvm = kvm;
	q->steps = steps;
	fake_map(q);
	put_code(q);
	fake_put(q, STACK - FAKE_VA + FAKE_TEXT, CALLER);
	fake_put(q, FAKE_RAM / 2, 0x1234);
	fake_start(q);
	return q;
}

/* Attached, until the call that it runs into is over. */
static struct machine *follow(struct fake_qemu *q, unsigned int steps, uint64_t leaves,
			      enum machine_event_type end)
{
	const struct machine_trap traps[] = {
		{.va = SITE, .pa = SITE - FAKE_VA + FAKE_TEXT, .size = 1, .kind = 1},
		{.va = INNER, .pa = INNER - FAKE_VA + FAKE_TEXT, .size = 1, .kind = 1},
	};
	struct machine_attach_config cfg = {
		.target = q->target, .trap = on_trap, .branch = on_branch};
	struct machine_event ev;
	char err[256];
	struct machine *m = machine_attach(&cfg, err, sizeof(err));

	if (!m)
		fail_msg("%s", err);
	seen = (struct seen){.wish = {.steps = steps, .leaves = leaves}};
	fake_wait_running(q);
	machine_pause(m);
	assert_int_equal(machine_traps_set(m, traps, 2), 0);
	q->stop = "T05thread:p01.01;";
	machine_resume(m);
	assert_int_equal(machine_wait(m, &ev, LIMIT_MS), 0);
	assert_int_equal(ev.type, end);
	return m;
}

static void let_go(struct machine *m, struct fake_qemu *q)
{
	machine_free(m);
	fake_end(q);
	assert_true(q->detached);
	free(q);
}

static void expect(unsigned int i, uint64_t from, uint64_t to)
{
	assert_int_equal(seen.b[i].end, MACHINE_FOLLOW_ON);
	assert_true(seen.b[i].from == from);
	assert_true(seen.b[i].to == to);
}

/* A repeated instruction stays where it is, and a trap is taken without a step. */
static void to_its_return(void **state)
{
	static const struct fake_step steps[] = {
		{INNER, STACK, NULL},
		{INNER + 1, STACK, NULL},
		{INNER + 3, STACK, NULL},
		{CALLER, STACK + 8, NULL},
		{0},
	};
	struct fake_qemu *q = guest(steps, false);
	struct machine *m = follow(q, 100, 0, MACHINE_EVENT_WAKE);

	(void)state;
	assert_int_equal(seen.hits, 2);
	assert_int_equal(seen.follow[0], 0);
	assert_int_equal(seen.follow[1], -EBUSY);
	assert_int_equal(seen.n, 3);
	expect(0, SITE + 1, INNER);
	expect(1, INNER + 3, CALLER);
	assert_int_equal(seen.b[2].end, MACHINE_FOLLOW_RETURNED);
	fake_wait_running(q);
	let_go(m, q);
}

static void into_an_exception_and_away(void **state)
{
	static const struct fake_step steps[] = {
		{SITE + 3, STACK, NULL},
		{HANDLER, STACK - 48, NULL},
		{SITE + 11, STACK, NULL},
		{0},
	};
	struct fake_qemu *q = guest(steps, false);
	struct machine *m;

	(void)state;
	m = follow(q, 100, SITE + 11, MACHINE_EVENT_WAKE);
	assert_int_equal(seen.n, 3);
	expect(0, SITE + 3, HANDLER);
	expect(1, HANDLER, SITE + 11);
	assert_int_equal(seen.b[2].end, MACHINE_FOLLOW_LEFT);
	let_go(m, q);
}

static void no_further_than_asked_for(void **state)
{
	static const struct fake_step steps[] = {{INNER, STACK, NULL}, {0}};
	struct fake_qemu *q = guest(steps, false);
	struct machine *m = follow(q, 1, 0, MACHINE_EVENT_WAKE);

	(void)state;
	assert_int_equal(seen.n, 2);
	expect(0, SITE + 1, INNER);
	assert_int_equal(seen.b[1].end, MACHINE_FOLLOW_BOUND);
	let_go(m, q);
}

/* What the guest stops for otherwise is what it is without a call that is followed. */
static void the_guest_ends(void **state)
{
	static const struct fake_step steps[] = {{0, 0, "T03thread:p01.01;"}};
	struct fake_qemu *q = guest(steps, false);
	struct machine *m = follow(q, 100, 0, MACHINE_EVENT_POWEROFF);

	(void)state;
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.b[0].end, MACHINE_FOLLOW_STOPPED);
	machine_free(m);
	fake_end(q);
	free(q);
}

/* It cannot be stepped safely. */
static void not_under_kvm(void **state)
{
	struct fake_qemu *q = guest(NULL, true);
	struct machine_info info;
	struct machine *m;

	(void)state;
	q->ram[FAKE_TEXT + (SITE - FAKE_VA)] = 0xcc;
	m = follow(q, 0, 0, MACHINE_EVENT_WAKE);
	machine_get_info(m, &info);
	assert_false(info.follow);
	assert_int_equal(machine_follow(m, &(const struct machine_follow){.steps = 1}),
			 -EOPNOTSUPP);
	let_go(m, q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_its_return),
		cmocka_unit_test(into_an_exception_and_away),
		cmocka_unit_test(no_further_than_asked_for),
		cmocka_unit_test(the_guest_ends),
		cmocka_unit_test(not_under_kvm),
	};

	return cmocka_run_group_tests_name("calls of QEMU's guests", tests, NULL, NULL);
}
