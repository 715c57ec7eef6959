// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spool.c - see spool.h. A file is written under another name and gets its own once it is on the
 * disk; names are numbers that rise.
 */
#include "frontend/ship/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LEN = 40 };

struct spool {
	char *path;
	int dir; /* locked */
	uint64_t max, used, nr, last;
};

static void name_of(char name[NAME_LEN], uint64_t nr, const char *ending)
{
	snprintf(name, NAME_LEN, "%020" PRIu64 ".%s", nr, ending);
}

/* 0: it is no name of a batch. */
static uint64_t number_of(const char *name)
{
	char same[NAME_LEN], *end;
	uint64_t nr = strtoull(name, &end, 10);

	name_of(same, nr, "batch");
	return strcmp(end, ".batch") || strcmp(name, same) ? 0 : nr;
}

/* --- the folder --------------------------------------------------------------------------------
 */

/* Each name that is one of a batch; of those behind `after` the least in *next. */
static int look(struct spool *s, uint64_t after, uint64_t *next)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	if (!dir) {
		int rc = -errno;

		if (fd >= 0)
			close(fd);
		return rc;
	}
	*next = s->nr = s->used = 0;
	while ((e = readdir(dir))) {
		uint64_t nr = number_of(e->d_name);
		struct stat st;

		if (!nr || fstatat(s->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		s->nr++;
		s->used += (uint64_t)st.st_size;
		s->last = nr > s->last ? nr : s->last;
		if (nr > after && (!*next || nr < *next))
			*next = nr;
	}
	closedir(dir);
	return 0;
}

static int begin(struct spool *s, const char *path)
{
	uint64_t first;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0 || flock(s->dir, LOCK_EX | LOCK_NB))
		return -errno;
	return look(s, 0, &first);
}

struct spool *spool_open(const char *path, uint64_t max, char *err, size_t errlen)
{
	struct spool *s = calloc(1, sizeof(*s));
	int rc = s ? 0 : -ENOMEM;

	if (s) {
		s->dir = -1;
		s->max = max;
		s->path = strdup(path);
		rc = s->path ? begin(s, path) : -ENOMEM;
	}
	if (!rc)
		return s;
	snprintf(err, errlen, "--spool %s: %s", path,
		 rc == -EWOULDBLOCK ? "another hvtrace ships from there" : strerror(-rc));
	spool_close(s);
	return NULL;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->dir >= 0)
		close(s->dir);
	free(s->path);
	free(s);
}

uint64_t spool_nr(const struct spool *s)
{
	return s->nr;
}

const char *spool_path(const struct spool *s)
{
	return s->path;
}

/* --- a batch -----------------------------------------------------------------------------------
 */

static int write_all(int fd, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_file(const struct spool *s, const char *name, const struct pack *p)
{
	int fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, &p->head, sizeof(p->head));
	if (!rc)
		rc = write_all(fd, p->bytes, p->head.packed);
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

int spool_put(struct spool *s, const struct pack *p)
{
	uint64_t size = sizeof(p->head) + p->head.packed;
	char name[NAME_LEN];
	int rc;

	if (size > s->max || s->used > s->max - size)
		return -EDQUOT;
	rc = write_file(s, "new", p);
	name_of(name, s->last + 1, "batch");
	if (!rc && renameat(s->dir, "new", s->dir, name))
		rc = -errno;
	if (!rc && fsync(s->dir))
		rc = -errno;
	if (rc) {
		unlinkat(s->dir, "new", 0);
		return rc;
	}
	s->last++;
	s->nr++;
	s->used += size;
	return 0;
}

static int read_all(int fd, void *bytes, size_t len)
{
	uint8_t *at = bytes;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_pack(int fd, struct pack *p)
{
	int rc = read_all(fd, &p->head, sizeof(p->head));

	if (!rc && (pack_head_wrong(&p->head) || p->head.kind != PACK_BATCH))
		rc = -EBADMSG;
	if (rc)
		return rc;
	p->bytes = malloc(p->head.packed);
	if (!p->bytes)
		return -ENOMEM;
	rc = read_all(fd, p->bytes, p->head.packed);
	if (!rc && pack_wrong(p))
		rc = -EBADMSG;
	return rc;
}

static int read_file(const struct spool *s, const char *name, struct pack *p)
{
	int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = fd < 0 ? -errno : read_pack(fd, p);

	if (fd >= 0)
		close(fd);
	if (rc) {
		free(p->bytes);
		p->bytes = NULL;
	}
	return rc;
}

/* It is kept for people to look at, and counts no more. */
static void put_aside(struct spool *s, const char *name, uint64_t nr)
{
	char bad[NAME_LEN];

	name_of(bad, nr, "bad");
	if (!renameat(s->dir, name, s->dir, bad) && s->nr)
		s->nr--;
}

int spool_get(struct spool *s, uint64_t after, struct pack *p, uint64_t *nr)
{
	char name[NAME_LEN];
	int rc = look(s, after, nr);

	*p = (struct pack){.bytes = NULL};
	if (rc || !*nr)
		return rc ? rc : -ENOENT;
	name_of(name, *nr, "batch");
	rc = read_file(s, name, p);
	if (rc == -EBADMSG || rc == -ELOOP)
		put_aside(s, name, *nr);
	return rc == -ELOOP ? -EBADMSG : rc;
}

int spool_remove(struct spool *s, uint64_t nr)
{
	char name[NAME_LEN];
	struct stat st;

	name_of(name, nr, "batch");
	if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) || unlinkat(s->dir, name, 0))
		return -errno;
	s->used -= s->used > (uint64_t)st.st_size ? (uint64_t)st.st_size : s->used;
	s->nr -= s->nr > 0;
	return 0;
}
