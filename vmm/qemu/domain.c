// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * domain.c - finds a domain through libvirt, or creates one, and starts and stops the gdb stub in
 * its QEMU.
 *
 * The stub listens on a socket in the directory that libvirt has made for this domain alone and
 * that its QEMU may write to, whatever user and confinement it runs under: the one of its monitor
 * socket, as the monitor's own `info chardev` tells. The serial port of a domain of our own gets
 * one beside it. libvirt calls a domain tainted after a monitor command of ours; nothing in its
 * configuration changes.
 */
#include "vmm/qemu/domain.h"
#include "vmm/qemu/connect.h"
#include "vmm/qemu/xml.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STUB_SOCKET    "hvtrace.gdb"
#define STUB_CHARDEV   "gdb" /* as QEMU calls it: gdbserver_start() in its gdbstub */
#define SERIAL_SOCKET  "hvtrace.tty"
#define SERIAL_CHARDEV "charserial0" /* as libvirt calls that of the first serial port */
#define PATH_ROOM      256
#define COMMAND_ROOM   (2 * PATH_ROOM + 64)
#define WATCH_MS       200

struct qemu_domain {
	virConnectPtr conn;
	virDomainPtr dom;
	char *xml;
	char kernel[4096];
	bool kvm, was_running;
	bool stub;    /* started by us, or taken over */
	bool created; /* by us: it goes when we let go of it */
	char uuid[VIR_UUID_STRING_BUFLEN];
	/* The watch. */
	pthread_t thread;
	bool watched;
	atomic_bool stop;
	int callback, timer;
	void (*reset)(void *arg);
	void *arg;
};

/* --- what libvirt says ---------------------------------------------------------------------- */

/* What the monitor answers, to be freed, or NULL. */
static char *monitor(struct qemu_domain *d, const char *command)
{
	char *answer = NULL;

	if (libvirt()->virDomainQemuMonitorCommand(d->dom, command, &answer,
						   VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP))
		return NULL;
	return answer;
}

/* --- finding and looking ------------------------------------------------------------------------
 */

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

static int open_domain(struct qemu_domain *d, const char *uri, const char *which, char *err,
		       size_t errlen)
{
	int rc;

	d->conn = libvirt_connect(uri, err, errlen);
	if (!d->conn)
		return -ECONNREFUSED;
	d->dom = lookup(d->conn, which);
	if (!d->dom) {
		snprintf(err, errlen, "%s has no domain %s: virsh -c %s list --all shows them", uri,
			 which, uri);
		return -ENOENT;
	}
	rc = check_state(d, which, err, errlen);
	return rc ? rc : check_xml(d, which, err, errlen);
}

struct qemu_domain *qemu_domain_open(const char *uri, const char *which, char *err, size_t errlen)
{
	struct qemu_domain *d = calloc(1, sizeof(*d));

	if (!d) {
		snprintf(err, errlen, "no memory for domain %s", which);
		return NULL;
	}
	if (!open_domain(d, uri ? uri : LIBVIRT_DEFAULT_URI, which, err, errlen))
		return d;
	qemu_domain_close(d);
	return NULL;
}

/* --- a domain of our own ------------------------------------------------------------------------
 */

/* libvirt knows no accelerator of its own choosing: a domain is of type kvm, or of type qemu. */
static bool offers_kvm(virConnectPtr conn)
{
	char *caps =
		libvirt()->virConnectGetDomainCapabilities(conn, NULL, "x86_64", NULL, "kvm", 0);
	bool offered = caps;

	free(caps);
	return offered;
}

static int create_domain(struct qemu_domain *d, const char *uri, bool kvm, qemu_xml_fn *make_xml,
			 const void *arg, char *err, size_t errlen)
{
	const unsigned int flags = VIR_DOMAIN_START_PAUSED | VIR_DOMAIN_START_AUTODESTROY;
	char *xml;

	d->conn = libvirt_connect(uri, err, errlen);
	if (!d->conn)
		return -ECONNREFUSED;
	xml = make_xml(arg, kvm && offers_kvm(d->conn));
	if (!xml) {
		snprintf(err, errlen, "no memory for the description of a domain");
		return -ENOMEM;
	}
	d->dom = libvirt()->virDomainCreateXML(d->conn, xml, flags);
	free(xml);
	if (!d->dom) {
		snprintf(err, errlen, "libvirt at %s does not start the guest: %s", uri,
			 libvirt_reason().text);
		return -EIO;
	}
	d->created = true;
	return check_xml(d, qemu_domain_name(d), err, errlen);
}

struct qemu_domain *qemu_domain_create(const char *uri, bool kvm, qemu_xml_fn *make_xml,
				       const void *arg, char *err, size_t errlen)
{
	struct qemu_domain *d = calloc(1, sizeof(*d));

	if (!d) {
		snprintf(err, errlen, "no memory for a domain");
		return NULL;
	}
	if (!create_domain(d, uri ? uri : LIBVIRT_DEFAULT_URI, kvm, make_xml, arg, err, errlen))
		return d;
	qemu_domain_close(d);
	return NULL;
}

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

/* --- the stub -----------------------------------------------------------------------------------
 */

/* "NAME: filename=VALUE" of `info chardev`: the value, up to the end of its line. */
static bool chardev_value(const char *chardevs, const char *name, char *value, size_t room)
{
	size_t len = strlen(name);

	for (const char *at = chardevs; at; at = strchr(at, '\n')) {
		size_t n;

		at += *at == '\n';
		if (strncmp(at, name, len) || strncmp(at + len, ": filename=", 11))
			continue;
		at += len + 11;
		n = strcspn(at, "\r\n");
		if (n >= room)
			return false;
		memcpy(value, at, n);
		value[n] = '\0';
		return true;
	}
	return false;
}

/* The path in unix:PATH[,server=on]: a comma that belongs to it is doubled, as options have it. */
static bool socket_path(const char *value, char *path, size_t room)
{
	size_t n = 0;

	if (strncmp(value, "unix:", 5))
		return false;
	for (value += 5; *value && (*value != ',' || value[1] == ','); value++) {
		if (*value == ',')
			value++;
		if (n + 1 >= room)
			return false;
		path[n++] = *value;
	}
	path[n] = '\0';
	return true;
}

/* What QEMU says about its character devices, to be freed, or NULL and err is filled. */
static char *list_chardevs(struct qemu_domain *d, char *err, size_t errlen)
{
	char *chardevs = monitor(d, "info chardev");

	if (!chardevs)
		snprintf(err, errlen, "no answer from the monitor of domain %s: %s",
			 qemu_domain_name(d), libvirt_reason().text);
	return chardevs;
}

/* The path of a socket of this name beside the monitor's. */
static int socket_place(struct qemu_domain *d, const char *chardevs, const char *name, char *path,
			size_t room, char *err, size_t errlen)
{
	char value[PATH_ROOM], *slash;

	if (chardev_value(chardevs, "charmonitor", value, sizeof(value)) &&
	    socket_path(value, path, room) && (slash = strrchr(path, '/')) &&
	    (size_t)(slash + 1 - path) + strlen(name) < room) {
		strcpy(slash + 1, name);
		return 0;
	}
	snprintf(err, errlen,
		 "the monitor of domain %s has no socket beside which another could be",
		 qemu_domain_name(d));
	return -EOPNOTSUPP;
}

/* Where the stub's socket will be, and what is known of one that is there already. */
static int stub_place(struct qemu_domain *d, char *path, size_t room, bool *stale, char *err,
		      size_t errlen)
{
	char *chardevs = list_chardevs(d, err, errlen);
	char value[PATH_ROOM], old[PATH_ROOM];
	bool used;
	int rc;

	*stale = false;
	if (!chardevs)
		return -EACCES;
	rc = socket_place(d, chardevs, STUB_SOCKET, path, room, err, errlen);
	used = chardev_value(chardevs, STUB_CHARDEV, value, sizeof(value));
	free(chardevs);
	if (rc || !used)
		return rc;
	*stale = !strncmp(value, "disconnected:", 13) &&
		 socket_path(value + 13, old, sizeof(old)) && !strcmp(old, path);
	if (*stale)
		return 0;
	snprintf(err, errlen,
		 "domain %s has a gdb stub in use already (%s): another tracer or debugger is "
		 "attached (one that was killed lets go within seconds)",
		 qemu_domain_name(d), value);
	return -EBUSY;
}

/*
 * A monitor command with a path in QEMU's options: before, path, after. Commas are doubled, as
 * options have them; within the monitor's quotes (get_str() in QEMU's monitor/hmp.c) there is more
 * to mark.
 */
static int socket_command(const char *before, const char *path, const char *after, char *command,
			  size_t room)
{
	bool quoted = strchr(before, '"');
	size_t n = (size_t)snprintf(command, room, "%s", before);

	for (; *path; path++) {
		if (n + 2 + strlen(after) >= room)
			return -ENAMETOOLONG;
		if (quoted && (*path == '"' || *path == '\\'))
			command[n++] = '\\';
		if (*path == ',')
			command[n++] = ',';
		command[n++] = *path;
	}
	snprintf(command + n, room - n, "%s", after);
	return 0;
}

static int stub_listen(struct qemu_domain *d, const char *path, char *err, size_t errlen)
{
	char command[COMMAND_ROOM], *answer;
	int rc = socket_command("gdbserver \"unix:", path, ",server=on,wait=off\"", command,
				sizeof(command));

	if (rc) {
		snprintf(err, errlen, "%s is too long a path for a socket", path);
		return rc;
	}
	answer = monitor(d, command);
	if (answer && !strncmp(answer, "Waiting for gdb connection", 26)) {
		free(answer);
		return 0;
	}
	if (answer)
		answer[strcspn(answer, "\r\n")] = '\0';
	snprintf(err, errlen, "domain %s cannot start its gdb stub: %s", qemu_domain_name(d),
		 answer ? answer : libvirt_reason().text);
	free(answer);
	return -EACCES;
}

int qemu_domain_stub_start(struct qemu_domain *d, bool takeover, char *address, size_t room,
			   char *err, size_t errlen)
{
	char path[PATH_ROOM];
	bool stale;
	int rc = stub_place(d, path, sizeof(path), &stale, err, errlen);

	if (!rc && stale && !takeover) {
		snprintf(err, errlen, "a tracer of domain %s was killed: recover the domain first",
			 qemu_domain_name(d));
		rc = -EBUSY;
	}
	if (!rc && !stale)
		rc = stub_listen(d, path, err, errlen);
	if (rc)
		return rc;
	d->stub = true;
	/* What a killed tracer had stopped was running. */
	d->was_running |= stale;
	snprintf(address, room, "unix:%s", path);
	return 0;
}

static void stub_stop(struct qemu_domain *d)
{
	int state, why;

	free(monitor(d, "gdbserver none"));
	if (d->was_running && !libvirt()->virDomainGetState(d->dom, &state, &why, 0) &&
	    state == VIR_DOMAIN_PAUSED && why != VIR_DOMAIN_PAUSED_USER)
		libvirt()->virDomainResume(d->dom);
}

/* --- the serial port ----------------------------------------------------------------------------
 */

int qemu_domain_serial_open(struct qemu_domain *d, char *path, size_t room, char *err,
			    size_t errlen)
{
	char *chardevs = list_chardevs(d, err, errlen), command[COMMAND_ROOM], *answer = NULL;
	int rc;

	if (!chardevs)
		return -EACCES;
	rc = socket_place(d, chardevs, SERIAL_SOCKET, path, room, err, errlen);
	free(chardevs);
	if (rc)
		return rc;
	rc = socket_command("chardev-change " SERIAL_CHARDEV " socket,path=", path,
			    ",server=on,wait=off", command, sizeof(command));
	if (!rc)
		answer = monitor(d, command);
	if (answer && !*answer) {
		free(answer);
		return 0;
	}
	if (answer)
		answer[strcspn(answer, "\r\n")] = '\0';
	snprintf(err, errlen, "domain %s has no serial port for its console: %s",
		 qemu_domain_name(d),
		 rc	  ? strerror(-rc)
		 : answer ? answer
			  : libvirt_reason().text);
	free(answer);
	return -EIO;
}

/* --- the watch ----------------------------------------------------------------------------------
 */

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

int qemu_domain_watch(struct qemu_domain *d, void (*reset)(void *arg), void *arg)
{
	d->reset = reset;
	d->arg = arg;
	d->timer = libvirt()->virEventAddTimeout(WATCH_MS, on_timer, NULL, NULL);
	d->callback = libvirt()->virConnectDomainEventRegisterAny(
		d->conn, d->dom, VIR_DOMAIN_EVENT_ID_REBOOT, VIR_DOMAIN_EVENT_CALLBACK(on_reboot),
		d, NULL);
	if (d->timer >= 0 && d->callback >= 0 &&
	    !pthread_create(&d->thread, NULL, watch_thread, d)) {
		d->watched = true;
		return 0;
	}
	return -EIO;
}

static void watch_end(struct qemu_domain *d)
{
	d->stop = true;
	libvirt()->virEventUpdateTimeout(d->timer, 0); /* wakes it */
	pthread_join(d->thread, NULL);
	libvirt()->virConnectDomainEventDeregisterAny(d->conn, d->callback);
	libvirt()->virEventRemoveTimeout(d->timer);
}

void qemu_domain_close(struct qemu_domain *d)
{
	if (!d)
		return;
	if (d->watched)
		watch_end(d);
	if (d->created)
		libvirt()->virDomainDestroy(d->dom);
	else if (d->stub)
		stub_stop(d);
	if (d->dom)
		libvirt()->virDomainFree(d->dom);
	if (d->conn)
		libvirt()->virConnectClose(d->conn);
	free(d->xml);
	free(d);
}
