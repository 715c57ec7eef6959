/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * domain.h - a running libvirt domain: what it is, and the gdb stub that is started in it for as
 * long as it is traced.
 */
#ifndef HVTRACE_VMM_QEMU_DOMAIN_H
#define HVTRACE_VMM_QEMU_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

struct qemu_domain;

/*
 * Find the domain with this id, UUID or name, and look whether it can be traced. uri NULL:
 * qemu:///system. Nothing is changed. NULL: err says why in one line.
 */
struct qemu_domain *qemu_domain_open(const char *uri, const char *which, char *err, size_t errlen);
/* Take the stub out if it was started, and let go of the domain. NULL is allowed. */
void qemu_domain_close(struct qemu_domain *d);

const char *qemu_domain_name(const struct qemu_domain *d);
const char *qemu_domain_kernel(const struct qemu_domain *d); /* or NULL */
bool qemu_domain_is_kvm(const struct qemu_domain *d);
bool qemu_domain_was_running(const struct qemu_domain *d);

/*
 * Start the stub and give its address, for gdb_connect(). takeover: one that a tracer has left
 * behind which was killed is used. -EBUSY: there is a stub already.
 */
int qemu_domain_stub_start(struct qemu_domain *d, bool takeover, char *address, size_t room,
			   char *err, size_t errlen);

/* Call reset(arg), on a thread of its own, when the guest is reset. To be called once. */
int qemu_domain_watch(struct qemu_domain *d, void (*reset)(void *arg), void *arg);

#endif
