// SPDX-License-Identifier: GPL-2.0-or-later
/* listener.c - see listener.h */
#include "frontend/metrics/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_MODE 0660
#define BACKLOG	    16
#define PATH_ROOM   (sizeof(((struct sockaddr_un *)NULL)->sun_path))

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

/* --- what is said ---------------------------------------------------------------------------- */

static int no_address(const char *address, char *err, size_t errlen)
{
	snprintf(
		err, errlen,
		"metrics cannot be served at '%.128s': give ADDRESS:PORT in numbers, as 127.0.0.1:9777, "
		"[::1]:9777 or :9777 for all addresses, or a path of at most %zu bytes",
		address, PATH_ROOM - 1);
	return -EINVAL;
}

static int refused(const char *address, int error, char *err, size_t errlen)
{
	const char *what = strerror(error);

	if (error == EADDRINUSE)
		what = "another program listens there: choose another one";
	else if (error == EADDRNOTAVAIL)
		what = "this host has no such address";
	else if (error == EACCES && *address != '/')
		what = "ports below 1024 are root's: choose a higher one";
	snprintf(err, errlen, "metrics cannot be served at %s: %s", address, what);
	return -error;
}

/* --- an address and a port ------------------------------------------------------------------- */

/* "[::1]:9777", "127.0.0.1:9777", ":9777": the two parts, the first of which may be "". */
static bool take_apart(const char *address, char host[64], char port[8])
{
	const char *colon = strrchr(address, ':');
	size_t len = colon ? (size_t)(colon - address) : 0;

	if (!colon || strlen(colon + 1) > 5 || !colon[1] ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    strtoul(colon + 1, NULL, 10) > UINT16_MAX)
		return false;
	strcpy(port, colon + 1);
	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
		if (!len)
			return false;
	} else if (memchr(address, ':', len)) {
		return false; /* an address of IPv6 whose end nobody knows */
	}
	if (len >= 64)
		return false;
	memcpy(host, address, len);
	host[len] = '\0';
	return true;
}

/* Nobody's name is looked up: that takes as long as others want. */
static bool parse(const char *address, union address *a, socklen_t *len)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found;
	char host[64], port[8];

	if (!take_apart(address, host, port) ||
	    getaddrinfo(*host ? host : "::", port, &hints, &found))
		return false;
	*len = found->ai_addrlen;
	memcpy(a, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

/* As it is written in an address, with the port that the kernel has chosen. */
static void put_port(struct listener *l, const char *address)
{
	union address a = {.any.sa_family = AF_UNSPEC};
	socklen_t len = sizeof(a);

	/* Both families have it at the same place. */
	getsockname(l->fd, &a.any, &len);
	snprintf(l->at, sizeof(l->at), "%.*s:%u", (int)(strrchr(address, ':') - address), address,
		 (unsigned int)ntohs(a.v4.sin_port));
}

/* All addresses are those of both families, where the host has both. */
static int open_socket(bool all, union address *a, socklen_t *len)
{
	int off = 0, on = 1;
	int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 && errno == EAFNOSUPPORT && all) {
		a->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = a->v6.sin6_port};
		*len = sizeof(a->v4);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	} else if (fd >= 0 && all) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	}
	/* One that was started again need not wait for the connections of the one before. */
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return fd;
}

static int listen_on_port(struct listener *l, const char *address, char *err, size_t errlen)
{
	union address a = {.any.sa_family = AF_UNSPEC};
	socklen_t len;

	if (!parse(address, &a, &len))
		return no_address(address, err, errlen);
	l->fd = open_socket(*address == ':', &a, &len);
	if (l->fd < 0)
		return refused(address, errno, err, errlen);
	if (bind(l->fd, &a.any, len) || listen(l->fd, BACKLOG))
		return refused(address, errno, err, errlen);
	put_port(l, address);
	return 0;
}

/* --- a path ---------------------------------------------------------------------------------- */

/* Of one that was killed: a socket that nobody listens at is in nobody's way. */
static bool remove_left(const struct sockaddr_un *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool left = false;

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)path, sizeof(*path)))
		left = errno == ECONNREFUSED;
	close(fd);
	return left && !unlink(path->sun_path);
}

/* What connect(2) says of a file that is no socket is the same. */
static bool is_socket(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISSOCK(st.st_mode);
}

static int listen_on_path(struct listener *l, const char *path, char *err, size_t errlen)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stat st;
	int rc;

	if (strlen(path) >= PATH_ROOM)
		return no_address(path, err, errlen);
	strcpy(a.sun_path, path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return refused(path, errno, err, errlen);
	/* What the path has to begin with, less what umask(2) takes: at no moment may others
	 * connect. */
	fchmod(l->fd, SOCKET_MODE);
	rc = bind(l->fd, (const struct sockaddr *)&a, sizeof(a));
	if (rc && errno == EADDRINUSE && is_socket(path) && remove_left(&a))
		rc = bind(l->fd, (const struct sockaddr *)&a, sizeof(a));
	if (rc)
		return refused(path, errno, err, errlen);
	chmod(path, SOCKET_MODE);
	if (!stat(path, &st)) {
		l->dev = st.st_dev;
		l->ino = st.st_ino;
	}
	snprintf(l->at, sizeof(l->at), "%s", path);
	return listen(l->fd, BACKLOG) ? refused(path, errno, err, errlen) : 0;
}

/* --- both ------------------------------------------------------------------------------------ */

int listener_open(struct listener *l, const char *address, char *err, size_t errlen)
{
	int rc;

	*l = (struct listener){.fd = -1};
	rc = *address == '/' ? listen_on_path(l, address, err, errlen)
			     : listen_on_port(l, address, err, errlen);
	if (rc)
		listener_close(l);
	return rc;
}

void listener_close(struct listener *l)
{
	struct stat st;

	if (l->ino && !lstat(l->at, &st) && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->at);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
