// SPDX-License-Identifier: GPL-2.0-or-later
/* files.c - see files.h */
#include "frontend/record/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/record/record.h"

static int open_file(const char *path, int *fd, bool *is_new)
{
	const int flags = O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct stat st;

	/* Which is standard output everywhere else. */
	if (!strcmp(path, "-"))
		return -ENOTSUP;
	*fd = open(path, flags | O_EXCL, 0666);
	*is_new = *fd >= 0;
	if (*fd < 0 && errno == EEXIST)
		*fd = open(path, flags, 0666);
	if (*fd < 0 || fstat(*fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	return flock(*fd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

static const char *open_error(int rc)
{
	switch (rc) {
	case -ENOTSUP:
		return "a recording needs a file";
	case -EWOULDBLOCK:
		return "another hvtrace records to it";
	default:
		return strerror(-rc);
	}
}

int record_files_open(struct record_files *f, const char *path, char *err, size_t errlen)
{
	char part[RECORD_PATH_MAX];
	int rc = record_part(path, part);

	*f = (struct record_files){-1, -1, false, false};
	if (!rc)
		rc = open_file(path, &f->journal, &f->journal_is_new);
	if (rc) {
		snprintf(err, errlen, "cannot write %s: %s", path, open_error(rc));
		return -1;
	}
	rc = open_file(part, &f->part, &f->part_is_new);
	if (!rc)
		return 0;
	snprintf(err, errlen, "cannot write %s, where the recording is put together: %s", part,
		 open_error(rc));
	return -1;
}

int record_files_open_unnamed(struct record_files *f, char *err, size_t errlen)
{
	const char *tmp = getenv("TMPDIR");

	*f = (struct record_files){-1, -1, false, false};
	tmp = tmp && *tmp ? tmp : "/tmp";
	f->journal = open(tmp, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (f->journal >= 0)
		f->part = open(tmp, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (f->part >= 0)
		return 0;
	snprintf(err, errlen, "cannot write to %s: %s", tmp, strerror(errno));
	return -1;
}

static void forget(int fd, bool is_new, const char *path)
{
	if (fd < 0)
		return;
	if (is_new && path)
		unlink(path);
	close(fd);
}

void record_files_close(struct record_files *f, const char *path)
{
	char part[RECORD_PATH_MAX];

	if (!path || !record_part(path, part))
		forget(f->part, f->part_is_new, path ? part : NULL);
	forget(f->journal, f->journal_is_new, path);
	f->journal = f->part = -1;
}
