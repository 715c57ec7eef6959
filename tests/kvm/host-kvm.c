// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host-kvm.c - whether KVM of this host runs guest kernels on the processor: exit status 0 if it
 * does, else 1 and a line that says why not.
 */
#include <stdio.h>
#include <string.h>

#include "vmm/core/backend.h"

int main(void)
{
	int native = kvm_host_is_native();

	if (native > 0)
		return 0;
	if (native)
		printf("/dev/kvm cannot be used: %s\n", strerror(-native));
	else
		puts("KVM interprets guest kernels here");
	return 1;
}
