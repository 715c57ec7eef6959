// SPDX-License-Identifier: GPL-2.0-or-later
/* test-tiny.c - the trials' machine, where KVM refuses, and where its guest does something else. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/kvm/host/tiny.h"
#include "vmm/kvm/host/trials.h"

static const uint8_t hlt[] = {0xf4};

static int open_fd(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void machine(struct tiny *t)
{
	int kvm = open_fd("/dev/kvm");

	assert_int_equal(tiny_open(t, kvm, false), 0);
	close(kvm);
}

/* From now on there is something else in the place of its vCPU. */
static void lose_vcpu(const struct tiny *t)
{
	int null = open_fd("/dev/null");

	assert_int_equal(dup3(null, t->vcpu_fd, O_CLOEXEC), t->vcpu_fd);
	close(null);
}

static void what_is_no_kvm(void **state)
{
	int null = open_fd("/dev/null");
	struct tiny t;

	(void)state;
	assert_int_equal(tiny_open(&t, null, false), -ENOTTY);
	tiny_close(&t);
	tiny_close(&t);
	close(null);
}

static void code_that_is_too_long(void **state)
{
	static const uint8_t code[TINY_SIZE];
	struct tiny t;

	(void)state;
	machine(&t);
	assert_int_equal(tiny_enter(&t, code, TINY_SIZE - TINY_CODE), 0);
	assert_int_equal(tiny_enter(&t, code, TINY_SIZE - TINY_CODE + 1), -E2BIG);
	tiny_close(&t);
}

static void a_vcpu_that_is_lost(void **state)
{
	struct kvm_regs regs;
	char text[64] = "";
	struct tiny t;

	(void)state;
	machine(&t);
	lose_vcpu(&t);
	assert_int_equal(tiny_enter(&t, hlt, sizeof(hlt)), -ENOTTY);
	assert_int_equal(tiny_run(&t), -ENOTTY);
	assert_int_equal(trial_run(&t, &regs, text, sizeof(text)), -ENOTTY);
	assert_string_equal(text, "");
	tiny_close(&t);
}

/* A trial's guest writes to a port; this one waits. */
static void an_exit_of_another_kind(void **state)
{
	struct kvm_regs regs;
	char want[64], text[64];
	struct tiny t;

	(void)state;
	machine(&t);
	assert_int_equal(tiny_enter(&t, hlt, sizeof(hlt)), 0);
	assert_int_equal(trial_run(&t, &regs, text, sizeof(text)), 1);
	snprintf(want, sizeof(want), "exit reason %u instead", KVM_EXIT_HLT);
	assert_string_equal(text, want);
	tiny_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_kvm),
		cmocka_unit_test(code_that_is_too_long),
		cmocka_unit_test(a_vcpu_that_is_lost),
		cmocka_unit_test(an_exit_of_another_kind),
	};

	if (access("/dev/kvm", R_OK | W_OK)) {
		printf("1..1\nok 1 - tiny # SKIP no access to /dev/kvm\n");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
