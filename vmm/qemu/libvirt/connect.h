/* SPDX-License-Identifier: GPL-2.0-or-later */
/* connect.h - the connection to a libvirt on this host, and what it says when something fails. */
#ifndef HVTRACE_VMM_QEMU_LIBVIRT_CONNECT_H
#define HVTRACE_VMM_QEMU_LIBVIRT_CONNECT_H

#include <stdbool.h>
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
/*
 * A domain does not start, since its QEMU had closed its monitor before libvirt connected to it.
 * Unless libvirt has seen by then that the process has ended, it tells the system's error and not
 * what QEMU has said (libvirt 9.0, by a connect() that was made to fail).
 */
bool libvirt_lost_monitor(void);

#endif
