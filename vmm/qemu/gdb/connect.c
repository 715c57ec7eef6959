// SPDX-License-Identifier: GPL-2.0-or-later
/* connect.c - from the address of a gdb stub to a connection. */
#include "vmm/core/errand.h"
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
#include <time.h>
#include <unistd.h>

#define CONNECT_MS 5000
#define RESOLVE_MS 30000
#define HOST_ROOM  256
#define PORT_ROOM  32
#define SLICE_MS   20 /* until it is seen that it is given up */

struct dialer {
	const struct gdb_caller *caller;
	int resolve; /* what getaddrinfo() said: EAI_, 0 nothing */
};

static bool is_given_up(const struct gdb_caller *c)
{
	return c->idle && c->idle(c->arg);
}

/* --- connecting ------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* 0, or an errno: also that of the connection. */
static int wait_connected(const struct dialer *d, int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	int64_t end = now_ms() + CONNECT_MS;
	socklen_t size = sizeof(int);
	int error;

	while (poll(&wait, 1, SLICE_MS) <= 0) {
		if (is_given_up(d->caller))
			return ECANCELED;
		if (now_ms() >= end)
			return ETIMEDOUT;
	}
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

/* Connect a new non-blocking socket: the socket, or a negative errno. */
static int connect_to(const struct dialer *d, int family, const struct sockaddr *addr,
		      socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0)
		return -errno;
	error = d->caller->ready ? -d->caller->ready(d->caller->arg, fd) : 0;
	if (!error && connect(fd, addr, len))
		error = errno == EINPROGRESS ? wait_connected(d, fd) : errno;
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

/* --- names of hosts ----------------------------------------------------------------------------
 */

/* Name servers that do not answer have a resolver wait for as long as it likes. */
struct resolving {
	struct errand errand;
	char host[HOST_ROOM], port[PORT_ROOM];
	struct addrinfo *found;
	int error; /* EAI_ */
};

static void resolve(struct errand *e)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct resolving *r = (struct resolving *)e;

	r->error = getaddrinfo(r->host, r->port, &hints, &r->found);
}

static void resolve_release(struct errand *e)
{
	struct resolving *r = (struct resolving *)e;

	if (r->found)
		freeaddrinfo(r->found);
}

/* To be put; or NULL, and rc is a negative errno. */
static struct resolving *resolve_begin(struct dialer *d, const char *host, const char *port,
				       int *rc)
{
	static const struct errand_ops ops = {"resolver", resolve, resolve_release};
	const struct errand_patience patience = {RESOLVE_MS, d->caller->idle, d->caller->arg};
	struct resolving *r = errand_new(sizeof(*r), &ops);

	if (!r) {
		*rc = -ENOMEM;
		return NULL;
	}
	snprintf(r->host, sizeof(r->host), "%s", host);
	snprintf(r->port, sizeof(r->port), "%s", port);
	*rc = errand_run(&r->errand, &patience);
	if (!*rc && r->error) {
		d->resolve = r->error;
		*rc = r->error == EAI_SERVICE ? -EINVAL : -EHOSTUNREACH;
	}
	if (!*rc)
		return r;
	errand_put(&r->errand);
	return NULL;
}

static int connect_tcp(struct dialer *d, const char *host, const char *port)
{
	int fd, one = 1;
	struct resolving *r = resolve_begin(d, host, port, &fd);

	if (!r)
		return fd;
	fd = -EHOSTUNREACH;
	for (struct addrinfo *at = r->found; at && fd < 0 && fd != -ECANCELED; at = at->ai_next)
		fd = connect_to(d, at->ai_family, at->ai_addr, at->ai_addrlen);
	errand_put(&r->errand);
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
	char host[HOST_ROOM];

	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	if (!len || len >= sizeof(host) || !colon[1] || strlen(colon + 1) >= PORT_ROOM)
		return -EINVAL;
	memcpy(host, address, len);
	host[len] = '\0';
	return connect_tcp(d, host, colon + 1);
}

/* What may be missing. */
static const char *advice(bool is_unix, int error)
{
	if (error == -EACCES)
		return ": it takes root, or the user who runs its QEMU";
	if (error != -ENOENT && error != -ECONNREFUSED)
		return "";
	return is_unix ? "; is its QEMU started with -gdb unix:PATH,server=on,wait=off?"
		       : "; is its QEMU started with -gdb tcp:HOST:PORT?";
}

int gdb_dial(const char *address, const struct gdb_caller *caller, char *err, size_t errlen)
{
	struct dialer d = {.caller = caller};
	bool is_unix = !strncmp(address, "unix:", 5);
	int fd = is_unix ? connect_unix(&d, address + 5) : connect_host_port(&d, address);

	if (fd >= 0)
		return fd;
	if (fd == -EINVAL)
		snprintf(err, errlen, "'%s' is no address of a gdb stub: unix:PATH or HOST:PORT",
			 address);
	else if (fd == -ECANCELED)
		snprintf(err, errlen, "given up while the gdb stub at %s was called", address);
	else
		snprintf(err, errlen, "cannot connect to the gdb stub at %s: %s%s", address,
			 d.resolve ? gai_strerror(d.resolve) : strerror(-fd),
			 d.resolve ? "" : advice(is_unix, fd));
	return fd;
}
