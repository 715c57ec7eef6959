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
#include <sys/wait.h>

#include "frontend/lib/runtime-dir.h"
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

/* They have to get there: not where the directory above is closed to them. */
static void test_default_place_of_others(void **state)
{
	struct mounted *w = *state;
	const struct tracefs_config cfg = {.guest = "other", .allow_other = true};
	char runtime[] = "/tmp/test-tracefs-run-XXXXXX", dir[128], err[512] = "";
	struct tracefs *fs;
	struct stat st;

	if (geteuid())
		skip();
	assert_non_null(mkdtemp(runtime));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	assert_null(tracefs_mount(w->view, &cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "other users (--allow-other) do not get to"));
	assert_int_equal(chmod(runtime, 0711), 0);
	fs = tracefs_mount(w->view, &cfg, err, sizeof(err));
	unsetenv("XDG_RUNTIME_DIR");
	if (!fs)
		fail_msg("%s", err);
	snprintf(dir, sizeof(dir), "%s/hvtrace", runtime);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0711);
	tracefs_unmount(fs);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(rmdir(runtime), 0);
}

/* Who has no descriptors of who mounted it, as a process that has kept the right to unmount. */
static void test_left_by_a_copy(void **state)
{
	struct mounted *w = *state;
	struct tracefs *fs;
	char dir[96];
	int status;
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s.copy", w->dir);
	fs = mount_at(w, dir);
	assert_int_equal(access(dir, F_OK), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close_range(0, ~0U, 0);
		_exit(tracefs_leave(fs) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(dir, F_OK), -1);
	tracefs_unmount(fs);
}

/* --- what others have made ---------------------------------------------------------------- */

enum { OTHER = 12345 };

static void expect_no_mount(struct mounted *w, const char *dir, const char *why)
{
	const struct tracefs_config cfg = {.dir = dir, .guest = "test"};
	char err[512] = "";
	struct tracefs *fs = tracefs_mount(w->view, &cfg, err, sizeof(err));

	if (fs) {
		tracefs_unmount(fs);
		fail_msg("mounted on %s", dir);
	}
	if (!strstr(err, why))
		fail_msg("%s: %s", dir, err);
}

/* A directory of this test's, beside the one that is mounted. */
static void make_dir(char *dir, size_t len, const struct mounted *w, const char *name, uid_t owner)
{
	snprintf(dir, len, "%s%s", w->dir, name);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(chown(dir, owner, owner), 0);
}

/* Links and directories that somebody else can put others in place of. */
static void test_led_elsewhere(void **state)
{
	char ours[96], theirs[96], dir[256];
	struct mounted *w = *state;

	if (geteuid())
		skip();
	make_dir(ours, sizeof(ours), w, ".ours", 0);
	make_dir(theirs, sizeof(theirs), w, ".theirs", OTHER);
	expect_no_mount(w, theirs, "belongs to another user");
	snprintf(dir, sizeof(dir), "%s/new", theirs);
	expect_no_mount(w, dir, "another user can move it");
	assert_int_equal(access(dir, F_OK), -1);
	snprintf(dir, sizeof(dir), "%s.link", w->dir);
	assert_int_equal(symlink(ours, dir), 0);
	expect_no_mount(w, dir, "not a directory");
	assert_int_equal(lchown(dir, OTHER, OTHER), 0);
	snprintf(dir, sizeof(dir), "%s.link/new", w->dir);
	expect_no_mount(w, dir, "another user can move it");
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(chmod(ours, 0777), 0);
	snprintf(dir, sizeof(dir), "%s/new", ours);
	expect_no_mount(w, dir, "another user can move it");
	assert_int_equal(rmdir(ours), 0);
	assert_int_equal(rmdir(theirs), 0);
	snprintf(dir, sizeof(dir), "%s.link", w->dir);
	assert_int_equal(unlink(dir), 0);
}

/* The variable of who somebody was before he became root. */
static void test_others_runtime_dir(void **state)
{
	char theirs[96], elsewhere[96], link[128], path[128];
	struct mounted *w = *state;
	int fd;

	if (geteuid())
		skip();
	make_dir(theirs, sizeof(theirs), w, ".theirs", OTHER);
	make_dir(elsewhere, sizeof(elsewhere), w, ".elsewhere", 0);
	snprintf(link, sizeof(link), "%s/hvtrace", theirs);
	setenv("XDG_RUNTIME_DIR", theirs, 1);
	fd = runtime_dir_open(false, path, sizeof(path));
	assert_string_equal(path, "/run/hvtrace");
	assert_true(fd >= 0 || fd == -ENOENT);
	close(fd);
	assert_int_equal(access(link, F_OK), -1);

	/* One of his own, but what is in it leads elsewhere. */
	assert_int_equal(chown(theirs, 0, 0), 0);
	assert_int_equal(symlink(elsewhere, link), 0);
	assert_true(runtime_dir_open(true, path, sizeof(path)) < 0);
	expect_no_mount(w, NULL, link);
	unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(theirs), 0);
	assert_int_equal(rmdir(elsewhere), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_open_at_the_end),
		TEST(test_unmounted_by_others),
		TEST(test_stale),
		TEST(test_mounted_already),
		TEST(test_default_place),
		TEST(test_default_place_of_others),
		TEST(test_left_by_a_copy),
		TEST(test_led_elsewhere),
		TEST(test_others_runtime_dir),
	};

	return mounted_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
