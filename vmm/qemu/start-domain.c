// SPDX-License-Identifier: GPL-2.0-or-later
/* start-domain.c - a domain of our own, as far as its reset. */
#include "vmm/core/backend.h"
#include "vmm/core/errand.h"
#include "vmm/qemu/libvirt/domain.h"
#include "vmm/qemu/start.h"

static int forward_ports(struct qemu_domain *d, const struct machine_net *net, char *err,
			 size_t errlen)
{
	int rc = 0;

	for (size_t i = 0; i < net->nforward && !rc; i++)
		rc = qemu_domain_forward(d, net->forward[i].host, net->forward[i].guest, err,
					 errlen);
	return rc;
}

struct qemu_domain *qemu_start_domain(const struct machine_config *cfg, char *err, size_t errlen)
{
	const struct errand_patience patience = {.cancelled = cfg->cancelled, .arg = cfg->arg};
	struct start_domain what = {.cfg = cfg};
	struct qemu_domain *d;
	char ignored[512];

	if (qemu_start_overlays_make(&what.overlays, cfg, err, errlen))
		return NULL;
	if (qemu_start_initrd_make(&what.initrd, cfg, err, errlen)) {
		qemu_start_overlays_unlink(&what.overlays);
		return NULL;
	}
	d = qemu_domain_create(cfg->connect, kvm_host_is_native() != 0, qemu_start_xml, &what,
			       &patience, err, errlen);
	qemu_start_initrd_unlink(what.initrd);
	qemu_start_overlays_unlink(&what.overlays);
	if (!d || !forward_ports(d, &cfg->devices.net, err, errlen))
		return d;
	qemu_domain_close(d, ignored, sizeof(ignored));
	return NULL;
}
