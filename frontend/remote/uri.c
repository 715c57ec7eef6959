// SPDX-License-Identifier: GPL-2.0-or-later
/* uri.c - see uri.h; https://libvirt.org/uri.html has the parameters. */
#include "frontend/remote/uri.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/remote/remote.h"

#define SCHEME "qemu+ssh://"

bool remote_is(const char *connect)
{
	return connect && !strncmp(connect, SCHEME, strlen(SCHEME));
}

/* A part of a URI. */
struct part {
	const char *at;
	size_t len;
};

static bool is(struct part p, const char *word)
{
	return p.len == strlen(word) && !memcmp(p.at, word, p.len);
}

/* What is before the first of these characters, which goes with it; the rest stays. */
static struct part cut(struct part *rest, const char *ends)
{
	struct part p = {rest->at, 0};

	while (p.len < rest->len && !strchr(ends, p.at[p.len]))
		p.len++;
	rest->at += p.len;
	rest->len -= p.len;
	if (rest->len) {
		rest->at++;
		rest->len--;
	}
	return p;
}

static int hex(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

/* With its %XX undone. False: there is something in it that no name has. */
static bool decode(struct part p, char to[REMOTE_URI_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < p.len; i++) {
		int c = (unsigned char)p.at[i];

		if (c == '%') {
			if (p.len - i < 3 || hex(p.at[i + 1]) < 0 || hex(p.at[i + 2]) < 0)
				return false;
			c = hex(p.at[i + 1]) * 16 + hex(p.at[i + 2]);
			i += 2;
		}
		if (c < ' ' || c == 0x7f || n == REMOTE_URI_MAX - 1)
			return false;
		to[n++] = (char)c;
	}
	to[n] = '\0';
	return true;
}

/* ssh takes such a name for an option. */
static bool is_name(const char *name)
{
	return *name && *name != '-';
}

/*
 * Of what ssh is given as the names of a host and a user it makes commands, too: those that its
 * configuration has for ProxyCommand and Match exec, which a shell runs.
 */
static bool is_host_letter(unsigned char c)
{
	return (c && strchr("._:%-", c)) || c >= 0x80 || isalnum(c);
}

static const char *check_host(const char *host)
{
	if (!*host)
		return "it names no host";
	if (!is_name(host))
		return "no host has such a name";
	for (const char *c = host; *c; c++)
		if (!is_host_letter((unsigned char)*c))
			return "in the name of a host are letters, digits and . _ : % - alone";
	return NULL;
}

static const char *check_user(const char *user)
{
	if (!is_name(user))
		return "no user has such a name";
	if (user[strcspn(user, "'`\"$\\;&<>|(){} \t")])
		return "in the name of a user are no blanks, and none of '`\"$\\;&<>|(){}";
	return NULL;
}

static const char *parse_port(struct part p, char to[8])
{
	unsigned long n;

	if (p.len > 5)
		return "no such port";
	memcpy(to, p.at, p.len);
	to[p.len] = '\0';
	n = strtoul(to, NULL, 10);
	return strspn(to, "0123456789") == p.len && n && n < 65536 ? NULL : "no such port";
}

/* [USER@]HOST[:PORT]; NULL, or what is wrong. */
static const char *parse_authority(struct part p, struct remote_uri *uri)
{
	const char *at = memchr(p.at, '@', p.len), *why = NULL;
	struct part user, host;

	if (at) {
		user = cut(&p, "@");
		why = decode(user, uri->user) ? check_user(uri->user) : "no user has such a name";
		if (why)
			return why;
	}
	if (p.len && *p.at == '[') {
		if (!memchr(p.at, ']', p.len))
			return "no host has such a name";
		cut(&p, "[");
		host = cut(&p, "]");
		if (p.len && *p.at != ':')
			return "no host has such a name";
		cut(&p, ":");
	} else {
		host = cut(&p, ":");
	}
	why = decode(host, uri->host) ? check_host(uri->host) : "no host has such a name";
	return why || !p.len ? why : parse_port(p, uri->port);
}

/* The libvirt there is asked through its own socket. */
static const char *make_far(struct part path, struct part socket, struct remote_uri *uri)
{
	int n;

	if (!is(path, "system") && !is(path, "session"))
		return "its path is /system or /session";
	n = snprintf(uri->far, sizeof(uri->far), "qemu%s:///%.*s%s%.*s", socket.len ? "+unix" : "",
		     (int)path.len, path.at, socket.len ? "?socket=" : "", (int)socket.len,
		     socket.at);
	return n < (int)sizeof(uri->far) ? NULL : "it is too long";
}

static bool parse_switch(struct part value, bool *to)
{
	*to = value.len && !is(value, "0");
	return value.len && value.len == strspn(value.at, "0123456789");
}

/* What is how libvirt itself gets to its socket there does not matter. */
static const char *parse_parameter(struct part name, struct part value, struct remote_uri *uri,
				   struct part *socket)
{
	bool fits = true;

	if (is(name, "keyfile"))
		fits = decode(value, uri->keyfile) && *uri->keyfile;
	else if (is(name, "command"))
		fits = decode(value, uri->command) && *uri->command;
	else if (is(name, "socket"))
		*socket = value;
	else if (is(name, "no_verify"))
		fits = parse_switch(value, &uri->no_verify);
	else if (is(name, "no_tty"))
		fits = parse_switch(value, &uri->no_tty);
	else if (!is(name, "netcat") && !is(name, "proxy") && !is(name, "mode"))
		return "of its parameters keyfile, command, no_verify, no_tty and socket are known";
	return fits ? NULL : "a parameter has a value that makes no sense";
}

static const char *parse_parameters(struct part rest, struct remote_uri *uri, struct part *socket)
{
	const char *why = NULL;

	while (rest.len && !why) {
		struct part value = cut(&rest, "&;"), name = cut(&value, "=");

		why = parse_parameter(name, value, uri, socket);
	}
	return why;
}

static const char *parse(struct part rest, struct remote_uri *uri)
{
	struct part query, path, authority, socket = {rest.at, 0};
	const char *why;

	if (rest.len >= REMOTE_URI_MAX)
		return "it is too long";
	path = cut(&rest, "?");
	query = rest;
	authority = cut(&path, "/");
	why = parse_authority(authority, uri);
	if (!why)
		why = parse_parameters(query, uri, &socket);
	return why ? why : make_far(path, socket, uri);
}

int remote_uri_parse(const char *text, struct remote_uri *uri, char *err, size_t errlen)
{
	struct part all = {text + strlen(SCHEME), strlen(text) - strlen(SCHEME)};
	const char *why;

	*uri = (struct remote_uri){.command = "ssh"};
	why = parse(all, uri);
	if (why)
		snprintf(err, errlen, "--connect %s: %s", text, why);
	return why ? -1 : 0;
}

/* --- ssh ---------------------------------------------------------------------------------------
 */

void remote_uri_ssh(const struct remote_uri *uri, const char *remote,
		    const char *argv[REMOTE_SSH_WORDS])
{
	/* No terminal there, and nothing else than what is asked for: a connection that hangs ends
	 * by itself. */
	static const char *const own[] = {
		"-T",
		"-a",
		"-x",
		"-e",
		"none",
		"-o",
		"RemoteCommand=none",
		"-o",
		"ClearAllForwardings=yes",
		"-o",
		"ServerAliveInterval=5",
		"-o",
		"ServerAliveCountMax=4",
	};
	size_t n = 0;

	argv[n++] = uri->command;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		argv[n++] = own[i];
	if (*uri->port) {
		argv[n++] = "-p";
		argv[n++] = uri->port;
	}
	if (*uri->user) {
		argv[n++] = "-l";
		argv[n++] = uri->user;
	}
	if (*uri->keyfile) {
		argv[n++] = "-i";
		argv[n++] = uri->keyfile;
	}
	if (uri->no_verify) {
		argv[n++] = "-o";
		argv[n++] = "StrictHostKeyChecking=no";
	}
	if (uri->no_tty) {
		argv[n++] = "-o";
		argv[n++] = "BatchMode=yes";
	}
	argv[n++] = "--";
	argv[n++] = uri->host;
	argv[n++] = remote;
	argv[n] = NULL;
}

/* In single quotes a shell takes everything as it is, but one of these. */
int remote_uri_shell(const char *program, char *to, size_t size)
{
	size_t n = (size_t)snprintf(to, size, "exec '");

	for (const char *p = program ? program : "hvtrace"; *p; p++) {
		const char *quoted = *p == '\'' ? "'\\''" : (const char[]){*p, '\0'};

		if ((unsigned char)*p < ' ' || n + strlen(quoted) >= size)
			return -1;
		n += (size_t)snprintf(to + n, size - n, "%s", quoted);
	}
	return snprintf(to + n, size - n, "' remote") < (int)(size - n) ? 0 : -1;
}
