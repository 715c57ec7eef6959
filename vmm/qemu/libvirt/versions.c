// SPDX-License-Identifier: GPL-2.0-or-later
/* versions.c - which libvirt and which QEMU there are, for reports. */
#include "vmm/machine.h"
#include "vmm/qemu/libvirt/connect.h"

#include <errno.h>
#include <stdlib.h>

/* 1000000 * major + 1000 * minor + release (virConnectGetVersion() of libvirt) */
static void split(unsigned long packed, unsigned int version[3])
{
	version[0] = (unsigned int)(packed / 1000000);
	version[1] = (unsigned int)(packed / 1000 % 1000);
	version[2] = (unsigned int)(packed % 1000);
}

int machine_get_libvirt(const char *connect, struct machine_libvirt *v, char *err, size_t errlen)
{
	virConnectPtr conn = libvirt_connect(connect ? connect : LIBVIRT_DEFAULT_URI, err, errlen);
	unsigned long packed;
	char *caps;

	*v = (struct machine_libvirt){.kvm = false};
	if (!conn)
		return -ECONNREFUSED;
	if (!libvirt()->virConnectGetLibVersion(conn, &packed))
		split(packed, v->version);
	if (!libvirt()->virConnectGetVersion(conn, &packed))
		split(packed, v->qemu);
	caps = libvirt()->virConnectGetDomainCapabilities(conn, NULL, "x86_64", NULL, "kvm", 0);
	v->kvm = caps;
	free(caps);
	libvirt()->virConnectClose(conn);
	return 0;
}
