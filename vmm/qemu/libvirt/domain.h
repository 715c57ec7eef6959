/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * domain.h - a running libvirt domain, found or created: what it is, and the gdb stub that is
 * started in it for as long as it is traced.
 */
#ifndef HVTRACE_VMM_QEMU_LIBVIRT_DOMAIN_H
#define HVTRACE_VMM_QEMU_LIBVIRT_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

struct errand_patience;
struct qemu_domain;

/*
 * Whatever asks libvirt here waits for half a minute at most (creating: two minutes), or so many ms
 * as the patience says that the domain was found or created with, and as long as that is not
 * cancelled. Then it is given up: -ETIMEDOUT or -ECANCELED where there is a negative errno.
 */

/*
 * Find the domain with this id, UUID or name, and look whether it can be traced. uri NULL:
 * qemu:///system. Nothing is changed. NULL: err says why in one line.
 */
struct qemu_domain *qemu_domain_open(const char *uri, const char *which,
				     const struct errand_patience *patience, char *err,
				     size_t errlen);

/* The XML of a domain whose serial ports are of type null, to be freed, or NULL: no memory. */
typedef char *qemu_xml_fn(const void *arg, bool kvm);

/*
 * Create a transient domain, which stands at its reset: under KVM if kvm says so and this libvirt
 * can do it, else under TCG. It goes with qemu_domain_close(), and when this process ends,
 * however that may be. NULL: err says why in one line.
 */
struct qemu_domain *qemu_domain_create(const char *uri, bool kvm, qemu_xml_fn *make_xml,
				       const void *arg, const struct errand_patience *patience,
				       char *err, size_t errlen);
/*
 * Connect serial port nr, 0 or 1, of a domain that was created to a socket, and give its path. 0 or
 * -errno
 */
int qemu_domain_serial_open(struct qemu_domain *d, unsigned int nr, char *path, size_t room,
			    char *err, size_t errlen);

/*
 * Have a TCP port of the host's loopback address lead to one of the guest's, of a domain that was
 * created with a network card of type user. 0 or -errno, and err says why.
 */
int qemu_domain_forward(struct qemu_domain *d, unsigned int host, unsigned int guest, char *err,
			size_t errlen);

/* Let a domain that stands run. 0 or -errno, and err says why. */
int qemu_domain_resume(struct qemu_domain *d, char *err, size_t errlen);

/* Press its power button; libvirt gets some seconds for it. 0 or -errno, and err says why. */
int qemu_domain_power_button(struct qemu_domain *d, char *err, size_t errlen);

/* Someone else has stopped the guest: it is not resumed when let go of. */
void qemu_domain_leave_paused(struct qemu_domain *d);
/*
 * Take the stub out if it was started, and let go of the domain, whatever the patience, but for no
 * longer than some seconds: else a negative errno, and one line in err. NULL is allowed.
 */
int qemu_domain_close(struct qemu_domain *d, char *err, size_t errlen);

const char *qemu_domain_name(const struct qemu_domain *d);
const char *qemu_domain_uuid(const struct qemu_domain *d);   /* as text */
const char *qemu_domain_kernel(const struct qemu_domain *d); /* or NULL */
bool qemu_domain_is_kvm(const struct qemu_domain *d);
bool qemu_domain_was_running(const struct qemu_domain *d);

/*
 * Start the stub and give its address, for gdb_dial(). takeover: one that a tracer has left
 * behind which was killed is used. -EBUSY: there is a stub already.
 */
int qemu_domain_stub_start(struct qemu_domain *d, bool takeover, char *address, size_t room,
			   char *err, size_t errlen);

/*
 * Call reset(arg), on a thread of its own, when the guest is reset, up to the closing. To be called
 * once. 0 or -errno.
 */
int qemu_domain_watch(struct qemu_domain *d, void (*reset)(void *arg), void *arg);

#endif
