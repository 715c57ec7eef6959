/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files behind domain.h share. */
#ifndef HVTRACE_VMM_QEMU_LIBVIRT_INTERNAL_H
#define HVTRACE_VMM_QEMU_LIBVIRT_INTERNAL_H

#include "vmm/qemu/libvirt/connect.h"
#include "vmm/qemu/libvirt/domain.h"

#include <pthread.h>
#include <stdatomic.h>

struct qemu_domain {
	virConnectPtr conn;
	virDomainPtr dom;
	char *xml;
	char kernel[4096];
	bool kvm, was_running;
	bool stub;    /* started by us, or taken over */
	bool created; /* by us: it goes when we let go of it */
	char uuid[VIR_UUID_STRING_BUFLEN];
	/* The watch. */
	pthread_t thread;
	bool watched;
	atomic_bool stop;
	int callback, timer;
	void (*reset)(void *arg);
	void *arg;
};

/* Take out the stub that has been started: a guest that ran is not left standing because of it. */
void qemu_domain_stub_stop(struct qemu_domain *d);

#endif
