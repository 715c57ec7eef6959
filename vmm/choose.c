// SPDX-License-Identifier: GPL-2.0-or-later
/* choose.c - which backend suits this host. */
#include "vmm/internal.h"

#include <stdio.h>
#include <string.h>

const char *machine_choose(const char *connect, char *why, size_t len)
{
	char reason[256], no_libvirt[384];
	int native = kvm_host_is_native();

	if (native > 0) {
		snprintf(why, len, "kvm, as KVM runs guest kernels on the processor here");
		return kvm_machine_ops.name;
	}
	if (native)
		snprintf(reason, sizeof(reason), "/dev/kvm cannot be used: %s", strerror(-native));
	else
		snprintf(reason, sizeof(reason), "KVM interprets guest kernels here");
	if (!qemu_reachable(connect, no_libvirt, sizeof(no_libvirt))) {
		snprintf(why, len, "qemu, as %s", reason);
		return qemu_machine_ops.name;
	}
	snprintf(why, len, "kvm, although %s: for qemu start libvirtd or name one (--connect); %s",
		 reason, no_libvirt);
	return kvm_machine_ops.name;
}
