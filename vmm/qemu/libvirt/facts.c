// SPDX-License-Identifier: GPL-2.0-or-later
/* facts.c - what a domain is, as it was when it was found or created. */
#include "vmm/qemu/libvirt/internal.h"

const char *qemu_domain_name(const struct qemu_domain *d)
{
	return libvirt()->virDomainGetName(d->dom);
}

const char *qemu_domain_uuid(const struct qemu_domain *d)
{
	return d->uuid;
}

const char *qemu_domain_kernel(const struct qemu_domain *d)
{
	return d->kernel[0] ? d->kernel : NULL;
}

bool qemu_domain_is_kvm(const struct qemu_domain *d)
{
	return d->kvm;
}

bool qemu_domain_was_running(const struct qemu_domain *d)
{
	return d->was_running;
}
