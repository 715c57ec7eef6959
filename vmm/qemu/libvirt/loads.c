// SPDX-License-Identifier: GPL-2.0-or-later
/* loads.c - how long vCPUs of all domains have run, and waited for a processor of the host. */
#include "vmm/core/backend.h"
#include "vmm/qemu/libvirt/connect.h"
#include "vmm/qemu/libvirt/question.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct loads_question {
	struct question q;
	struct machine_load *loads;
};

static void loads_release(struct question *q)
{
	free(((struct loads_question *)q)->loads);
}

static bool get_vcpu(const virDomainStatsRecord *r, unsigned int vcpu, const char *what,
		     unsigned long long *value)
{
	char name[64];

	snprintf(name, sizeof(name), "vcpu.%u.%s", vcpu, what);
	return libvirt()->virTypedParamsGetULLong(r->params, r->nparams, name, value) == 1;
}

static void take_record(const virDomainStatsRecord *r, struct machine_load *l)
{
	unsigned int vcpus = 0;

	*l = (struct machine_load){0};
	if (libvirt()->virDomainGetUUIDString(r->dom, l->uuid))
		l->uuid[0] = '\0';
	libvirt()->virTypedParamsGetUInt(r->params, r->nparams, "vcpu.current", &vcpus);
	l->vcpus = vcpus < MACHINE_MAX_VCPUS ? vcpus : MACHINE_MAX_VCPUS;
	for (unsigned int i = 0; i < l->vcpus; i++) {
		unsigned long long ran = 0, waited = 0;

		get_vcpu(r, i, "time", &ran);
		l->vcpu[i].counted = get_vcpu(r, i, "delay", &waited);
		l->vcpu[i].ran_ns = ran;
		l->vcpu[i].waited_ns = waited;
	}
}

static int loads_ask(struct question *q)
{
	virConnectPtr conn = libvirt_connect(q->uri, q->err, sizeof(q->err));
	struct loads_question *lq = (struct loads_question *)q;
	virDomainStatsRecordPtr *records = NULL;
	int n;

	if (!conn)
		return -ECONNREFUSED;
	n = libvirt()->virConnectGetAllDomainStats(
		conn, VIR_DOMAIN_STATS_VCPU, &records,
		VIR_CONNECT_GET_ALL_DOMAINS_STATS_RUNNING |
			VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT);
	if (n < 0) {
		snprintf(q->err, sizeof(q->err), "libvirt does not tell how busy domains are: %s",
			 libvirt_reason().text);
		libvirt()->virConnectClose(conn);
		return -EIO;
	}
	lq->loads = calloc((size_t)n + 1, sizeof(*lq->loads));
	for (int i = 0; i < n && lq->loads; i++)
		take_record(records[i], &lq->loads[i]);
	libvirt()->virDomainStatsRecordListFree(records);
	libvirt()->virConnectClose(conn);
	if (lq->loads)
		return n;
	snprintf(q->err, sizeof(q->err), "no memory for how busy %d domains are", n);
	return -ENOMEM;
}

int qemu_get_loads(const char *uri, const struct machine_patience *patience,
		   struct machine_load **loads, char *err, size_t errlen)
{
	const struct errand_patience p = {.cancelled = patience->cancelled, .arg = patience->arg};
	struct loads_question *lq = question_new(sizeof(*lq), uri, loads_ask, loads_release);
	int rc;

	if (!lq) {
		snprintf(err, errlen, "no memory to ask how busy domains are");
		return -ENOMEM;
	}
	if (question_put(&lq->q, &p, &rc, err, errlen) && rc >= 0) {
		*loads = lq->loads;
		lq->loads = NULL;
	}
	question_free(&lq->q);
	return rc;
}
