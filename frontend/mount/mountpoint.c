// SPDX-License-Identifier: GPL-2.0-or-later
/* mountpoint.c - the directory that a view is mounted on. */
#include "frontend/mount/mountpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/lib/runtime-dir.h"
#include "guestsym/guestsym.h"

/* --- where -------------------------------------------------------------------------------- */

/* Guests are called as their owner likes; a name has no '/' and does not begin with a dot. */
static void name_after(struct mountpoint *m, const char *guest, bool again)
{
	size_t len;

	snprintf(m->name, sizeof(m->name) - 16, "%s", *guest ? guest : "guest");
	for (char *c = m->name; *c; c++)
		if (*c == '/' || (*c == '.' && c == m->name))
			*c = '_';
	len = strlen(m->name);
	if (again)
		snprintf(m->name + len, sizeof(m->name) - len, "-%ld", (long)getpid());
}

static int set_path(struct mountpoint *m, char *err, size_t errlen)
{
	if (snprintf(m->dir, sizeof(m->dir), "%s/%s", m->above, m->name) < (int)sizeof(m->dir))
		return 0;
	snprintf(err, errlen, "the name of the directory to mount on is too long");
	return -1;
}

/* The default, or with `again` one that no other guest of this name can have. */
static int find_default(struct mountpoint *m, const char *guest, bool again, char *err,
			size_t errlen)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	m->parent = runtime_dir_open(true, m->above, sizeof(m->above));
	if (m->parent >= 0) {
		name_after(m, guest, again);
		return set_path(m, err, errlen);
	}
	if (m->parent == -ENOENT && (!runtime || *runtime != '/'))
		snprintf(
			err, errlen,
			"XDG_RUNTIME_DIR is not set: say where to mount with -M DIR, or --no-mount");
	else if (m->parent == -EPERM)
		snprintf(err, errlen, "%s belongs to others too: say where to mount with -M DIR",
			 m->above);
	else
		snprintf(err, errlen, "cannot make %s: %s", m->above, strerror(-m->parent));
	return -1;
}

/* Cut a path in the directory above and the name; what has no name is none to mount on. */
static int split(const char *dir, char above[PATH_MAX], char name[NAME_MAX + 1])
{
	size_t len = strlen(dir), at;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	for (at = len; at && dir[at - 1] != '/'; at--)
		;
	if (len - at > NAME_MAX)
		return -ENAMETOOLONG;
	snprintf(name, NAME_MAX + 1, "%.*s", (int)(len - at), dir + at);
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	if (*dir == '/')
		*above = '\0';
	else if (!getcwd(above, PATH_MAX))
		return -errno;
	len = strlen(above);
	return snprintf(above + len, PATH_MAX - len, "/%.*s", (int)at, dir) < (int)(PATH_MAX - len)
		       ? 0
		       : -ENAMETOOLONG;
}

static int find_named(struct mountpoint *m, const char *dir, char *err, size_t errlen)
{
	struct stat st;
	int rc;

	if (snprintf(m->dir, sizeof(m->dir), "%s", dir) >= (int)sizeof(m->dir)) {
		snprintf(err, errlen, "the name of the directory to mount on is too long");
		return -1;
	}
	rc = split(dir, m->above, m->name);
	if (!rc)
		rc = m->parent = guestsym_own_dir(m->above, false);
	/* Where everybody may rename what is in it, its owner does not count. */
	if (rc >= 0 && (fstat(m->parent, &st) || (st.st_mode & S_IWOTH && !(st.st_mode & S_ISVTX))))
		rc = -EPERM;
	if (rc >= 0)
		return 0;
	if (rc == -EPERM)
		snprintf(
			err, errlen,
			"cannot mount on %s: another user can move it: choose a directory of your own",
			dir);
	else
		snprintf(err, errlen, "cannot mount on %s: %s", dir, strerror(-rc));
	return -1;
}

static void set_place(struct mountpoint *m)
{
	snprintf(m->place, sizeof(m->place), "/proc/self/fd/%d/%s", m->parent, m->name);
}

/* --- what is there ------------------------------------------------------------------------ */

/*
 * As root by the descriptor. Others may only through the helper that mounted it, which wants the
 * path, and sees to links itself.
 */
static bool unmount(const struct mountpoint *m)
{
	char name[] = "fusermount3", options[] = "-uqz", end[] = "--", copy[sizeof(m->dir)];
	char *argv[] = {name, options, end, copy, NULL};
	pid_t pid;
	int status;

	if (!umount2(m->place, MNT_DETACH | UMOUNT_NOFOLLOW))
		return true;
	snprintf(copy, sizeof(copy), "%s", m->dir);
	return !posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) &&
	       waitpid(pid, &status, 0) == pid && status == 0;
}

/* The directory, and what it is; -ENOTCONN: what is mounted there has no server any more. */
static int look(const struct mountpoint *m, struct stat *st)
{
	int fd = openat(m->parent, m->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 || fstat(fd, st) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

/* 0; -EBUSY: something is mounted there; -1. One line in err. */
static int take_dir(struct mountpoint *m, char *err, size_t errlen)
{
	struct stat st = {0}, above = {0};
	const char *why = NULL;
	int rc;

	set_place(m);
	/* Its server was killed: "Transport endpoint is not connected". */
	rc = look(m, &st);
	if (rc == -ENOTCONN)
		unmount(m);
	m->made = !mkdirat(m->parent, m->name, 0700);
	rc = m->made || errno == EEXIST ? look(m, &st) : -errno;
	if (rc)
		why = rc == -ENOTDIR || rc == -ELOOP ? "it is not a directory" : strerror(-rc);
	else if (fstat(m->parent, &above))
		why = strerror(errno);
	else if (st.st_dev == above.st_dev && st.st_uid != geteuid())
		why = "it belongs to another user";
	if (why) {
		snprintf(err, errlen, "cannot mount on %s: %s", m->dir, why);
		return -1;
	}
	if (st.st_dev == above.st_dev)
		return 0;
	snprintf(err, errlen,
		 "something is mounted on %s already: choose another directory with -M DIR",
		 m->dir);
	return -EBUSY;
}

/* --- the mount point ------------------------------------------------------------------------ */

/* Others get to what is mounted in the default place by its name; what else is there stays ours. */
static int let_others_pass(struct mountpoint *m, char *err, size_t errlen)
{
	struct stat above;

	if (!fstatat(m->parent, "..", &above, 0) && above.st_mode & S_IXOTH &&
	    !fchmod(m->parent, 0711))
		return 0;
	snprintf(err, errlen,
		 "other users (--allow-other) do not get to %s: say where to mount with -M DIR",
		 m->above);
	return -1;
}

static int take_default(struct mountpoint *m, const char *guest, bool others, char *err,
			size_t errlen)
{
	int rc = find_default(m, guest, false, err, errlen) ||
				 (others && let_others_pass(m, err, errlen))
			 ? -1
			 : take_dir(m, err, errlen);

	if (rc == -EBUSY) {
		close(m->parent);
		rc = find_default(m, guest, true, err, errlen) ? -1 : take_dir(m, err, errlen);
	}
	m->made = true; /* also what was left behind at a place that is ours */
	return rc;
}

int mountpoint_init(struct mountpoint *m, const char *dir, const char *guest, bool others,
		    char *err, size_t errlen)
{
	int rc;

	*m = (struct mountpoint){.parent = -1};
	if (dir)
		rc = find_named(m, dir, err, errlen) ? -1 : take_dir(m, err, errlen);
	else
		rc = take_default(m, guest, others, err, errlen);
	if (!rc)
		return 0;
	if (m->parent >= 0)
		close(m->parent);
	return -1;
}

void mountpoint_exit(struct mountpoint *m)
{
	if (m->made)
		unlinkat(m->parent, m->name, AT_REMOVEDIR);
	close(m->parent);
}

/* Somebody may have unmounted it before. */
static bool is_mounted(const struct mountpoint *m)
{
	struct stat st = {0}, above = {0};
	int rc = look(m, &st);

	return rc == -ENOTCONN || (!rc && !fstat(m->parent, &above) && st.st_dev != above.st_dev);
}

int mountpoint_leave(const struct mountpoint *m)
{
	struct mountpoint again = *m;
	bool mounted;

	again.parent = guestsym_own_dir(m->above, false);
	if (again.parent < 0)
		return again.parent;
	set_place(&again);
	mounted = !unmount(&again) && is_mounted(&again);
	mountpoint_exit(&again);
	return mounted ? -EBUSY : 0;
}
