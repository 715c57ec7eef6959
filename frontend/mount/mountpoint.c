// SPDX-License-Identifier: GPL-2.0-or-later
/* mountpoint.c - the directory that a view is mounted on. */
#include "frontend/mount/mountpoint.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The directory of all mounts of this user: what others can write to is not believed. */
static int default_base(char *base, size_t len, char *err, size_t errlen)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!runtime || *runtime != '/') {
		if (geteuid()) {
			snprintf(
				err, errlen,
				"XDG_RUNTIME_DIR is not set: say where to mount with -M DIR, or --no-mount");
			return -1;
		}
		runtime = "/run";
	}
	snprintf(base, len, "%s/hvtrace", runtime);
	if ((mkdir(base, 0700) && errno != EEXIST) || lstat(base, &st)) {
		snprintf(err, errlen, "cannot make %s: %s", base, strerror(errno));
		return -1;
	}
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return 0;
	snprintf(err, errlen, "%s belongs to others too: say where to mount with -M DIR", base);
	return -1;
}

/* Guests are called as their owner likes; a name has no '/' and does not begin with a dot. */
static void append_name(char *dir, size_t len, const char *guest)
{
	size_t at = strlen(dir);

	snprintf(dir + at, len - at, "/%s", *guest ? guest : "guest");
	for (char *c = dir + at + 1; *c; c++)
		if (*c == '/' || (*c == '.' && c == dir + at + 1))
			*c = '_';
}

/* As root without help; others may only through the helper that mounted it. */
bool mountpoint_unmount(const char *dir)
{
	char name[] = "fusermount3", options[] = "-uqz", end[] = "--", copy[PATH_MAX];
	char *argv[] = {name, options, end, copy, NULL};
	pid_t pid;
	int status;

	if (!umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW))
		return true;
	snprintf(copy, sizeof(copy), "%s", dir);
	return !posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) &&
	       waitpid(pid, &status, 0) == pid && status == 0;
}

static bool is_mounted(const char *dir)
{
	char parent[sizeof(((struct mountpoint *)0)->dir) + 4];
	struct stat st, above;

	snprintf(parent, sizeof(parent), "%s/..", dir);
	return !stat(dir, &st) && !stat(parent, &above) && st.st_dev != above.st_dev;
}

/* The default, or with `again` one that no other guest of this name can have. */
static int default_dir(struct mountpoint *m, const char *guest, bool again, char *err,
		       size_t errlen)
{
	size_t at;

	if (default_base(m->dir, sizeof(m->dir) - NAME_MAX, err, errlen))
		return -1;
	append_name(m->dir, sizeof(m->dir), guest);
	at = strlen(m->dir);
	if (again)
		snprintf(m->dir + at, sizeof(m->dir) - at, "-%ld", (long)getpid());
	return 0;
}

/* 0; -EBUSY: something is mounted there; -1. One line in err. */
static int take_dir(struct mountpoint *m, char *err, size_t errlen)
{
	struct stat st;

	/* Its server was killed: "Transport endpoint is not connected". */
	if (stat(m->dir, &st) && errno == ENOTCONN)
		mountpoint_unmount(m->dir);
	if (!mkdir(m->dir, 0700)) {
		m->made = true;
		return 0;
	}
	if (errno != EEXIST || stat(m->dir, &st) || !S_ISDIR(st.st_mode)) {
		snprintf(err, errlen, "cannot mount on %s: %s", m->dir,
			 errno == EEXIST ? "it is not a directory" : strerror(errno));
		return -1;
	}
	if (!is_mounted(m->dir))
		return 0;
	snprintf(err, errlen,
		 "something is mounted on %s already: choose another directory with -M DIR",
		 m->dir);
	return -EBUSY;
}

int mountpoint_init(struct mountpoint *m, const char *dir, const char *guest, char *err,
		    size_t errlen)
{
	int ret;

	*m = (struct mountpoint){0};
	if (dir) {
		if (snprintf(m->dir, sizeof(m->dir), "%s", dir) < (int)sizeof(m->dir))
			return take_dir(m, err, errlen) ? -1 : 0;
		snprintf(err, errlen, "the name of the directory to mount on is too long");
		return -1;
	}
	if (default_dir(m, guest, false, err, errlen))
		return -1;
	ret = take_dir(m, err, errlen);
	if (ret == -EBUSY)
		ret = default_dir(m, guest, true, err, errlen) ? -1 : take_dir(m, err, errlen);
	if (ret)
		return -1;
	m->made = true; /* also what was left behind at a place that is ours */
	return 0;
}

void mountpoint_exit(const struct mountpoint *m)
{
	if (m->made)
		rmdir(m->dir);
}
