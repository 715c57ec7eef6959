// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-kvm-int3.c - what the parameter of kvm_amd says of int3, by files that are like it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/qemu/kvm-int3.h"

static bool loses(const char *parameter)
{
	char path[] = "/tmp/hvi.XXXXXX";
	int fd = mkstemp(path);
	bool answer;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, parameter, strlen(parameter)), strlen(parameter));
	close(fd);
	answer = kvm_loses_int3_at(path);
	unlink(path);
	return answer;
}

static void without_nrips(void **state)
{
	(void)state;
	assert_true(loses("0\n"));
	assert_true(loses("N\n"));
}

static void with_nrips_or_no_kvm_amd(void **state)
{
	(void)state;
	assert_false(loses("1\n"));
	assert_false(loses("Y\n"));
	assert_false(loses(""));
	assert_false(kvm_loses_int3_at("/proc/self/no-such-file"));
	assert_false(kvm_loses_int3_at("/proc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_nrips),
		cmocka_unit_test(with_nrips_or_no_kvm_amd),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
