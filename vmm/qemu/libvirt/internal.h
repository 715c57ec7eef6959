/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * internal.h - what the files behind domain.h share.
 *
 * Whatever is asked about a domain is asked on a thread of its own (question.h), one question at a
 * time. A domain goes with the last who has it: that may be a question that nobody waits for.
 */
#ifndef HVTRACE_VMM_QEMU_LIBVIRT_INTERNAL_H
#define HVTRACE_VMM_QEMU_LIBVIRT_INTERNAL_H

#include "vmm/qemu/libvirt/connect.h"
#include "vmm/qemu/libvirt/domain.h"
#include "vmm/qemu/libvirt/question.h"

#include <pthread.h>
#include <stdatomic.h>

#define DOMAIN_PATH_ROOM 256

struct qemu_domain {
	atomic_uint refs;
	char *uri, *which; /* as it was asked for; which NULL: it is created */
	struct errand_patience patience;
	bool asked_for; /* something that does not go by itself: a stub, a domain */
	bool silent;	/* a question has been given up */
	char *offer[2]; /* the XML of one to be created: with TCG, with KVM */
	pthread_mutex_t talk;
	/* Of whoever holds it: */
	virConnectPtr conn;
	virDomainPtr dom;
	char *xml;
	char kernel[4096];
	bool kvm, was_running;
	bool stub;    /* started by us, or taken over */
	bool created; /* by us: it goes when we let go of it */
	char uuid[VIR_UUID_STRING_BUFLEN];
	/* The watch; -1: none */
	int callback, timer;
	pthread_t thread;
	bool watched;
	atomic_bool stop;
	void (*reset)(void *arg);
	void *arg;
};

/* The caller has it. NULL: no memory. */
struct qemu_domain *qemu_domain_new(const char *uri, const char *which,
				    const struct errand_patience *patience);
void qemu_domain_put(struct qemu_domain *d); /* may ask libvirt */

/* On the thread, with d->talk held. */
struct domain_question;
typedef int domain_ask_fn(struct domain_question *dq, char *err, size_t errlen);

/* Something that libvirt is asked about a domain, and what it says. */
struct domain_question {
	struct question q;
	struct qemu_domain *d; /* while it has it */
	domain_ask_fn *ask;
	bool takeover;
	unsigned int serial; /* which of its serial ports */
	char path[DOMAIN_PATH_ROOM];
};

/* NULL: no memory, and err says so. */
struct domain_question *domain_question_new(struct qemu_domain *d, domain_ask_fn *how, char *err,
					    size_t errlen);
/* As question_put(), for up to so many ms (0: LIBVIRT_ASK_MS), by the domain's patience. */
bool domain_question_put(struct domain_question *dq, unsigned int ms, int *rc, char *err,
			 size_t errlen);
/* Both, for one without an answer but rc. */
int domain_ask(struct qemu_domain *d, domain_ask_fn *how, unsigned int ms, char *err,
	       size_t errlen);

/* What QEMU's monitor answers to a command for people, to be freed, or NULL: libvirt says why. */
char *qemu_domain_monitor(struct qemu_domain *d, const char *command);

/* Take out the stub that has been started: a guest that ran is not left standing because of it. */
void qemu_domain_stub_stop(struct qemu_domain *d);

#endif
