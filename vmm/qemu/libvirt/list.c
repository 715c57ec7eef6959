// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - the domains of a libvirt that could be attached to. */
#include "vmm/core/backend.h"
#include "vmm/qemu/libvirt/connect.h"
#include "vmm/qemu/libvirt/question.h"
#include "vmm/qemu/text/label.h"
#include "vmm/qemu/text/xml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *state_name(int state)
{
	switch (state) {
	case VIR_DOMAIN_RUNNING:
	case VIR_DOMAIN_BLOCKED:
		return "running";
	case VIR_DOMAIN_PAUSED:
		return "paused";
	case VIR_DOMAIN_PMSUSPENDED:
		return "suspended";
	default:
		return "ending";
	}
}

static void look_at(virDomainPtr dom, struct machine_listing *l)
{
	char *xml = libvirt()->virDomainGetXMLDesc(dom, 0), type[16] = "";
	const char *at;
	virDomainInfo info;
	size_t len;

	*l = (struct machine_listing){.id = libvirt()->virDomainGetID(dom), .state = "unknown"};
	snprintf(l->name, sizeof(l->name), "%s", libvirt()->virDomainGetName(dom));
	if (libvirt()->virDomainGetUUIDString(dom, l->uuid))
		l->uuid[0] = '\0';
	if (!libvirt()->virDomainGetInfo(dom, &info)) {
		l->state = state_name(info.state);
		l->vcpus = info.nrVirtCpu;
	}
	at = xml ? xml_element(xml, "domain", &len) : NULL;
	if (at && xml_attribute(at, len, "type", type, sizeof(type)))
		snprintf(l->accel, sizeof(l->accel), "%.7s", strcmp(type, "qemu") ? type : "tcg");
	at = xml ? xml_element(xml, "kernel", &len) : NULL;
	if (at && !xml_text(at, len, l->kernel, sizeof(l->kernel)))
		l->kernel[0] = '\0';
	l->metadata = xml ? label_metadata(xml) : NULL;
	free(xml);
}

struct list_question {
	struct question q;
	struct machine_listing *list;
	int nr;
};

void qemu_list_free(struct machine_listing *list, int nr)
{
	for (int i = 0; list && i < nr; i++)
		free(list[i].metadata);
	free(list);
}

bool qemu_has_label(const struct machine_listing *l, const char *key, const char *value)
{
	return l->metadata && label_is(l->metadata, key, value);
}

static void list_release(struct question *q)
{
	const struct list_question *lq = (struct list_question *)q;

	qemu_list_free(lq->list, lq->nr);
}

/* How many there are, or a negative errno. */
static int list_ask(struct question *q)
{
	virConnectPtr conn = libvirt_connect(q->uri, q->err, sizeof(q->err));
	struct machine_listing **list = &((struct list_question *)q)->list;
	virDomainPtr *doms;
	int n;

	if (!conn)
		return -ECONNREFUSED;
	n = libvirt()->virConnectListAllDomains(conn, &doms, VIR_CONNECT_LIST_DOMAINS_ACTIVE);
	if (n < 0) {
		snprintf(q->err, sizeof(q->err), "libvirt does not list its domains: %s",
			 libvirt_reason().text);
		libvirt()->virConnectClose(conn);
		return -EIO;
	}
	*list = calloc((size_t)n + 1, sizeof(**list));
	((struct list_question *)q)->nr = n;
	for (int i = 0; i < n; i++) {
		if (*list)
			look_at(doms[i], &(*list)[i]);
		libvirt()->virDomainFree(doms[i]);
	}
	free(doms);
	libvirt()->virConnectClose(conn);
	if (*list)
		return n;
	snprintf(q->err, sizeof(q->err), "no memory for a list of %d domains", n);
	return -ENOMEM;
}

int qemu_list(const char *uri, const struct machine_patience *patience,
	      struct machine_listing **list, char *err, size_t errlen)
{
	const struct errand_patience p = {.cancelled = patience->cancelled, .arg = patience->arg};
	struct list_question *lq = question_new(sizeof(*lq), uri, list_ask, list_release);
	int rc;

	if (!lq) {
		snprintf(err, errlen, "no memory for a list of domains");
		return -ENOMEM;
	}
	if (question_put(&lq->q, &p, &rc, err, errlen) && rc >= 0) {
		*list = lq->list;
		lq->list = NULL; /* the caller's */
	}
	question_free(&lq->q);
	return rc;
}
