// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * registry.c - the guests that the hvtrace processes of this user trace.
 *
 * An entry is a file named after the process, with what is known of its guest, one word a line. As
 * process numbers are used again, the time at which the process started is part of it: an entry
 * whose process has another one, or none, was left behind by one that was killed. Its socket is
 * called as the entry, with ".sock" behind.
 */
#include "frontend/session/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "frontend/lib/runtime-dir.h"

#define ENTRY_MAX  1024
#define GUESTS_MAX 4096
#define BACKLOG	   16

/* --- names ------------------------------------------------------------------------------- */

static void socket_name(char name[32], pid_t pid)
{
	snprintf(name, 32, "%ld.sock", (long)pid);
}

static void entry_name(char name[16], pid_t pid)
{
	snprintf(name, 16, "%ld", (long)pid);
}

/* An entry and its socket. */
static void unlink_both(int dir, pid_t pid)
{
	char entry[16], socket[32];

	entry_name(entry, pid);
	socket_name(socket, pid);
	unlinkat(dir, entry, 0);
	unlinkat(dir, socket, 0);
}

/* When a process was started, in ticks since boot: field 22 of its stat (proc(5)). 0: no process.
 */
static uint64_t start_time(pid_t pid)
{
	char path[32], stat[512], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	stat[n > 0 ? n : 0] = '\0';
	at = strrchr(stat, ')'); /* the name may have anything in it */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/* --- one entry ---------------------------------------------------------------------------- */

static int write_entry(int dir, const char *name, const struct registry_guest *g)
{
	char text[ENTRY_MAX], new[32];
	int len = snprintf(text, sizeof(text), "%" PRIu64 "\n%u\n%s\n%s\n%s\n%s\n%s\n",
			   start_time(getpid()), g->vcpus, g->name, g->uuid, g->accel, g->release,
			   g->target);
	int fd, rc = 0;

	/* Under another name first: nobody sees half of it. */
	snprintf(new, sizeof(new), "%s.new", name);
	fd = openat(dir, new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)len) != len)
		rc = -EIO;
	close(fd);
	if (!rc && renameat(dir, new, dir, name))
		rc = -errno;
	if (rc)
		unlinkat(dir, new, 0);
	return rc;
}

void registry_target(const char *target, char *to, size_t size)
{
	static const char unix_stub[] = "gdb:unix:";
	char *path = NULL;

	if (!strncmp(target, unix_stub, strlen(unix_stub)))
		path = realpath(target + strlen(unix_stub), NULL);
	if (path)
		snprintf(to, size, "%s%s", unix_stub, path);
	else
		snprintf(to, size, "%s", target);
	to[strcspn(to, "\n")] = '\0';
	free(path);
}

int registry_add(const struct registry_guest *g)
{
	char name[16];
	int dir = runtime_dir_open(true, NULL, 0), rc;

	if (dir < 0)
		return dir;
	entry_name(name, getpid());
	rc = write_entry(dir, name, g);
	close(dir);
	return rc;
}

void registry_remove(pid_t pid)
{
	int dir = runtime_dir_open(false, NULL, 0);

	if (dir < 0)
		return;
	unlink_both(dir, pid);
	close(dir);
}

/* The next line of the text, which it is cut from, into a buffer: false when it does not fit. */
static bool take_line(char **text, char *to, size_t room)
{
	char *line = strsep(text, "\n");

	return line && *text && snprintf(to, room, "%s", line) < (int)room;
}

static bool parse_entry(char *text, struct registry_guest *g)
{
	char start[24], vcpus[8];

	if (!take_line(&text, start, sizeof(start)) || !take_line(&text, vcpus, sizeof(vcpus)) ||
	    !take_line(&text, g->name, sizeof(g->name)) ||
	    !take_line(&text, g->uuid, sizeof(g->uuid)) ||
	    !take_line(&text, g->accel, sizeof(g->accel)) ||
	    !take_line(&text, g->release, sizeof(g->release)))
		return false;
	/* An older hvtrace does not say it. */
	if (!take_line(&text, g->target, sizeof(g->target)))
		*g->target = '\0';
	g->vcpus = (unsigned int)strtoul(vcpus, NULL, 10);
	return strtoull(start, NULL, 10) == start_time(g->pid);
}

static bool read_entry(int dir, const char *name, struct registry_guest *g)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[ENTRY_MAX];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return parse_entry(text, g);
}

/* --- sockets ------------------------------------------------------------------------------ */

/* Through the directory's descriptor: a path may be longer than addresses, or another one by now.
 */
static void socket_address(struct sockaddr_un *addr, int dir, pid_t pid)
{
	char name[32];

	socket_name(name, pid);
	addr->sun_family = AF_UNIX;
	snprintf(addr->sun_path, sizeof(addr->sun_path), "/proc/self/fd/%d/%s", dir, name);
}

static int listen_in(int dir, int fd)
{
	struct sockaddr_un addr;
	char name[32];

	socket_name(name, getpid());
	socket_address(&addr, dir, getpid());
	/* Left by a process that had this number. */
	if (unlinkat(dir, name, 0) && errno != ENOENT)
		return -errno;
	/* The mode that the name in the directory is going to have. */
	if (fchmod(fd, 0600) || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, BACKLOG))
		return -errno;
	return 0;
}

int registry_listen(void)
{
	int dir = runtime_dir_open(true, NULL, 0), fd, rc;

	if (dir < 0)
		return dir;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 ? -errno : listen_in(dir, fd);
	if (rc && fd >= 0)
		close(fd);
	close(dir);
	return rc ? rc : fd;
}

int registry_connect(pid_t pid)
{
	int dir = runtime_dir_open(false, NULL, 0), fd, rc;
	struct sockaddr_un addr;

	if (dir < 0)
		return dir;
	socket_address(&addr, dir, pid);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	rc = fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : fd;
	if (rc < 0 && fd >= 0)
		close(fd);
	close(dir);
	return rc;
}

/* --- all of them -------------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
	const struct registry_guest *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

/* Room for one more in an array that grows in powers of two; false: no memory, or too many. */
static bool grow(struct registry_guest **guests, int n)
{
	struct registry_guest *bigger;

	if (n & (n - 1) || n >= GUESTS_MAX)
		return n < GUESTS_MAX;
	bigger = realloc(*guests, (n ? 2 * (size_t)n : 1) * sizeof(*bigger));
	if (bigger)
		*guests = bigger;
	return bigger;
}

static int read_entries(DIR *d, struct registry_guest **guests)
{
	const struct dirent *entry;
	int n = 0;

	while ((entry = readdir(d)) && grow(guests, n)) {
		struct registry_guest *g = &(*guests)[n];
		char *end;

		*g = (struct registry_guest){.pid = (pid_t)strtol(entry->d_name, &end, 10)};
		if (g->pid <= 0)
			continue;
		if (!*end && read_entry(dirfd(d), entry->d_name, g))
			n++;
		else if (!*end || (!strcmp(end, ".sock") && !start_time(g->pid)))
			unlink_both(dirfd(d), g->pid);
	}
	return n;
}

int registry_list(struct registry_guest **guests)
{
	int dir = runtime_dir_open(false, NULL, 0), n;
	DIR *d = dir < 0 ? NULL : fdopendir(dir);

	*guests = NULL;
	if (dir == -ENOENT)
		return 0;
	if (!d)
		return dir < 0 ? dir : -errno;
	n = read_entries(d, guests);
	closedir(d);
	if (n)
		qsort(*guests, (size_t)n, sizeof(**guests), by_pid);
	return n;
}
