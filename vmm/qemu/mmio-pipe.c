// SPDX-License-Identifier: GPL-2.0-or-later
/* mmio-pipe.c - see mmio-pipe.h */
#include "vmm/qemu/mmio-pipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME	  "hvtrace-mmio."
#define GONE	  " (deleted)" /* as /proc/PID/fd has it behind the name: d_path() of the kernel */
#define ROOM	  (1 << 20)    /* /proc/sys/fs/pipe-max-size is as much, unless it was changed */
#define CMDLINE	  65536
#define PROC_PATH 64
#define OTHER_FDS 65536 /* more are not looked at */

/* --- the descriptors of a process ---------------------------------------------------------------
 */

typedef bool fd_fn(int folder, const char *name, void *arg);

/* Until look() says that it is the one: its number, or -ENOENT. */
static int find_fd(pid_t pid, fd_fn *look, void *arg)
{
	char path[PROC_PATH];
	struct dirent *entry;
	int found = -ENOENT;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (!folder)
		return -errno;
	for (int n = 0; found < 0 && n < OTHER_FDS && (entry = readdir(folder)); n++)
		if (*entry->d_name != '.' && look(dirfd(folder), entry->d_name, arg))
			found = (int)strtol(entry->d_name, NULL, 10);
	closedir(folder);
	return found;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* For writing, as the link's own mode says (tid_fd_update_inode() in fs/proc/fd.c of Linux 6.1). */
static bool is_file(int folder, const char *name, void *arg)
{
	struct stat st, link;

	return !fstatat(folder, name, &st, 0) && same_file(&st, arg) &&
	       !fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) && (link.st_mode & S_IWUSR);
}

/* The name it had, as /proc tells it. */
static bool is_left(int folder, const char *name, void *arg)
{
	char link[MMIO_PIPE_PATH + sizeof(GONE)];
	ssize_t n = readlinkat(folder, name, link, sizeof(link) - 1);
	char *slash;

	(void)arg;
	if (n <= 0)
		return false;
	link[n] = '\0';
	slash = strrchr(link, '/');
	return slash && !strncmp(slash + 1, NAME, strlen(NAME)) && strstr(slash, GONE);
}

bool mmio_pipe_is_left(pid_t qemu)
{
	return find_fd(qemu, is_left, NULL) >= 0;
}

/* --- the pipe ----------------------------------------------------------------------------------
 */

/* Nobody else's, and it has one name: the folder may be QEMU's own, which could have put something
 * in its place. */
static bool is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode) && st.st_uid == geteuid() &&
	       st.st_nlink == 1;
}

/* One that was killed at the wrong moment has left its own. */
static void remove_old(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISFIFO(st.st_mode))
		unlink(path);
}

static int open_made(struct mmio_pipe *p, const struct ucred *qemu)
{
	int rc = 0;

	p->fd = open(p->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	if (!is_ours(p->fd))
		rc = -EEXIST;
	else if (qemu->uid != geteuid() && fchown(p->fd, qemu->uid, qemu->gid))
		rc = -errno;
	fcntl(p->fd, F_SETPIPE_SZ, ROOM); /* as it is, if that is too much for this user */
	return rc;
}

int mmio_pipe_make(struct mmio_pipe *p, const char *folder, const struct ucred *qemu)
{
	int n = snprintf(p->path, sizeof(p->path), "%s/" NAME "%d", folder, (int)qemu->pid), rc;

	p->fd = p->qemu_fd = -1;
	if (n < 0 || (size_t)n >= sizeof(p->path)) {
		p->path[0] = '\0';
		return -ENAMETOOLONG;
	}
	remove_old(p->path);
	if (mkfifo(p->path, 0600)) {
		rc = -errno;
		p->path[0] = '\0';
		return rc;
	}
	rc = open_made(p, qemu);
	if (rc)
		mmio_pipe_close(p);
	return rc;
}

/* A descriptor of ours for one of the process's. */
static int borrow_fd(pid_t pid, int number)
{
	int process = pidfd_open(pid, 0), fd, rc;

	if (process < 0)
		return -errno;
	fd = pidfd_getfd(process, number, 0);
	rc = fd < 0 ? -errno : fd;
	close(process);
	return rc;
}

/* Whose id that is, and whose descriptor, may have changed since. */
static int check_taken(const struct mmio_pipe *p, const struct stat *ours)
{
	int flags = fcntl(p->qemu_fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(p->qemu_fd, &st))
		return -errno;
	if (!same_file(&st, ours) || (flags & O_ACCMODE) == O_RDONLY)
		return -ENOENT;
	return fcntl(p->qemu_fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

int mmio_pipe_take(struct mmio_pipe *p, pid_t qemu)
{
	struct stat ours;
	int number;

	if (fstat(p->fd, &ours))
		return -errno;
	number = find_fd(qemu, is_file, &ours);
	if (number < 0)
		return number;
	p->qemu_fd = borrow_fd(qemu, number);
	if (p->qemu_fd < 0)
		return p->qemu_fd;
	unlink(p->path);
	p->path[0] = '\0';
	return check_taken(p, &ours);
}

bool mmio_pipe_is_full(const struct mmio_pipe *p)
{
	struct pollfd fd = {.fd = p->qemu_fd, .events = POLLOUT};

	return !poll(&fd, 1, 0);
}

void mmio_pipe_close(struct mmio_pipe *p)
{
	if (p->path[0])
		unlink(p->path);
	if (p->fd >= 0)
		close(p->fd);
	if (p->qemu_fd >= 0)
		close(p->qemu_fd);
	*p = (struct mmio_pipe){.fd = -1, .qemu_fd = -1};
}

/* --- the log -----------------------------------------------------------------------------------
 */

void mmio_log_place(pid_t qemu, char *name, size_t size)
{
	char path[PROC_PATH];
	struct stat st;
	ssize_t n;

	snprintf(name, size, "/dev/null");
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)qemu, STDERR_FILENO);
	if (stat(path, &st))
		return;
	if (S_ISFIFO(st.st_mode) && !mmio_pipe_is_left(qemu)) {
		snprintf(name, size, "/proc/self/fd/%d", STDERR_FILENO);
	} else if (S_ISCHR(st.st_mode)) {
		n = readlink(path, name, size - 1);
		name[n > 0 ? n : 0] = '\0';
		if (n <= 0 || strncmp(name, "/dev/", 5))
			snprintf(name, size, "/dev/null");
	}
}

static const char *log_option(const char *word)
{
	static const char *const options[] = {"-D", "-d", "-trace"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(word, options[i]) || (*word == '-' && !strcmp(word + 1, options[i])))
			return options[i];
	return NULL;
}

const char *mmio_log_is_used(pid_t qemu)
{
	char path[PROC_PATH], *words = malloc(CMDLINE);
	const char *used = NULL;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)qemu);
	fd = words ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		n = read(fd, words, CMDLINE - 1);
		close(fd);
	}
	if (n > 0) {
		words[n] = '\0';
		for (char *word = words; word < words + n && !used; word += strlen(word) + 1)
			used = log_option(word);
	}
	free(words);
	return used;
}
