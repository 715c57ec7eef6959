// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-traps.c - what becomes of a vCPU that has run into a trap of an attached guest. */
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
#define STACK	 (FAKE_VA + 0x800)
#define CALLER	 (FAKE_VA + 0x123)
#define LIMIT_MS 20000

/* A vCPU that is there as soon as it runs. */
static struct fake_qemu *guest(bool elsewhere, uint64_t rip)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	q->limit = ~0u;
	q->cr3 = FAKE_TABLES;
	q->rip = rip;
	q->rsp = STACK;
	fake_map(q);
	fake_put(q, STACK - FAKE_VA + FAKE_TEXT, CALLER);
	q->elsewhere = elsewhere;
	fake_put(q, FAKE_RAM / 2, 0x1234); /* what is looked at to find out */
	fake_start(q);
	return q;
}

static void on_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct machine_hit *seen = arg;

	*seen = *hit;
	seen->regs = NULL;
	machine_wake(m);
}

/* Attached, with the trap set; the guest says this as soon as it runs. */
static struct machine *trapped(struct fake_qemu *q, enum machine_trap_action action,
			       const char *stop, struct machine_hit *seen)
{
	const struct machine_trap trap = {
		.va = SITE,
		.pa = SITE - FAKE_VA + FAKE_TEXT,
		.size = 1,
		.kind = MACHINE_TRAP_INT3,
		.action = action,
	};
	struct machine_attach_config cfg = {.target = q->target, .trap = on_trap, .arg = seen};
	char err[256];
	struct machine *m = machine_attach(&cfg, err, sizeof(err));

	if (!m)
		fail_msg("%s", err);
	fake_wait_running(q);
	machine_pause(m);
	assert_int_equal(machine_traps_set(m, &trap, 1), 0);
	q->stop = stop;
	machine_resume(m);
	return m;
}

/* Its page tables and its stack are read through the stub, which is being talked to already. */
static void a_return_without_its_memory(void **state)
{
	struct fake_qemu *q = guest(true, SITE);
	struct machine_hit seen = {0};
	struct machine_event ev;
	struct machine_info info;
	struct machine *m = trapped(q, MACHINE_TRAP_RETURN, "T05thread:p01.01;", &seen);

	(void)state;
	machine_get_info(m, &info);
	assert_false(info.direct);
	assert_int_equal(machine_wait(m, &ev, LIMIT_MS), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_WAKE);
	assert_true(seen.va == SITE);
	machine_free(m);
	fake_end(q);
	assert_true(q->rip == CALLER);
	assert_true(q->rsp == STACK + 8);
	free(q);
}

/* Who attached knew that there may be one more. */
static void a_vcpu_that_was_expected(void **state)
{
	struct fake_qemu *q = guest(false, SITE);
	struct machine_hit seen = {0};
	struct machine_info info;
	struct machine_event ev;
	struct machine *m;

	(void)state;
	q->plugs = true;
	m = trapped(q, MACHINE_TRAP_RETURN, "T05thread:p01.02;", &seen);
	machine_get_info(m, &info);
	assert_int_equal(info.max_vcpus, 2);
	assert_int_equal(machine_traceable_vcpus(&info), 2);
	assert_int_equal(machine_wait(m, &ev, LIMIT_MS), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_WAKE);
	assert_true(seen.va == SITE);
	assert_int_equal(seen.vcpu, 1);
	machine_get_info(m, &info);
	assert_int_equal(info.vcpus, 2);
	machine_free(m);
	fake_end(q);
	assert_true(q->rip == CALLER);
	free(q);
}

/* It would run into the trap for ever: the trace ends, and the guest runs on without traps. */
static void a_vcpu_that_was_plugged_in(void **state)
{
	struct fake_qemu *q = guest(false, SITE);
	struct machine_hit seen = {0};
	struct machine_event ev;
	struct machine *m = trapped(q, MACHINE_TRAP_RETURN, "T05thread:p01.02;", &seen);

	(void)state;
	assert_int_equal(machine_wait(m, &ev, LIMIT_MS), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_ERROR);
	assert_non_null(strstr(ev.text, "attach again"));
	machine_free(m);
	fake_end(q);
	assert_non_null(strstr(q->heard, "[z0,ffffffff81000010,1][Qqemu.PhyMemMode:0][D;1]"));
	assert_true(q->rip == SITE);
	assert_true(seen.va == 0);
	free(q);
}

/* What it has run into was ours until a moment ago. */
static void one_that_is_at_no_trap(void **state)
{
	struct fake_qemu *q = guest(false, SITE + 1);
	struct machine_hit seen = {0};
	struct machine *m = trapped(q, MACHINE_TRAP_RETURN, "T05thread:p01.02;", &seen);

	(void)state;
	fake_wait_running(q);
	assert_false(machine_has_ended(m, NULL));
	machine_free(m);
	fake_end(q);
	free(q);
}

/* The end of a guest that has run another kernel by then, in which nothing of the vCPU's is
 * changed. */
static void ends_as_another(struct fake_qemu *q, enum machine_trap_action action, uint64_t rip)
{
	struct machine_hit seen = {0};
	struct machine_event ev;
	struct machine *m = trapped(q, action, "T05thread:p01.01;", &seen);

	assert_int_equal(machine_wait(m, &ev, LIMIT_MS), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_RESET);
	machine_free(m);
	fake_end(q);
	assert_true(seen.va == 0);
	assert_true(q->rip == rip);
	free(q);
}

/* The vCPU has come to the trap, and is reset before it goes on behind it. */
static void one_that_is_reset_while_it_stands(void **state)
{
	struct fake_qemu *q = guest(false, SITE);

	(void)state;
	q->resets = "P10=";
	ends_as_another(q, MACHINE_TRAP_SKIP, FAKE_RESET_RIP);
	q = guest(false, SITE);
	q->resets = "P7=";
	ends_as_another(q, MACHINE_TRAP_RETURN, FAKE_RESET_RIP);
}

/* What lies where the trap was is still in memory, but the kernel that runs is elsewhere. */
static void one_that_is_in_another_kernel(void **state)
{
	struct fake_qemu *q = guest(false, SITE);

	(void)state;
	q->remaps = true;
	ends_as_another(q, MACHINE_TRAP_SKIP, SITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_without_its_memory),
		cmocka_unit_test(a_vcpu_that_was_expected),
		cmocka_unit_test(a_vcpu_that_was_plugged_in),
		cmocka_unit_test(one_that_is_at_no_trap),
		cmocka_unit_test(one_that_is_reset_while_it_stands),
		cmocka_unit_test(one_that_is_in_another_kernel),
	};

	return cmocka_run_group_tests_name("qemu traps", tests, NULL, NULL);
}
