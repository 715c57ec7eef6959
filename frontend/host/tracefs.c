// SPDX-License-Identifier: GPL-2.0-or-later
/* tracefs.c - the host's tracefs, and what hvtraces that are gone have left in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/host/files.h"
#include "frontend/host/host.h"
#include "frontend/host/local.h"

#define FIRST_PIDS UINT64_C(0xeffffffc) /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

/* Where nobody has mounted it: gone when the last file of it is closed. */
static int private_tracefs(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), mount = -1, error;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	error = errno;
	if (fs >= 0)
		close(fs);
	return mount >= 0 ? mount : -error;
}

/* The folder of that name that is a tracefs, with instances. */
static int open_mounted(const char *path)
{
	int fd = open(path, FILES_DIRECTORY), error;

	if (fd < 0)
		return -errno;
	if (!faccessat(fd, "instances", F_OK, 0))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* Ids of threads are those of the first namespace there. */
static bool sees_all_pids(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PIDS;
}

int host_tracefs_open(char *why, size_t len)
{
	static const char *const paths[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int fd = -ENOENT;

	if (!sees_all_pids()) {
		snprintf(why, len, "this is a container: its process ids are not the host's");
		return -EXDEV;
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && fd == -ENOENT; i++)
		fd = open_mounted(paths[i]);
	if (fd == -ENOENT)
		fd = private_tracefs();
	if (fd == -EPERM || fd == -EACCES)
		snprintf(why, len, "its tracefs is for root alone");
	else if (fd < 0)
		snprintf(why, len, "it has no tracefs (%s)", strerror(-fd));
	return fd;
}

int host_remove(int tracefs, const char *name)
{
	char path[LOCAL_PATH_MAX];

	snprintf(path, sizeof(path), "instances/%s", name);
	return unlinkat(tracefs, path, AT_REMOVEDIR) ? -errno : 0;
}

struct cleaning {
	int tracefs;
	unsigned int nr;
};

/* Whoever has made it has it locked for as long as he lives. */
static int clean_one(void *arg, const char *name)
{
	struct cleaning *c = arg;
	char path[LOCAL_PATH_MAX];
	int fd, left;

	if (strncmp(name, LOCAL_PREFIX, strlen(LOCAL_PREFIX)) != 0 || strlen(name) > NAME_MAX)
		return 0;
	snprintf(path, sizeof(path), "instances/%s", name);
	fd = openat(c->tracefs, path, FILES_DIRECTORY);
	left = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);
	if (fd >= 0)
		close(fd);
	if (left && !host_remove(c->tracefs, name))
		c->nr++;
	return 0;
}

unsigned int host_clean(int tracefs)
{
	struct cleaning c = {tracefs, 0};

	files_each(tracefs, "instances", clean_one, &c);
	return c.nr;
}
