// SPDX-License-Identifier: GPL-2.0-or-later
/* ask.c - what is asked about a domain, and who has it meanwhile. */
#include "vmm/qemu/libvirt/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_domain *qemu_domain_new(const char *uri, const char *which,
				    const struct errand_patience *patience)
{
	struct qemu_domain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->refs = 1;
	d->patience = *patience;
	d->callback = d->timer = -1;
	pthread_mutex_init(&d->talk, NULL); /* does not fail with glibc */
	d->uri = strdup(uri ? uri : LIBVIRT_DEFAULT_URI);
	d->which = which ? strdup(which) : NULL;
	if (d->uri && (d->which || !which))
		return d;
	qemu_domain_put(d);
	return NULL;
}

void qemu_domain_put(struct qemu_domain *d)
{
	if (atomic_fetch_sub(&d->refs, 1) != 1)
		return;
	if (d->callback >= 0)
		libvirt()->virConnectDomainEventDeregisterAny(d->conn, d->callback);
	if (d->timer >= 0)
		libvirt()->virEventRemoveTimeout(d->timer);
	if (d->dom)
		libvirt()->virDomainFree(d->dom);
	if (d->conn)
		libvirt()->virConnectClose(d->conn);
	pthread_mutex_destroy(&d->talk);
	free(d->offer[0]);
	free(d->offer[1]);
	free(d->uri);
	free(d->which);
	free(d->xml);
	free(d);
}

static int ask(struct question *q)
{
	struct domain_question *dq = (struct domain_question *)q;
	struct qemu_domain *d = dq->d;
	int rc;

	pthread_mutex_lock(&d->talk);
	rc = dq->ask(dq, q->err, sizeof(q->err));
	pthread_mutex_unlock(&d->talk);
	/* Before anybody hears of it: whoever closes the domain then has it alone. */
	dq->d = NULL;
	qemu_domain_put(d);
	return rc;
}

/* Of one that was never put. */
static void release(struct question *q)
{
	struct domain_question *dq = (struct domain_question *)q;

	if (dq->d)
		qemu_domain_put(dq->d);
}

struct domain_question *domain_question_new(struct qemu_domain *d, domain_ask_fn *how, char *err,
					    size_t errlen)
{
	struct domain_question *dq = question_new(sizeof(*dq), d->uri, ask, release);

	if (!dq) {
		snprintf(err, errlen, "no memory for a question to libvirt");
		return NULL;
	}
	dq->ask = how;
	dq->d = d;
	atomic_fetch_add(&d->refs, 1);
	return dq;
}

bool domain_question_put(struct domain_question *dq, unsigned int ms, int *rc, char *err,
			 size_t errlen)
{
	struct qemu_domain *d = dq->d;
	struct errand_patience patience = d->patience;

	patience.ms = patience.ms ? patience.ms : ms;
	if (question_put(&dq->q, &patience, rc, err, errlen))
		return true;
	d->silent = true; /* the caller has it, too */
	return false;
}

int domain_ask(struct qemu_domain *d, domain_ask_fn *how, unsigned int ms, char *err, size_t errlen)
{
	struct domain_question *dq = domain_question_new(d, how, err, errlen);
	int rc;

	if (!dq)
		return -ENOMEM;
	domain_question_put(dq, ms, &rc, err, errlen);
	question_free(&dq->q);
	return rc;
}
