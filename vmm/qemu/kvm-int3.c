// SPDX-License-Identifier: GPL-2.0-or-later
/* kvm-int3.c - whether KVM of this host gives a guest of QEMU its own int3 back for sure. */
#include "vmm/qemu/kvm-int3.h"

#include <fcntl.h>
#include <unistd.h>

bool kvm_loses_int3_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char value = 0;
	ssize_t n;

	if (fd < 0)
		return false; /* another processor's KVM */
	n = read(fd, &value, 1);
	close(fd);
	/* An int today; it may become a bool. */
	return n == 1 && (value == '0' || value == 'N');
}

bool kvm_loses_int3(void)
{
	return kvm_loses_int3_at("/sys/module/kvm_amd/parameters/nrips");
}
