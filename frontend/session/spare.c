// SPDX-License-Identifier: GPL-2.0-or-later
/* spare.c - see spare.h */
#include "frontend/session/spare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void spare_open(struct spare *s)
{
	const char *dir = getenv("TMPDIR");
	struct stat st;

	*s = (struct spare){.pid = getpid()};
	if (!dir || *dir != '/')
		dir = "/var/tmp";
	if (snprintf(s->path, sizeof(s->path), "%s/hvtrace-%ld.txt", dir, (long)s->pid) >=
	    (int)sizeof(s->path))
		return;
	s->fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (s->fd < 0)
		return;
	if (!fstat(s->fd, &st))
		s->file = fdopen(s->fd, "w");
	if (!s->file) {
		close(s->fd);
		return;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
}

/* By way of /proc, as open(2) has it for O_TMPFILE: so another process can do it, too. */
int spare_name(const struct spare *s)
{
	struct stat st;
	char fd[64];

	if (!s->file)
		return -ENOENT;
	snprintf(fd, sizeof(fd), "/proc/%ld/fd/%d", (long)s->pid, s->fd);
	if (linkat(AT_FDCWD, fd, AT_FDCWD, s->path, AT_SYMLINK_FOLLOW))
		return -errno;
	/* The tracer may have been made to put another one there. */
	if (!lstat(s->path, &st) && st.st_dev == s->dev && st.st_ino == s->ino)
		return 0;
	unlink(s->path);
	return -EBADF;
}

void spare_close(struct spare *s)
{
	if (s->file)
		fclose(s->file);
	s->file = NULL;
}
