// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-tracefs-mount.c - how a trace is mounted and unmounted: where, over what, and while it is in
 * use. Skipped where nothing can be mounted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "tests/unit/tracefs-mounted.h"

static void test_open_at_the_end(void **state)
{
	struct mounted *w = *state;
	int trace = open_file(w, "trace", O_RDONLY), dir = open_file(w, ".", O_RDONLY);
	char c;

	close(w->at);
	tracefs_unmount(w->fs);
	assert_int_equal(read(trace, &c, 1), -1);
	close(trace);
	close(dir);
	assert_int_equal(access(w->dir, F_OK), 0);
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	expect(w, "tracing_on", "1\n");
}

static void test_unmounted_by_others(void **state)
{
	struct mounted *w = *state;

	close(w->at);
	assert_int_equal(umount2(w->dir, MNT_DETACH), 0);
	tracefs_unmount(w->fs);
	w->fs = mount_at(w, w->dir);
	w->at = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What a killed process leaves: "Transport endpoint is not connected". */
static void test_stale(void **state)
{
	struct mounted *w = *state;
	char dir[96], options[96];
	struct tracefs *fs;
	struct stat st;
	int fd;

	if (geteuid())
		skip();
	snprintf(dir, sizeof(dir), "%s.stale", w->dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	assert_int_equal(mount("stale", dir, "fuse", 0, options), 0);
	close(fd);
	assert_int_equal(stat(dir, &st), -1);
	assert_int_equal(errno, ENOTCONN);
	fs = mount_at(w, dir);
	assert_int_equal(stat(dir, &st), 0);
	tracefs_unmount(fs);
	assert_int_equal(rmdir(dir), 0); /* it was there before: it stays */
}

static void test_mounted_already(void **state)
{
	struct mounted *w = *state;
	const struct tracefs_config cfg = {.dir = w->dir, .guest = "test"};
	char err[512] = "";

	assert_null(tracefs_mount(w->view, &cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "already"));
}

static void test_default_place(void **state)
{
	struct mounted *w = *state;
	const struct tracefs_config cfg = {.guest = ".a/b"};
	char runtime[] = "/tmp/test-tracefs-run-XXXXXX", want[128], err[512] = "";
	struct tracefs *fs, *other;
	struct stat st;

	assert_non_null(mkdtemp(runtime));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	fs = tracefs_mount(w->view, &cfg, err, sizeof(err));
	other = tracefs_mount(w->view, &cfg, err, sizeof(err));
	unsetenv("XDG_RUNTIME_DIR");
	if (!fs || !other)
		fail_msg("%s", err);
	snprintf(want, sizeof(want), "%s/hvtrace/_a_b-%ld", runtime, (long)getpid());
	assert_string_equal(tracefs_dir(other), want);
	tracefs_unmount(other);
	assert_int_equal(stat(want, &st), -1);
	snprintf(want, sizeof(want), "%s/hvtrace/_a_b", runtime);
	assert_string_equal(tracefs_dir(fs), want);
	assert_int_equal(stat(want, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	tracefs_unmount(fs);
	assert_int_equal(stat(want, &st), -1);
	snprintf(want, sizeof(want), "%s/hvtrace", runtime);
	assert_int_equal(rmdir(want), 0);
	assert_int_equal(rmdir(runtime), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_open_at_the_end), TEST(test_unmounted_by_others), TEST(test_stale),
		TEST(test_mounted_already), TEST(test_default_place),
	};

	return mounted_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
