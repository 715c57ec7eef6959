// SPDX-License-Identifier: GPL-2.0-or-later
/* domain.c - finds a domain through libvirt, or creates one, and watches it for resets. */
#include "vmm/qemu/libvirt/internal.h"
#include "vmm/qemu/text/xml.h"
#include "vmm/thread.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_MS	200
#define BUTTON_MS	5000
#define STARTS_MAX	5
#define CLOSE_MS	30000 /* libvirt gives a QEMU that is to end some seconds */
#define CLOSE_SILENT_MS 2000  /* the same, when it has not answered before */

/* --- finding and looking ---------------------------------------------------------------------- */

/* As virsh takes it: an id, else a UUID, else a name. */
static virDomainPtr lookup(virConnectPtr conn, const char *which)
{
	virDomainPtr dom = NULL;
	char *end;
	long id = strtol(which, &end, 10);

	if (*which && !*end && id >= 0 && id <= INT32_MAX)
		dom = libvirt()->virDomainLookupByID(conn, (int)id);
	if (!dom)
		dom = libvirt()->virDomainLookupByUUIDString(conn, which);
	return dom ? dom : libvirt()->virDomainLookupByName(conn, which);
}

static int check_state(struct qemu_domain *d, const char *which, char *err, size_t errlen)
{
	int state, why;

	if (libvirt()->virDomainGetState(d->dom, &state, &why, 0)) {
		snprintf(err, errlen, "cannot get the state of domain %s: %s", which,
			 libvirt_reason().text);
		return -EIO;
	}
	d->was_running = state == VIR_DOMAIN_RUNNING || state == VIR_DOMAIN_BLOCKED;
	if (d->was_running || state == VIR_DOMAIN_PAUSED)
		return 0;
	snprintf(err, errlen, "domain %s is not running: start it with virsh start", which);
	return -ESRCH;
}

static int check_xml(struct qemu_domain *d, const char *which, char *err, size_t errlen)
{
	char text[64] = "";
	const char *at, *end;
	size_t len;

	if (libvirt()->virDomainGetUUIDString(d->dom, d->uuid))
		d->uuid[0] = '\0';
	d->xml = libvirt()->virDomainGetXMLDesc(d->dom, 0);
	at = d->xml ? xml_element(d->xml, "domain", &len) : NULL;
	if (!at || !xml_attribute(at, len, "type", text, sizeof(text)) ||
	    (strcmp(text, "qemu") && strcmp(text, "kvm"))) {
		snprintf(err, errlen, "domain %s is of type %s: only qemu and kvm can be traced",
			 which, *text ? text : "unknown");
		return -EOPNOTSUPP;
	}
	d->kvm = !strcmp(text, "kvm");
	*text = '\0';
	at = xml_element(at, "os", &len);
	end = at ? strstr(at, "</os>") : NULL;
	if (end)
		at = xml_element(at, "type", &len);
	if (!end || !at || !xml_attribute(at, len, "arch", text, sizeof(text)) ||
	    strcmp(text, "x86_64")) {
		snprintf(err, errlen, "domain %s is a %s machine: only x86_64 can be traced", which,
			 *text ? text : "unknown");
		return -EOPNOTSUPP;
	}
	at = xml_element(at, "kernel", &len);
	if (at && at < end && !xml_text(at, len, d->kernel, sizeof(d->kernel)))
		d->kernel[0] = '\0';
	return 0;
}

static int open_domain(struct domain_question *dq, char *err, size_t errlen)
{
	struct qemu_domain *d = dq->d;
	int rc;

	d->conn = libvirt_connect(d->uri, err, errlen);
	if (!d->conn)
		return -ECONNREFUSED;
	d->dom = lookup(d->conn, d->which);
	if (!d->dom) {
		snprintf(err, errlen, "%s has no domain %s: virsh -c %s list --all shows them",
			 d->uri, d->which, d->uri);
		return -ENOENT;
	}
	rc = check_state(d, d->which, err, errlen);
	return rc ? rc : check_xml(d, d->which, err, errlen);
}

/* What went wrong has been said. */
static struct qemu_domain *give_up(struct qemu_domain *d)
{
	char ignored[512];

	qemu_domain_close(d, ignored, sizeof(ignored));
	return NULL;
}

struct qemu_domain *qemu_domain_open(const char *uri, const char *which,
				     const struct errand_patience *patience, char *err,
				     size_t errlen)
{
	struct qemu_domain *d = qemu_domain_new(uri, which, patience);

	if (!d)
		snprintf(err, errlen, "no memory for domain %s", which);
	else if (domain_ask(d, open_domain, 0, err, errlen))
		return give_up(d);
	return d;
}

/* --- a domain of our own ---------------------------------------------------------------------- */

/* libvirt knows no accelerator of its own choosing: a domain is of type kvm, or of type qemu. */
static bool offers_kvm(virConnectPtr conn)
{
	char *caps =
		libvirt()->virConnectGetDomainCapabilities(conn, NULL, "x86_64", NULL, "kvm", 0);
	bool offered = caps;

	free(caps);
	return offered;
}

/* Of a QEMU that gives up at once libvirt now and then does not say why; the next one will, too. */
static virDomainPtr start_domain(virConnectPtr conn, const char *xml)
{
	const unsigned int flags = VIR_DOMAIN_START_PAUSED | VIR_DOMAIN_START_AUTODESTROY;
	virDomainPtr dom;
	int left = STARTS_MAX;

	do
		dom = libvirt()->virDomainCreateXML(conn, xml, flags);
	while (!dom && --left && libvirt_lost_monitor());
	return dom;
}

static int create_domain(struct domain_question *dq, char *err, size_t errlen)
{
	struct qemu_domain *d = dq->d;
	bool kvm;

	d->conn = libvirt_connect(d->uri, err, errlen);
	if (!d->conn)
		return -ECONNREFUSED;
	kvm = d->offer[1] && offers_kvm(d->conn);
	d->dom = start_domain(d->conn, d->offer[kvm]);
	if (!d->dom) {
		snprintf(err, errlen, "libvirt at %s does not start the guest: %s", d->uri,
			 libvirt_reason().text);
		return -EIO;
	}
	d->created = true;
	return check_xml(d, qemu_domain_name(d), err, errlen);
}

/* The thread is not to come back to what the caller has. */
static struct qemu_domain *offer(const char *uri, bool kvm, qemu_xml_fn *make_xml, const void *arg,
				 const struct errand_patience *patience)
{
	struct qemu_domain *d = qemu_domain_new(uri, NULL, patience);

	if (!d)
		return NULL;
	d->offer[0] = make_xml(arg, false);
	d->offer[1] = kvm ? make_xml(arg, true) : NULL;
	if (d->offer[0] && (d->offer[1] || !kvm))
		return d;
	qemu_domain_put(d);
	return NULL;
}

struct qemu_domain *qemu_domain_create(const char *uri, bool kvm, qemu_xml_fn *make_xml,
				       const void *arg, const struct errand_patience *patience,
				       char *err, size_t errlen)
{
	struct qemu_domain *d = offer(uri, kvm, make_xml, arg, patience);

	if (!d) {
		snprintf(err, errlen, "no memory for the description of a domain");
		return NULL;
	}
	d->asked_for = true;
	return domain_ask(d, create_domain, LIBVIRT_START_MS, err, errlen) ? give_up(d) : d;
}

static int resume(struct domain_question *dq, char *err, size_t errlen)
{
	if (!libvirt()->virDomainResume(dq->d->dom))
		return 0;
	snprintf(err, errlen, "domain %s cannot be started: %s", qemu_domain_name(dq->d),
		 libvirt_reason().text);
	return -EIO;
}

int qemu_domain_resume(struct qemu_domain *d, char *err, size_t errlen)
{
	return domain_ask(d, resume, 0, err, errlen);
}

/*
 * Not by virDomainShutdownFlags(): whenever the stub has just had the guest stand, libvirt takes
 * the domain for paused, and refuses.
 */
static int power_button(struct domain_question *dq, char *err, size_t errlen)
{
	char *answer = qemu_domain_monitor(dq->d, "system_powerdown");
	int rc = answer ? 0 : -EIO;

	if (rc)
		snprintf(err, errlen, "the power button of domain %s cannot be pressed: %s",
			 qemu_domain_name(dq->d), libvirt_reason().text);
	free(answer);
	return rc;
}

/* Whatever the patience: who presses it may have lost that for all else. */
int qemu_domain_power_button(struct qemu_domain *d, char *err, size_t errlen)
{
	const struct errand_patience patience = {.ms = BUTTON_MS};
	struct domain_question *dq = domain_question_new(d, power_button, err, errlen);
	int rc;

	if (!dq)
		return -ENOMEM;
	if (!question_put(&dq->q, &patience, &rc, err, errlen))
		d->silent = true;
	question_free(&dq->q);
	return rc;
}

/* --- the watch -------------------------------------------------------------------------------- */

static void on_reboot(virConnectPtr conn, virDomainPtr dom, void *arg)
{
	struct qemu_domain *d = arg;

	(void)conn;
	(void)dom;
	d->reset(d->arg);
}

/* virEventRunDefaultImpl() comes back when there was something; this is something now
 * and then. */
static void on_timer(int timer, void *arg)
{
	(void)timer;
	(void)arg;
}

static void *watch_thread(void *arg)
{
	struct qemu_domain *d = arg;

	while (!d->stop && !libvirt()->virEventRunDefaultImpl())
		;
	return NULL;
}

static int watch(struct domain_question *dq, char *err, size_t errlen)
{
	struct qemu_domain *d = dq->d;

	d->timer = libvirt()->virEventAddTimeout(WATCH_MS, on_timer, NULL, NULL);
	d->callback = libvirt()->virConnectDomainEventRegisterAny(
		d->conn, d->dom, VIR_DOMAIN_EVENT_ID_REBOOT, VIR_DOMAIN_EVENT_CALLBACK(on_reboot),
		d, NULL);
	if (d->timer >= 0 && d->callback >= 0)
		return 0;
	snprintf(err, errlen, "%s", libvirt_reason().text);
	return -EIO;
}

int qemu_domain_watch(struct qemu_domain *d, void (*reset)(void *arg), void *arg)
{
	char ignored[512];
	int rc;

	d->reset = reset;
	d->arg = arg;
	rc = domain_ask(d, watch, 0, ignored, sizeof(ignored));
	if (!rc)
		rc = thread_start(&d->thread, "libvirt", NULL, watch_thread, d);
	d->watched = !rc;
	return rc;
}

/* Nothing of this asks libvirt's daemon: reset() is not called any more. */
static void watch_end(struct qemu_domain *d)
{
	d->stop = true;
	libvirt()->virEventUpdateTimeout(d->timer, 0); /* wakes it */
	pthread_join(d->thread, NULL);
	d->watched = false;
}

/* --- letting go ------------------------------------------------------------------------------- */

void qemu_domain_leave_paused(struct qemu_domain *d)
{
	d->was_running = false;
}

/* Whoever still waits for an answer about it is waited for: it may be about to start the stub. */
static int end(struct question *q)
{
	struct domain_question *dq = (struct domain_question *)q;
	struct qemu_domain *d = dq->d;

	pthread_mutex_lock(&d->talk);
	if (d->created)
		libvirt()->virDomainDestroy(d->dom);
	else if (d->stub)
		qemu_domain_stub_stop(d);
	pthread_mutex_unlock(&d->talk);
	dq->d = NULL;
	qemu_domain_put(d);
	return 0;
}

int qemu_domain_close(struct qemu_domain *d, char *err, size_t errlen)
{
	struct errand_patience patience = {.ms = CLOSE_MS};
	struct domain_question *dq;
	int rc = 0;

	if (!d)
		return 0;
	if (d->watched)
		watch_end(d);
	if (d->silent)
		patience.ms = d->asked_for ? CLOSE_SILENT_MS : 1;
	dq = domain_question_new(d, NULL, err, errlen);
	qemu_domain_put(d); /* the question has it */
	if (!dq)
		return -ENOMEM;
	dq->q.ask = end;
	question_put(&dq->q, &patience, &rc, err, errlen);
	question_free(&dq->q);
	return rc;
}
