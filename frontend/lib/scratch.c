// SPDX-License-Identifier: GPL-2.0-or-later
/* scratch.c - see scratch.h. Who has a folder has it locked, so one without a lock is a dead one's.
 */
#include "frontend/lib/scratch.h"
#include "frontend/lib/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "hvtrace-files-"
#define KEPT   "hvtrace-kept-"
#define DEPTH  16 /* of folders that others make there */
#define TRIES  8  /* where nothing can be locked none of them helps */

static const char *parent(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/var/tmp";
}

static int open_locked(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	return -EBUSY;
}

/* One that is being made is not locked for a moment: who makes it looks whether it is there still.
 */
static void sweep(void)
{
	DIR *dir = opendir(parent());
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		int fd = strncmp(entry->d_name, PREFIX, strlen(PREFIX))
				 ? -1
				 : open_locked(dirfd(dir), entry->d_name);

		if (fd < 0)
			continue;
		tree_empty(fd, DEPTH);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		close(fd);
	}
	closedir(dir);
}

/* 0, -EAGAIN: another hvtrace has taken it for a dead one's, or -errno. */
static int make(struct scratch *s)
{
	struct stat st;

	if (asprintf(&s->path, "%s/" PREFIX "XXXXXX", parent()) < 0) {
		s->path = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(s->path))
		return -errno;
	s->fd = open_locked(AT_FDCWD, s->path);
	if (s->fd < 0)
		return -EAGAIN;
	if (!fstat(s->fd, &st) && st.st_nlink && !fchmod(s->fd, 0711))
		return 0;
	close(s->fd);
	return -EAGAIN;
}

const char *scratch_folder(struct scratch *s, char *err, size_t errlen)
{
	int rc;

	if (s->path)
		return s->path;
	sweep();
	for (unsigned int i = 0; (rc = make(s)) == -EAGAIN && i < TRIES; i++) {
		rmdir(s->path);
		free(s->path);
		s->path = NULL;
	}
	if (!rc)
		return s->path;
	snprintf(err, errlen,
		 "cannot make a folder for files (%s): %s (TMPDIR names another place)",
		 s->path ? s->path : "no memory", strerror(-rc));
	if (s->path)
		rmdir(s->path);
	free(s->path);
	s->path = NULL;
	return NULL;
}

static void take_away(const struct scratch *s)
{
	tree_empty(s->fd, DEPTH);
	rmdir(s->path);
}

/* Whatever a terminal or a service manager sends to all: it is the last. */
static _Noreturn void watch(const struct scratch *s, int ended)
{
	char none;

	setpgid(0, 0);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(ended, &none, 1) < 0 && errno == EINTR)
		;
	take_away(s);
	_exit(0);
}

int scratch_watch(struct scratch *s)
{
	int fds[2], rc = 0;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	s->watcher = fork();
	if (!s->watcher) {
		close(fds[1]);
		watch(s, fds[0]);
	}
	if (s->watcher < 0) {
		rc = -errno;
		s->watcher = 0;
		close(fds[1]);
	}
	close(fds[0]);
	s->life = fds[1];
	return rc;
}

static void end(struct scratch *s)
{
	close(s->fd);
	free(s->path);
	s->path = NULL;
	if (!s->watcher)
		return;
	kill(s->watcher, SIGKILL);
	waitpid(s->watcher, NULL, 0);
	s->watcher = 0;
	close(s->life);
}

void scratch_remove(struct scratch *s)
{
	if (!s->path)
		return;
	take_away(s);
	end(s);
}

char *scratch_keep(struct scratch *s)
{
	char *kept;

	if (!s->path || asprintf(&kept, "%s/" KEPT "%s", parent(),
				 strrchr(s->path, '/') + 1 + strlen(PREFIX)) < 0)
		return NULL;
	if (rename(s->path, kept)) {
		free(kept);
		return NULL;
	}
	end(s);
	return kept;
}
