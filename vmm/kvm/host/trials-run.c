// SPDX-License-Identifier: GPL-2.0-or-later
/* trials-run.c - what each trial does with its machine: run it to an exit, and look. */
#include "vmm/kvm/host/trials.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>

int trial_regs(struct tiny *t, struct kvm_regs *regs)
{
	return ioctl(t->vcpu_fd, KVM_GET_REGS, regs) ? -errno : 0;
}

int trial_odd_exit(const struct tiny *t, char *text, size_t len)
{
	snprintf(text, len, "exit reason %u instead", t->run->exit_reason);
	return 1;
}

int trial_run(struct tiny *t, struct kvm_regs *regs, char *text, size_t len)
{
	int rc = tiny_run(t);

	if (rc)
		return rc;
	if (t->run->exit_reason != KVM_EXIT_IO)
		return trial_odd_exit(t, text, len);
	return trial_regs(t, regs);
}
