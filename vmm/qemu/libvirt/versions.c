// SPDX-License-Identifier: GPL-2.0-or-later
/* versions.c - whether there is a libvirt, which one, and with which QEMU. */
#include "vmm/core/backend.h"
#include "vmm/qemu/libvirt/connect.h"
#include "vmm/qemu/libvirt/question.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* 1000000 * major + 1000 * minor + release (virConnectGetVersion() of libvirt) */
static void split(unsigned long packed, unsigned int version[3])
{
	version[0] = (unsigned int)(packed / 1000000);
	version[1] = (unsigned int)(packed / 1000 % 1000);
	version[2] = (unsigned int)(packed % 1000);
}

struct versions_question {
	struct question q;
	struct machine_libvirt v;
};

static int versions_ask(struct question *q)
{
	struct machine_libvirt *v = &((struct versions_question *)q)->v;
	virConnectPtr conn = libvirt_connect(q->uri, q->err, sizeof(q->err));
	unsigned long packed;
	char *caps;

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

static int reachable_ask(struct question *q)
{
	virConnectPtr conn = libvirt_connect(q->uri, q->err, sizeof(q->err));

	if (!conn)
		return -ECONNREFUSED;
	libvirt()->virConnectClose(conn);
	return 0;
}

static int ask(const char *uri, const struct machine_patience *patience,
	       int (*how)(struct question *q), struct machine_libvirt *v, char *err, size_t errlen)
{
	const struct errand_patience p = {.cancelled = patience->cancelled, .arg = patience->arg};
	struct versions_question *vq = question_new(sizeof(*vq), uri, how, NULL);
	int rc;

	*v = (struct machine_libvirt){.kvm = false};
	if (!vq) {
		snprintf(err, errlen, "no memory for a question to libvirt");
		return -ENOMEM;
	}
	if (question_put(&vq->q, &p, &rc, err, errlen) && !rc)
		*v = vq->v;
	question_free(&vq->q);
	return rc;
}

int machine_get_libvirt(const char *connect, const struct machine_patience *patience,
			struct machine_libvirt *v, char *err, size_t errlen)
{
	return ask(connect, patience, versions_ask, v, err, errlen);
}

int qemu_reachable(const char *uri, const struct machine_patience *patience, char *err,
		   size_t errlen)
{
	struct machine_libvirt none;

	return ask(uri, patience, reachable_ask, &none, err, errlen);
}
