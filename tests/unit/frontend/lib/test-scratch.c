// SPDX-License-Identifier: GPL-2.0-or-later
/* test-scratch.c - a folder for files that others read: it goes, and so do those of the dead. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/lib/scratch.h"

static char err[256];

static int setup(void **state)
{
	static char dir[] = "/tmp/test-scratch-XXXXXX";

	assert_non_null(mkdtemp(dir));
	setenv("TMPDIR", dir, 1);
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	return rmdir(*state); /* nothing is left */
}

static void put(const char *folder, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void test_folder(void **state)
{
	struct scratch s = {0};
	const char *folder = scratch_folder(&s, err, sizeof(err));
	struct stat st;

	assert_non_null(folder);
	assert_memory_equal(folder, *state, strlen(*state));
	assert_ptr_equal(scratch_folder(&s, err, sizeof(err)), folder);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0711);
	put(folder, "one");
	put(folder, ".two");
	scratch_remove(&s);
	assert_null(s.path);
	scratch_remove(&s);
}

/* Has a folder, until it is killed; and a process that needs it until it reads an end. */
static _Noreturn void have_folder(int told, int until)
{
	struct scratch s = {0};
	char path[256] = "", none;

	if (!scratch_folder(&s, err, sizeof(err)) || scratch_watch(&s))
		_exit(1);
	put(s.path, "file");
	snprintf(path, sizeof(path), "%s", s.path);
	if (fork())
		for (;;)
			pause();
	if (write(told, path, sizeof(path)) != sizeof(path) || read(until, &none, 1))
		_exit(1);
	_exit(0);
}

static void test_killed(void **state)
{
	int told[2], until[2], status;
	char path[256];
	struct stat st;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(until), 0);
	pid = fork();
	if (!pid) {
		close(until[1]);
		have_folder(told[1], until[0]);
	}
	close(told[1]);
	assert_int_equal(read(told[0], path, sizeof(path)), sizeof(path));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(stat(path, &st), 0);
	close(until[1]);
	while (!stat(path, &st))
		usleep(1000);
	close(until[0]);
	close(told[0]);
}

/* Nobody was killed: there is nothing to wait for. */
static void test_watched(void **state)
{
	struct scratch s = {0};

	(void)state;
	assert_non_null(scratch_folder(&s, err, sizeof(err)));
	assert_int_equal(scratch_watch(&s), 0);
	put(s.path, "file");
	scratch_remove(&s);
	assert_int_equal(waitpid(-1, NULL, 0), -1);
}

/* One that is in use stays, one that nobody has goes; what has another name is not ours. */
static void test_sweep(void **state)
{
	struct scratch alive = {0}, next = {0};
	char dead[256], other[256], deep[300];
	struct stat st;

	snprintf(dead, sizeof(dead), "%s/hvtrace-files-killed", (const char *)*state);
	snprintf(other, sizeof(other), "%s/hvtrace-other", (const char *)*state);
	assert_non_null(scratch_folder(&alive, err, sizeof(err)));
	put(alive.path, "kernel");
	assert_int_equal(mkdir(dead, 0711), 0);
	put(dead, "initrd");
	snprintf(deep, sizeof(deep), "%s/tmp", dead);
	assert_int_equal(mkdir(deep, 0700), 0);
	put(deep, "socket");
	assert_int_equal(mkdir(other, 0711), 0);
	assert_non_null(scratch_folder(&next, err, sizeof(err)));
	assert_int_equal(stat(dead, &st), -1);
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(stat(alive.path, &st), 0);
	scratch_remove(&next);
	scratch_remove(&alive);
	rmdir(other);
}

/* A link that somebody has put there leads nowhere. */
static void test_link(void **state)
{
	struct scratch s = {0};
	char link[512], other[256];
	struct stat st;

	snprintf(link, sizeof(link), "%s/hvtrace-files-link", (const char *)*state);
	snprintf(other, sizeof(other), "%s/other", (const char *)*state);
	assert_int_equal(mkdir(other, 0700), 0);
	put(other, "mine");
	assert_int_equal(symlink(other, link), 0);
	assert_non_null(scratch_folder(&s, err, sizeof(err)));
	scratch_remove(&s);
	snprintf(link, sizeof(link), "%s/mine", other);
	assert_int_equal(stat(link, &st), 0);
	unlink(link);
	rmdir(other);
	snprintf(link, sizeof(link), "%s/hvtrace-files-link", (const char *)*state);
	unlink(link);
}

static void test_no_place(void **state)
{
	struct scratch s = {0};

	setenv("TMPDIR", "/no/such/place", 1);
	assert_null(scratch_folder(&s, err, sizeof(err)));
	assert_non_null(strstr(err, "/no/such/place/hvtrace-files-"));
	assert_non_null(strstr(err, "No such file or directory (TMPDIR names another place)"));
	scratch_remove(&s);
	setenv("TMPDIR", *state, 1);
}

/* Neither the process that watches nor another hvtrace takes it away. */
static void test_kept(void **state)
{
	struct scratch s = {0}, other = {0};
	char *kept, path[256];

	(void)state;
	assert_non_null(scratch_folder(&s, err, sizeof(err)));
	assert_int_equal(scratch_watch(&s), 0);
	put(s.path, "file");
	kept = scratch_keep(&s);
	assert_non_null(kept);
	assert_null(s.path);
	scratch_remove(&s);
	assert_non_null(scratch_folder(&other, err, sizeof(err)));
	scratch_remove(&other);
	snprintf(path, sizeof(path), "%s/file", kept);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(kept), 0);
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folder),	cmocka_unit_test(test_killed),
		cmocka_unit_test(test_watched), cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_link),	cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests_name("scratch", tests, setup, teardown);
}
