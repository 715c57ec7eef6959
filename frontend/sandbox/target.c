// SPDX-License-Identifier: GPL-2.0-or-later
/* target.c - see target.h */
#include "frontend/sandbox/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/lib/output.h"
#include "frontend/lib/tree.h"
#include "frontend/sandbox/broker.h"

enum { DEED_PLACE, DEED_DISCARD, NR_DEEDS, TRIES = 100 };

/* --- names -------------------------------------------------------------------------------------
 */

/* The same file by a name that does not depend on links that others may change. */
static int resolve(struct target *t, const char *path)
{
	char *copy = strdup(path), *dir, *base;
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	base = strdup(basename(copy));
	memcpy(copy, path, strlen(path) + 1);
	dir = realpath(dirname(copy), NULL);
	if (!dir || !base)
		rc = dir ? -ENOMEM : -errno;
	else if (asprintf(&t->path, "%s/%s", strcmp(dir, "/") ? dir : "", base) < 0)
		rc = -ENOMEM;
	free(dir);
	free(base);
	free(copy);
	return rc;
}

/* What make() makes beside it, of a name that nobody has. What that gives, or -errno. */
static int make_part(struct target *t, int (*make)(const char *path))
{
	int fd = -EEXIST;

	for (int i = 0; i < TRIES && fd == -EEXIST; i++) {
		free(t->part);
		if (asprintf(&t->part, "%s.%d-%d.part", t->path, (int)getpid(), i) < 0) {
			t->part = NULL;
			return -ENOMEM;
		}
		fd = make(t->part);
	}
	t->is_beside = fd >= 0;
	return fd;
}

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

static int make_folder(const char *path)
{
	int fd = mkdir(path, 0777) ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* --- opening -----------------------------------------------------------------------------------
 */

/*
 * Another file may take its place without a change that anybody sees: it is nobody else's, and has
 * no other names.
 */
static bool can_be_replaced(const char *path, struct stat *st)
{
	if (lstat(path, st))
		return errno == ENOENT;
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && st->st_uid == geteuid() &&
	       !access(path, W_OK);
}

static int open_beside(struct target *t, const char *path, const struct stat *old)
{
	int fd, rc = resolve(t, path);

	if (rc)
		return rc;
	fd = make_part(t, make_file);
	if (fd < 0)
		return fd;
	if (old->st_mode)
		fchmod(fd, old->st_mode & 07777);
	t->fd = fd;
	t->out = output_open_fd(fd);
	if (t->out)
		return 0;
	t->is_beside = false;
	unlink(t->part);
	return -ENOMEM;
}

int target_open_file(struct target *t, const char *path, const struct cancel *cancel)
{
	struct stat old = {0};

	t->folder = -1;
	/* Who may write to a file and not to its folder still can. */
	if (path && can_be_replaced(path, &old) && !open_beside(t, path, &old))
		return 0;
	t->out = output_open_kept(path, cancel);
	if (!t->out)
		return -errno;
	t->is_file = path && !stat(path, &old) && S_ISREG(old.st_mode);
	return 0;
}

/* 0: it is, or not there. */
static int is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int rc = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!rc && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = -ENOTEMPTY;
	closedir(dir);
	return rc;
}

int target_open_folder(struct target *t, const char *path)
{
	int rc = is_empty(path);

	t->folder = -1;
	if (!rc)
		rc = resolve(t, path);
	if (!rc)
		rc = make_part(t, make_folder);
	if (rc < 0)
		return rc;
	t->folder = rc;
	if (asprintf(&t->inner, "%s/made", t->part) >= 0)
		return 0;
	t->inner = NULL;
	return -ENOMEM;
}

/* --- the end -----------------------------------------------------------------------------------
 */

static int place(void *arg)
{
	const struct target *t = arg;

	return rename(t->inner ? t->inner : t->part, t->path) ? -errno : 0;
}

/* Nothing, if it is in its place. */
static int discard(void *arg)
{
	const struct target *t = arg;

	if (t->inner)
		tree_remove(AT_FDCWD, t->inner, 1); /* maybe with folders that have files */
	return remove(t->part) ? -errno : 0;
}

int target_keep_rights(struct target *t)
{
	const struct broker_deed deeds[NR_DEEDS] = {
		[DEED_PLACE] = {.run = place, .arg = t},
		[DEED_DISCARD] = {.run = discard, .arg = t, .at_end = true},
	};

	return t->is_beside ? broker_start(&t->broker, deeds, NR_DEEDS) : 0;
}

int target_begin(struct target *t)
{
	t->begun = true;
	return t->is_file ? output_again(t->out) : 0;
}

/* The other process, where there is one, ends with taking away what is left. */
static int finish(struct target *t, bool whole)
{
	int rc;

	if (!t->is_beside)
		return 0;
	if (t->broker)
		return whole ? broker_ask(t->broker, DEED_PLACE) : 0;
	rc = whole ? place(t) : 0;
	discard(t);
	return rc;
}

/* 0 or -errno: where it has failed before, it does once more. */
static int close_file(struct target *t, bool whole)
{
	bool failed = ferror(t->out);
	int rc;

	if (!whole && t->is_file && t->begun)
		output_again(t->out);
	rc = fflush(t->out) ? -errno : 0;
	if (fclose(t->out) && !rc)
		rc = -errno;
	return failed && !rc ? -EIO : rc;
}

int target_close(struct target *t, bool whole)
{
	int rc = t->out ? close_file(t, whole) : 0, placed;

	placed = finish(t, whole && !rc);
	broker_stop(t->broker);
	/* One that was never opened is all zeros, which is a descriptor as well. */
	if (t->is_beside && !t->out)
		close(t->folder);
	free(t->inner);
	free(t->part);
	free(t->path);
	return rc || !whole ? rc : placed;
}
