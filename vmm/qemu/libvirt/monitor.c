// SPDX-License-Identifier: GPL-2.0-or-later
/* monitor.c - what QEMU's monitor is asked through libvirt. */
#include "vmm/qemu/libvirt/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARD "hostnet0" /* as libvirt calls what the first network card is connected to */

char *qemu_domain_monitor(struct qemu_domain *d, const char *command)
{
	char *answer = NULL;

	if (libvirt()->virDomainQemuMonitorCommand(d->dom, command, &answer,
						   VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP))
		return NULL;
	return answer;
}

/* dq->path has the command. It answers nothing if all is well (hmp_hostfwd_add(), net/slirp.c). */
static int forward(struct domain_question *dq, char *err, size_t errlen)
{
	char *answer = qemu_domain_monitor(dq->d, dq->path);
	bool done = answer && !answer[strspn(answer, " \r\n")];

	if (!done)
		snprintf(err, errlen, "%.*s", answer ? (int)strcspn(answer, "\r\n") : 200,
			 answer ? answer : libvirt_reason().text);
	free(answer);
	return done ? 0 : -EADDRINUSE;
}

int qemu_domain_forward(struct qemu_domain *d, unsigned int host, unsigned int guest, char *err,
			size_t errlen)
{
	char why[256];
	struct domain_question *dq = domain_question_new(d, forward, err, errlen);
	int rc = -ENOMEM;

	if (!dq)
		return rc;
	snprintf(dq->path, sizeof(dq->path), "hostfwd_add " CARD " tcp:127.0.0.1:%u-:%u", host,
		 guest);
	domain_question_put(dq, 0, &rc, why, sizeof(why));
	if (rc)
		snprintf(err, errlen, "port %u of the host cannot lead to port %u of the guest: %s",
			 host, guest, why);
	question_free(&dq->q);
	return rc;
}
