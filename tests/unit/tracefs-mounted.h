/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs-mounted.h - a made-up trace as a mounted file system, for tests that open, read and write
 * its files. To be included behind cmocka.h.
 */
#ifndef HVTRACE_TESTS_UNIT_TRACEFS_MOUNTED_H
#define HVTRACE_TESTS_UNIT_TRACEFS_MOUNTED_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "frontend/mount/mount.h"
#include "frontend/tracefs/view.h"
#include "tests/unit/tracefs-trace.h"
#include "tracer/tracer.h"

struct mounted {
	char dir[64];
	struct trace *trace;
	struct view *view;
	struct tracefs *fs;
	int at; /* the directory */
};

static inline struct tracefs *mount_at(struct mounted *w, const char *dir)
{
	const struct tracefs_config cfg = {.dir = dir, .guest = "test"};
	char err[512] = "";
	struct tracefs *fs = tracefs_mount(w->view, &cfg, err, sizeof(err));

	if (!fs)
		fail_msg("%s", err);
	return fs;
}

static inline int mounted_set_up(void **state)
{
	struct mounted *w = calloc(1, sizeof(*w));
	char err[512] = "";

	assert_non_null(w);
	tracefs_guest_new();
	w->trace = tracefs_trace_new(err, sizeof(err));
	if (!w->trace)
		fail_msg("%s", err);
	w->view = view_new(w->trace, NULL);
	assert_non_null(w->view);
	snprintf(w->dir, sizeof(w->dir), "/tmp/test-tracefs-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(w->dir));
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->at >= 0);
	*state = w;
	return 0;
}

static inline int mounted_tear_down(void **state)
{
	struct mounted *w = *state;

	close(w->at);
	tracefs_unmount(w->fs);
	assert_int_equal(rmdir(w->dir), 0);
	view_free(w->view);
	trace_free(w->trace);
	tracefs_guest_free();
	free(w);
	return 0;
}

/* --- a file at a time --------------------------------------------------------------------- */

static inline int open_file(struct mounted *w, const char *path, int flags)
{
	int fd = openat(w->at, path, flags | O_CLOEXEC);

	if (fd < 0)
		fail_msg("open %s: %s", path, strerror(errno));
	return fd;
}

/* What is written, as a shell's echo does it: the bytes taken, or -errno. */
static inline ssize_t put_bytes(struct mounted *w, const char *path, int flags, const char *text,
				size_t len)
{
	int fd = open_file(w, path, O_WRONLY | flags);
	ssize_t n = write(fd, text, len);

	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

static inline ssize_t put(struct mounted *w, const char *path, const char *text)
{
	return put_bytes(w, path, O_TRUNC, text, strlen(text));
}

/* A whole file; free() it. */
static inline char *slurp(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		fail_msg("open %s: %s", path, strerror(errno));
	do {
		char *more = realloc(text, len + 65536 + 1);

		assert_non_null(more);
		text = more;
		n = read(fd, text + len, 65536);
		if (n < 0)
			fail_msg("read %s: %s", path, strerror(errno));
		len += (size_t)n;
	} while (n);
	close(fd);
	text[len] = '\0';
	return text;
}

static inline void expect(struct mounted *w, const char *path, const char *want)
{
	char *text = slurp(w->at, path);

	if (strcmp(text, want))
		fail_msg("%s reads\n%s\nnot\n%s", path, text, want);
	free(text);
}

/* --- whether that can be ------------------------------------------------------------------ */

/*
 * Who serves a mount and waits for it too cannot die: the requests under way would have to be
 * answered first. Should this program crash, another one gives them up.
 */
static inline void start_undertaker(void)
{
	char prefix[64], dir[256], line[512];
	sigset_t set;
	FILE *f;
	int sig;

	snprintf(prefix, sizeof(prefix), "/tmp/test-tracefs-%d-", getpid());
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (fork())
		return;
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(1); /* whoever waits for the end of the output would wait for this one */
	sigwait(&set, &sig);
	f = fopen("/proc/self/mounts", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %255s", dir) == 1 && !strncmp(dir, prefix, strlen(prefix)))
			umount2(dir, MNT_FORCE);
	_exit(0);
}

/* As root without the right to mount, or without the device, there is nothing to test. */
static inline bool can_mount(void)
{
	char dir[] = "/tmp/test-tracefs-XXXXXX";
	bool can;

	if (access("/dev/fuse", R_OK | W_OK) || !mkdtemp(dir))
		return false;
	if (geteuid()) {
		rmdir(dir);
		return !access("/usr/bin/fusermount3", X_OK);
	}
	can = !mount("none", dir, "tmpfs", 0, NULL);
	if (can)
		umount2(dir, MNT_DETACH);
	rmdir(dir);
	return can;
}

/* Says so if not; else the program may mount what it likes, and crash. */
static inline bool mounted_can_run(void)
{
	if (can_mount()) {
		start_undertaker();
		return true;
	}
	puts("1..0 # SKIP nothing can be mounted here (/dev/fuse)");
	return false;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, mounted_set_up, mounted_tear_down)

#endif
