/* SPDX-License-Identifier: GPL-2.0-or-later */
/* connect.h - the connection to a libvirt on this host, and what it says when something fails. */
#ifndef HVTRACE_VMM_QEMU_LIBVIRT_CONNECT_H
#define HVTRACE_VMM_QEMU_LIBVIRT_CONNECT_H

#include <stddef.h>

#include "vmm/qemu/libvirt/libvirt.h"

#define LIBVIRT_DEFAULT_URI "qemu:///system"

struct libvirt_reason {
	char text[200];
};

/* Loads libvirt. To be closed with virConnectClose(). NULL: err says why in one line. */
virConnectPtr libvirt_connect(const char *uri, char *err, size_t errlen);
/* The first line of what libvirt has to say about this thread's last error. */
struct libvirt_reason libvirt_reason(void);

#endif
