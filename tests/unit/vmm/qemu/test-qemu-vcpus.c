// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-vcpus.c - vCPUs of an attached guest that come, go, come back, and have other numbers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-qemu.h"
#include "vmm/machine.h"

static bool has_room_for_four(struct fake_qemu *q, const char *command, char *text, size_t size)
{
	(void)q;
	if (strcmp(command, "info hotpluggable-cpus") != 0)
		return false;
	snprintf(text, size, "%s",
		 "  vcpus_count: \"1\"\r\n  vcpus_count: \"1\"\r\n"
		 "  vcpus_count: \"1\"\r\n  vcpus_count: \"1\"\r\n");
	return true;
}

/* Attached to, and paused. */
static struct machine *paused(struct fake_qemu *q, const char *threads)
{
	struct machine_attach_config cfg = {0};
	char err[256];
	struct machine *m;

	q->limit = ~0u;
	q->rip = FAKE_VA;
	q->threads = threads;
	fake_start(q);
	cfg.target = q->target;
	m = machine_attach(&cfg, err, sizeof(err));
	if (!m)
		fail_msg("%s", err);
	fake_wait_running(q);
	machine_pause(m);
	return m;
}

static void end(struct fake_qemu *q, struct machine *m)
{
	machine_resume(m);
	machine_free(m);
	fake_end(q);
	free(q);
}

/* Which threads a vCPU has had its registers asked of last: "[Hgp1.2][g]" */
static void is_thread(struct fake_qemu *q, struct machine *m, unsigned int vcpu, const char *asked)
{
	struct machine_regs regs;

	memset(q->heard, 0, sizeof(q->heard));
	q->len = 0;
	assert_int_equal(machine_get_regs(m, vcpu, &regs), 0);
	assert_true(regs.rip == FAKE_VA);
	assert_string_equal(q->heard, asked);
}

static void has_gone(struct machine *m, unsigned int vcpu)
{
	struct machine_regs regs;
	struct machine_delay delay;

	assert_int_equal(machine_get_regs(m, vcpu, &regs), -ENODEV);
	assert_int_equal(machine_get_delay(m, vcpu, &delay), -EOPNOTSUPP);
}

static void one_that_goes_and_is_back(void **state)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));
	struct machine *m;

	(void)state;
	q->monitor = has_room_for_four;
	m = paused(q, "mp01.01,p01.02,p01.03");
	is_thread(q, m, 1, "[Hgp1.2][g]");
	q->threads = "mp01.01,p01.03";
	assert_int_equal(machine_look_at_vcpus(m), 3);
	has_gone(m, 1);
	is_thread(q, m, 2, "[Hgp1.3][g]");
	/* QEMU tells it last, as it is the newest. It is another one: what was known is forgotten.
	 */
	q->threads = "mp01.01,p01.03,p01.02,p01.04";
	assert_int_equal(machine_look_at_vcpus(m), 4);
	is_thread(q, m, 1, "[Hgp1.2][g]");
	is_thread(q, m, 3, "[Hgp1.4][g]");
	end(q, m);
}

static void numbers_of_the_guest(void **state)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));
	struct machine_info info;
	struct machine *m;

	(void)state;
	q->monitor = has_room_for_four;
	m = paused(q, "mp01.01,p01.02,p01.04");
	assert_int_equal(machine_number_vcpus(m, (const unsigned int[]){0, 1, 3}, 3), 0);
	machine_get_info(m, &info);
	assert_int_equal(info.vcpus, 4);
	has_gone(m, 2);
	is_thread(q, m, 3, "[Hgp1.4][g]");
	is_thread(q, m, 1, "[Hgp1.2][g]");
	/* What comes has the place that is free. */
	q->threads = "mp01.01,p01.02,p01.04,p01.03";
	assert_int_equal(machine_look_at_vcpus(m), 4);
	is_thread(q, m, 2, "[Hgp1.3][g]");
	assert_int_equal(machine_number_vcpus(m, (const unsigned int[]){0, 2, 1, 3}, 4), 0);
	machine_get_info(m, &info);
	assert_int_equal(info.vcpus, 4);
	assert_int_equal(machine_number_vcpus(m, (const unsigned int[]){0, 1, 2, 4}, 4), -E2BIG);
	assert_int_equal(machine_number_vcpus(m, (const unsigned int[]){0, 1}, 2), -E2BIG);
	end(q, m);
}

static void numbers_beyond_what_the_stub_tells(void **state)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));
	struct machine *m = paused(q, "mp01.01,p01.03");

	(void)state;
	assert_int_equal(machine_number_vcpus(m, (const unsigned int[]){0, 2}, 2), -E2BIG);
	is_thread(q, m, 1, "[Hgp1.3][g]");
	end(q, m);
}

/* Those that wait for an interrupt have not, nor those that run with interrupts off. */
static void one_that_has_halted(void **state)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));
	struct machine *m;

	(void)state;
	q->monitor = has_room_for_four;
	q->halted = true;
	m = paused(q, "mp01.01,p01.02,p01.03");
	assert_true(machine_has_halted(m));
	q->threads = "mp01.01,p01.03";
	assert_int_equal(machine_look_at_vcpus(m), 3);
	assert_true(machine_has_halted(m));
	q->halted = false;
	assert_false(machine_has_halted(m));
	end(q, m);
}

static void one_that_waits(void **state)
{
	struct fake_qemu *q = calloc(1, sizeof(*q));
	struct machine *m;

	(void)state;
	q->halted = true;
	q->eflags = 1 << 9;
	m = paused(q, "mp01.01,p01.02");
	assert_false(machine_has_halted(m));
	end(q, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_goes_and_is_back),
		cmocka_unit_test(numbers_of_the_guest),
		cmocka_unit_test(numbers_beyond_what_the_stub_tells),
		cmocka_unit_test(one_that_has_halted),
		cmocka_unit_test(one_that_waits),
	};

	return cmocka_run_group_tests_name("qemu vcpus", tests, NULL, NULL);
}
