// SPDX-License-Identifier: GPL-2.0-or-later
/* question.c - see question.h */
#include "vmm/qemu/libvirt/question.h"
#include "vmm/qemu/libvirt/connect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void question_run(struct errand *e)
{
	struct question *q = (struct question *)e;

	q->rc = q->ask(q);
}

static void question_release(struct errand *e)
{
	struct question *q = (struct question *)e;

	if (q->release)
		q->release(q);
	free(q->uri);
}

void *question_new(size_t size, const char *uri, int (*ask)(struct question *q),
		   void (*release)(struct question *q))
{
	static const struct errand_ops ops = {
		.kind = "libvirt-ask", .run = question_run, .release = question_release};
	struct question *q = errand_new(size, &ops);

	if (!q)
		return NULL;
	q->ask = ask;
	q->release = release;
	q->uri = strdup(uri ? uri : LIBVIRT_DEFAULT_URI);
	if (q->uri)
		return q;
	errand_put(&q->errand);
	return NULL;
}

void question_free(struct question *q)
{
	if (q)
		errand_put(&q->errand);
}

static void complain(const struct question *q, int rc, unsigned int ms, char *err, size_t errlen)
{
	if (rc == -ETIMEDOUT)
		snprintf(err, errlen,
			 "libvirt does not answer (%s): waited for %u s; is its daemon stopped, or "
			 "the domain's QEMU?",
			 q->uri, (ms + 999) / 1000);
	else if (rc == -ECANCELED)
		snprintf(err, errlen, "libvirt does not answer (%s) yet: given up", q->uri);
	else
		snprintf(err, errlen, "libvirt cannot be asked (%s): no thread for it: %s", q->uri,
			 strerror(-rc));
}

bool question_put(struct question *q, const struct errand_patience *patience, int *rc, char *err,
		  size_t errlen)
{
	struct errand_patience p = *patience;

	p.ms = p.ms ? p.ms : LIBVIRT_ASK_MS;
	*rc = errand_run(&q->errand, &p);
	if (*rc) {
		complain(q, *rc, p.ms, err, errlen);
		return false;
	}
	*rc = q->rc;
	if (*rc < 0)
		snprintf(err, errlen, "%s", q->err);
	return true;
}
