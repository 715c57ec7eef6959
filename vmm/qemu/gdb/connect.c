// SPDX-License-Identifier: GPL-2.0-or-later
/* connect.c - from the address of a gdb stub to a connection. */
#include "vmm/qemu/gdb/gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_MS 5000

struct dialer {
	gdb_socket_fn *ready;
	void *arg;
	int resolve; /* what getaddrinfo() said: EAI_, 0 nothing */
};

/* Connect a new non-blocking socket: the socket, or a negative errno. */
static int connect_to(const struct dialer *d, int family, const struct sockaddr *addr,
		      socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(int);
	int error;

	if (fd < 0)
		return -errno;
	error = d->ready ? -d->ready(d->arg, fd) : 0;
	if (!error && connect(fd, addr, len)) {
		struct pollfd wait = {.fd = fd, .events = POLLOUT};

		error = errno;
		if (error == EINPROGRESS && poll(&wait, 1, CONNECT_MS) == 0)
			error = ETIMEDOUT;
		else if (error == EINPROGRESS &&
			 getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
			error = errno;
	}
	if (!error)
		return fd;
	close(fd);
	return -error;
}

static int connect_unix(const struct dialer *d, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	if (!*path)
		return -EINVAL;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	return connect_to(d, AF_UNIX, (struct sockaddr *)&addr, sizeof(addr));
}

static int connect_tcp(struct dialer *d, const char *host, const char *port)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	int fd = -EHOSTUNREACH, one = 1;

	d->resolve = getaddrinfo(host, port, &hints, &found);
	if (d->resolve)
		return d->resolve == EAI_SERVICE ? -EINVAL : fd;
	for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = connect_to(d, at->ai_family, at->ai_addr, at->ai_addrlen);
	freeaddrinfo(found);
	/* Small packets that each wait for an answer. */
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* HOST:PORT, with [ and ] around a HOST that has colons of its own. */
static int connect_host_port(struct dialer *d, const char *address)
{
	const char *colon = strrchr(address, ':');
	size_t len = colon ? (size_t)(colon - address) : 0;
	char host[256];

	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	if (!len || len >= sizeof(host) || !colon[1])
		return -EINVAL;
	memcpy(host, address, len);
	host[len] = '\0';
	return connect_tcp(d, host, colon + 1);
}

int gdb_dial(const char *address, gdb_socket_fn *ready, void *arg, char *err, size_t errlen)
{
	struct dialer d = {.ready = ready, .arg = arg};
	bool is_unix = !strncmp(address, "unix:", 5);
	int fd = is_unix ? connect_unix(&d, address + 5) : connect_host_port(&d, address);

	if (fd >= 0)
		return fd;
	if (fd == -EINVAL)
		snprintf(err, errlen, "'%s' is no address of a gdb stub: unix:PATH or HOST:PORT",
			 address);
	else
		snprintf(err, errlen, "cannot connect to the gdb stub at %s: %s", address,
			 d.resolve ? gai_strerror(d.resolve) : strerror(-fd));
	return fd;
}
