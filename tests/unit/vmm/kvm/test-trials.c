// SPDX-License-Identifier: GPL-2.0-or-later
/* The trials of KVM, on this host's: all of them work on any that hvtrace can be used on. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/machine.h"

static void all_are_as_they_have_to_be(void **state)
{
	struct machine_trial trial;
	unsigned int failed = 0, i;
	bool interprets = false;

	(void)state;
	for (i = 0; machine_try_kvm(i, &trial); i++) {
		if (trial.rc)
			print_message("%s: %d, %s\n", trial.name, trial.rc, trial.text);
		interprets |= !strncmp(trial.text, "KVM's emulator refuses", 22);
		/* The way of QEMU, which cannot use a KVM that interprets. */
		if (interprets && !strcmp(trial.name, "int3 and interrupt"))
			failed += trial.rc != -EOPNOTSUPP;
		else
			failed += trial.rc != 0;
		assert_true(*trial.name && *trial.text);
	}
	assert_int_equal(failed, 0);
	assert_int_equal(i, 10);
}

/* Nothing of a trial is left open, whatever it was. */
static void nothing_stays_open(void **state)
{
	struct machine_trial trial;
	int before = dup(0), after;

	(void)state;
	for (unsigned int i = 0; machine_try_kvm(i, &trial); i++)
		;
	after = dup(0);
	assert_int_equal(after, before + 1);
	close(before);
	close(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_as_they_have_to_be),
		cmocka_unit_test(nothing_stays_open),
	};

	if (access("/dev/kvm", R_OK | W_OK)) {
		printf("1..1\nok 1 - trials # SKIP no access to /dev/kvm\n");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
