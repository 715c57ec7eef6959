// SPDX-License-Identifier: GPL-2.0-or-later
/* connect.c - the connection to a libvirt on this host, and what it says when something fails. */
#include "vmm/qemu/libvirt/connect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libvirt prints errors to stderr on its own unless it is given a function. */
static void be_quiet(void *arg, virErrorPtr error)
{
	(void)arg;
	(void)error;
}

/* A QEMU that does not start says first which option it was, all of it; what is wrong is behind. */
static const char *behind_option(const char *text)
{
	const char *option = strstr(text, " -device {"), *end;

	option = option ? option : strstr(text, " -blockdev {");
	end = option ? strstr(option, "}: ") : NULL;
	return end ? end + 3 : text;
}

struct libvirt_reason libvirt_reason(void)
{
	const char *text = libvirt()->virGetLastErrorMessage();
	struct libvirt_reason r;

	text = behind_option(text ? text : "");
	snprintf(r.text, sizeof(r.text), "%.*s", (int)strcspn(text, "\r\n"), text);
	return r;
}

bool libvirt_lost_monitor(void)
{
	const virError *error = libvirt()->virGetLastError();

	return error && error->code == VIR_ERR_SYSTEM_ERROR && error->domain == VIR_FROM_QEMU &&
	       error->int1 == ECONNREFUSED;
}

/* A transport other than a unix socket leads to another host, whose memory is out of reach. */
static bool is_local(const char *uri)
{
	return !strncmp(uri, "qemu:///", 8) || !strncmp(uri, "qemu+unix:///", 13);
}

/* The URI asked for may be an alias of the user's: then only the connection tells. */
static bool is_local_connection(virConnectPtr conn)
{
	char *uri = libvirt()->virConnectGetURI(conn);
	bool local = uri && is_local(uri);

	free(uri);
	return local;
}

/* There is no socket, or no process behind it: libvirt tells only in words, the system's. */
static bool nobody_listens(const char *reason)
{
	return strstr(reason, strerror(ENOENT)) || strstr(reason, strerror(ECONNREFUSED));
}

virConnectPtr libvirt_connect(const char *uri, char *err, size_t errlen)
{
	virConnectPtr conn = NULL;

	if (libvirt_load(err, errlen))
		return NULL;
	libvirt()->virSetErrorFunc(NULL, be_quiet);
	libvirt()->virEventRegisterDefaultImpl(); /* only the first call of a process does anything
						   */
	if (is_local(uri) || !strstr(uri, "://")) {
		conn = libvirt()->virConnectOpen(uri);
		if (!conn) {
			struct libvirt_reason why = libvirt_reason();

			snprintf(err, errlen, "cannot connect to libvirt at %s: %s%s", uri,
				 why.text,
				 nobody_listens(why.text) ? "; is libvirtd running?" : "");
			return NULL;
		}
		if (is_local_connection(conn))
			return conn;
		libvirt()->virConnectClose(conn);
	}
	snprintf(err, errlen, "%s is no QEMU of this host: only its guests can be traced", uri);
	return NULL;
}
