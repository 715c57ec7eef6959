// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own-dir.c - directories that no other user may lead elsewhere.
 *
 * Each level of the path, and each link on the way, belongs to the user or to root. Where another
 * one has a say, as in his home when root was given his HOME, what is done there by name is done
 * where he likes.
 */
#include "guestsym/guestsym.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel's own MAXSYMLINKS */

/* What is left of a path, below a directory of which everything before it has been walked. */
struct walk {
	int dir;
	unsigned int links;
	char left[PATH_MAX];
};

/* Cut the next name off what is left: false when there is none. */
static bool next_name(struct walk *w, char name[NAME_MAX + 1])
{
	const char *at = w->left + strspn(w->left, "/");
	size_t len = strcspn(at, "/");

	if (!len || len > NAME_MAX)
		return false;
	memcpy(name, at, len);
	name[len] = '\0';
	memmove(w->left, at + len, strlen(at + len) + 1);
	return true;
}

static void move_to(struct walk *w, int dir)
{
	close(w->dir);
	w->dir = dir;
}

static bool is_last(const struct walk *w)
{
	return !w->left[strspn(w->left, "/")];
}

/* Put where a link leads before what is left of the path. */
static int follow(struct walk *w, int link)
{
	char target[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
	int root;

	if (n <= 0 || ++w->links > LINKS_MAX)
		return n < 0 ? -errno : -ELOOP;
	target[n] = '\0';
	if (snprintf(path, sizeof(path), "%s%s", target, w->left) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	memcpy(w->left, path, strlen(path) + 1);
	if (target[0] != '/')
		return 0;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	move_to(w, root);
	return 0;
}

/* What has been looked at is what is gone through: both by one descriptor. */
static int step(struct walk *w, const char *name)
{
	int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = -ENOTDIR;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		rc = -errno;
	} else if (st.st_uid && st.st_uid != geteuid()) {
		rc = -EPERM;
	} else if (S_ISDIR(st.st_mode)) {
		move_to(w, fd);
		return 0;
	} else if (S_ISLNK(st.st_mode)) {
		rc = follow(w, fd);
	}
	close(fd);
	return rc;
}

static void make_directory(const struct walk *w, const char *name)
{
	struct stat st;

	if (!fstat(w->dir, &st) && st.st_uid == geteuid())
		mkdirat(w->dir, name, 0700);
}

int guestsym_own_dir(const char *path, bool make)
{
	struct walk w = {.dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	char name[NAME_MAX + 1];
	int rc = 0;

	if (w.dir < 0)
		return -errno;
	if (snprintf(w.left, sizeof(w.left), "%s", path) >= (int)sizeof(w.left))
		rc = -ENAMETOOLONG;
	while (!rc && next_name(&w, name)) {
		if (make && is_last(&w))
			make_directory(&w, name);
		rc = step(&w, name);
	}
	if (!rc && !is_last(&w))
		rc = -ENAMETOOLONG; /* a name of it */
	if (!rc)
		return w.dir;
	close(w.dir);
	return rc;
}
