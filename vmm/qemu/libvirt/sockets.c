// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sockets.c - starts and stops the gdb stub in a domain's QEMU, and connects the serial ports
 * of a domain of our own.
 *
 * The stub listens on a socket in the directory that libvirt has made for this domain alone and
 * that its QEMU may write to, whatever user and confinement it runs under: the one of its monitor
 * socket, as the monitor's own `info chardev` tells. Serial ports get some beside it. libvirt
 * calls a domain tainted after a monitor command of ours; nothing in its configuration changes.
 */
#include "vmm/qemu/libvirt/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STUB_SOCKET   "hvtrace.gdb"
#define STUB_CHARDEV  "gdb" /* as QEMU calls it: gdbserver_start() in its gdbstub */
#define SERIAL_CHANGE "chardev-change charserial%u socket,path=" /* as libvirt calls them */
#define PATH_ROOM     DOMAIN_PATH_ROOM
#define COMMAND_ROOM  (2 * PATH_ROOM + 64)

/* --- the monitor ------------------------------------------------------------------------------ */

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

/* --- character devices ------------------------------------------------------------------------ */

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
	char *chardevs = qemu_domain_monitor(d, "info chardev");

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

/* --- the stub --------------------------------------------------------------------------------- */

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

static int stub_listen(struct qemu_domain *d, const char *path, char *err, size_t errlen)
{
	char command[COMMAND_ROOM], *answer;
	int rc = socket_command("gdbserver \"unix:", path, ",server=on,wait=off\"", command,
				sizeof(command));

	if (rc) {
		snprintf(err, errlen, "%s is too long a path for a socket", path);
		return rc;
	}
	answer = qemu_domain_monitor(d, command);
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

/*
 * libvirt's own word for it may be late: a domain that is being started is a paused one until it
 * has been, and one that a tracer has just let go is until libvirt gets to reading that. The
 * monitor is asked when whatever else is done to the domain is over.
 */
static void look_whether_it_runs(struct qemu_domain *d)
{
	static const char is[] = "VM status: ";
	char *answer = qemu_domain_monitor(d, "info status");
	const char *status = answer ? strstr(answer, is) : NULL;

	if (status)
		d->was_running = !strncmp(status + strlen(is), "running", 7);
	free(answer);
}

static int stub_start(struct domain_question *dq, char *err, size_t errlen)
{
	struct qemu_domain *d = dq->d;
	bool stale;
	int rc = stub_place(d, dq->path, sizeof(dq->path), &stale, err, errlen);

	if (!rc && stale && !dq->takeover) {
		snprintf(err, errlen, "a tracer of domain %s was killed: recover the domain first",
			 qemu_domain_name(d));
		rc = -EBUSY;
	}
	if (!rc)
		look_whether_it_runs(d);
	if (!rc && !stale)
		rc = stub_listen(d, dq->path, err, errlen);
	if (rc)
		return rc;
	d->stub = true;
	/* What a killed tracer had stopped was running. */
	d->was_running |= stale;
	return 0;
}

int qemu_domain_stub_start(struct qemu_domain *d, bool takeover, char *address, size_t room,
			   char *err, size_t errlen)
{
	struct domain_question *dq = domain_question_new(d, stub_start, err, errlen);
	int rc;

	if (!dq)
		return -ENOMEM;
	d->asked_for = true;
	dq->takeover = takeover;
	if (domain_question_put(dq, 0, &rc, err, errlen) && !rc)
		snprintf(address, room, "unix:%s", dq->path);
	question_free(&dq->q);
	return rc;
}

/*
 * A stop by the stub has no reason that libvirt knows. Every other one is somebody's who will
 * resume the guest, or who waits until a disk has room again.
 */
static bool stub_has_stopped(struct qemu_domain *d)
{
	int state, why;

	return !libvirt()->virDomainGetState(d->dom, &state, &why, 0) &&
	       state == VIR_DOMAIN_PAUSED && why == VIR_DOMAIN_PAUSED_UNKNOWN;
}

void qemu_domain_stub_stop(struct qemu_domain *d)
{
	free(qemu_domain_monitor(d, "gdbserver none"));
	if (d->was_running && stub_has_stopped(d))
		libvirt()->virDomainResume(d->dom);
}

/* --- the serial ports ------------------------------------------------------------------------- */

static const char *const serial_socket[] = {"hvtrace.tty", "hvtrace.tty1"};

static int serial_open(struct domain_question *dq, char *err, size_t errlen)
{
	struct qemu_domain *d = dq->d;
	char *chardevs = list_chardevs(d, err, errlen), command[COMMAND_ROOM], *answer = NULL;
	char change[sizeof(SERIAL_CHANGE) + 8];
	int rc;

	if (!chardevs)
		return -EACCES;
	rc = socket_place(d, chardevs, serial_socket[dq->serial], dq->path, sizeof(dq->path), err,
			  errlen);
	free(chardevs);
	if (rc)
		return rc;
	snprintf(change, sizeof(change), SERIAL_CHANGE, dq->serial);
	rc = socket_command(change, dq->path, ",server=on,wait=off", command, sizeof(command));
	if (!rc)
		answer = qemu_domain_monitor(d, command);
	if (answer && !*answer) {
		free(answer);
		return 0;
	}
	if (answer)
		answer[strcspn(answer, "\r\n")] = '\0';
	snprintf(err, errlen, "domain %s has no serial port for %s: %s", qemu_domain_name(d),
		 dq->serial ? "a command" : "its console",
		 rc	  ? strerror(-rc)
		 : answer ? answer
			  : libvirt_reason().text);
	free(answer);
	return -EIO;
}

int qemu_domain_serial_open(struct qemu_domain *d, unsigned int nr, char *path, size_t room,
			    char *err, size_t errlen)
{
	struct domain_question *dq = domain_question_new(d, serial_open, err, errlen);
	int rc;

	if (!dq)
		return -ENOMEM;
	dq->serial = nr;
	if (domain_question_put(dq, 0, &rc, err, errlen) && !rc)
		snprintf(path, room, "%s", dq->path);
	question_free(&dq->q);
	return rc;
}
