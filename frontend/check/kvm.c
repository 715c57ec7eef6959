// SPDX-License-Identifier: GPL-2.0-or-later
/* kvm.c - checks of KVM itself: the machine's trials, one line each. */
#include "frontend/check/check.h"
#include "vmm/machine.h"

void check_kvm(struct check_report *r)
{
	struct machine_trial trial;

	for (unsigned int i = 0; !check_is_cancelled(r) && machine_try_kvm(i, &trial); i++) {
		struct check_result res;
		char name[64];

		/* /dev/kvm has a line of its own, and what uses QEMU may work all the same. */
		check_say(&res,
			  !trial.rc	 ? CHECK_OK
			  : trial.rc > 0 ? CHECK_FAILED
					 : CHECK_NOT_TRIED,
			  "%s", trial.text);
		snprintf(name, sizeof(name), "kvm: %s", trial.name);
		check_print(r, name, &res);
	}
}
