// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache-dir.c - the directory of unpacked images, which nobody else may lead elsewhere.
 *
 * Every level of its path, and every link on the way, belongs to the user or to root: where another
 * user has a say, as in his home when root was given his HOME, there is no cache. The last two
 * levels are the cache's own; they are no links.
 */
#include "guestsym/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Relative paths are to be ignored (XDG base directory specification). */
static int cache_base(char *path, size_t len)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (xdg && xdg[0] == '/')
		n = snprintf(path, len, "%s", xdg);
	else if (home && home[0] == '/')
		n = snprintf(path, len, "%s/.cache", home);
	else
		return -ENOENT;
	return n > 0 && (size_t)n < len ? 0 : -ENAMETOOLONG;
}

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

/* Put where a link leads before what is left of the path. */
static int follow(struct walk *w, int link)
{
	char target[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
	int root;

	if (n <= 0 || ++w->links > LINKS_MAX)
		return -1;
	target[n] = '\0';
	if (snprintf(path, sizeof(path), "%s%s", target, w->left) >= (int)sizeof(path))
		return -1;
	memcpy(w->left, path, strlen(path) + 1);
	if (target[0] != '/')
		return 0;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	move_to(w, root);
	return 0;
}

/* What has been looked at is what is gone through: both by one descriptor. */
static int step(struct walk *w, const char *name)
{
	int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = -1;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || (st.st_uid && st.st_uid != geteuid()))
		goto out;
	if (S_ISDIR(st.st_mode)) {
		move_to(w, fd);
		return 0;
	}
	if (S_ISLNK(st.st_mode))
		rc = follow(w, fd);
out:
	close(fd);
	return rc;
}

/* Its last level is made when asked to, in a directory of the user's. */
static int open_base(const char *path, bool create)
{
	struct walk w = {.dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	char name[NAME_MAX + 1];
	struct stat st;

	if (w.dir < 0)
		return -1;
	snprintf(w.left, sizeof(w.left), "%s", path);
	while (next_name(&w, name)) {
		if (create && !w.left[strspn(w.left, "/")] && !fstat(w.dir, &st) &&
		    st.st_uid == geteuid())
			mkdirat(w.dir, name, 0700);
		if (step(&w, name))
			goto fail;
	}
	if (!w.left[strspn(w.left, "/")])
		return w.dir;
fail:
	close(w.dir);
	return -1;
}

/* Open a directory of the cache's own below dirfd, which is closed; make it when asked to. */
static int enter(int dirfd, const char *name, bool create)
{
	struct stat st;
	int fd = -1;

	if (dirfd < 0)
		return -1;
	if (!create || mkdirat(dirfd, name, 0700) == 0 || errno == EEXIST)
		fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(dirfd);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	return fd;
}

int cache_dir(bool create)
{
	char base[PATH_MAX];
	struct stat st;
	int fd;

	if (cache_base(base, sizeof(base)))
		return -1;
	fd = open_base(base, create);
	fd = enter(fd, "hvtrace", create);
	fd = enter(fd, "images", create);
	/* Nobody else puts anything there. */
	if (fd >= 0 && (fstat(fd, &st) || st.st_mode & 077)) {
		close(fd);
		return -1;
	}
	return fd;
}
