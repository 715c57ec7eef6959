// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-tracefs-kernel.c - the files of a mounted trace, with open, read and write: the names, the
 * texts and the errors that a real kernel gave (tests/data/tracefs-6.1). Skipped where nothing can
 * be mounted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <ftw.h>
#include <poll.h>
#include <sys/stat.h>

#include "tests/unit/tracefs-golden.h"
#include "tests/unit/tracefs-mounted.h"

/* --- what the kernel's has and says ------------------------------------------------------- */

struct listing {
	struct mounted *w;
	const char *prefix;
};

static void check_listed(void *arg, const char *path, mode_t mode)
{
	const struct listing *l = arg;
	char whole[512];
	struct stat st;
	int rc;

	snprintf(whole, sizeof(whole), "%s%s", l->prefix, path);
	rc = fstatat(l->w->at, *whole ? whole : ".", &st, 0);
	if (!mode) {
		if (!rc)
			fail_msg("%s is offered now: take it off the list of what is not", path);
		return;
	}
	if (rc)
		fail_msg("%s: %s", path, strerror(errno));
	if (st.st_mode != mode)
		fail_msg("%s has mode %o, not %o", path, st.st_mode, mode);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(st.st_uid, geteuid());
}

static void test_listing(void **state)
{
	struct listing l = {*state, ""};

	golden_each_listed("tree.txt", check_listed, &l);
}

static void test_instance_listing(void **state)
{
	struct listing l = {*state, "instances/foo/"};

	assert_int_equal(mkdirat(l.w->at, "instances/foo", 0755), 0);
	golden_each_listed("tree-instance.txt", check_listed, &l);
	assert_int_equal(unlinkat(l.w->at, "instances/foo", AT_REMOVEDIR), 0);
}

/* Debian's kernel cannot swap one CPU's buffer, and says so. */
/* --- README ------------------------------------------------------------------------------- */

static struct {
	char *text;
	const char *root;
	unsigned int files;
} readme;

/* Its line of a path, "  PATH  WHAT": placeholders are in capitals. */
static bool line_matches(const char *line, const char *path)
{
	if (strncmp(line, "  ", 2) != 0)
		return false;
	for (line += 2; *line != ' ' && *line != '\n' && *line; line++) {
		if (*line == *path) {
			path++;
			continue;
		}
		if (*line < 'A' || *line > 'Z')
			return false;
		path += strcspn(path, "/");
		while (line[1] >= 'A' && line[1] <= 'Z')
			line++;
	}
	return !*path;
}

static bool readme_has(const char *path)
{
	for (const char *line = readme.text; *line; line += strcspn(line, "\n") + 1)
		if (line_matches(line, path))
			return true;
	return false;
}

static int check_in_readme(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)at;
	path += strlen(readme.root) + 1;
	if (!strncmp(path, "instances/foo/", 14))
		path += 14;
	if (type != FTW_F)
		return 0;
	readme.files++;
	if (!readme_has(path))
		fail_msg("README does not say what %s is for", path);
	return 0;
}

static void test_readme(void **state)
{
	struct mounted *w = *state;

	readme.text = slurp(w->at, "README");
	readme.root = w->dir;
	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	assert_int_equal(nftw(w->dir, check_in_readme, 16, FTW_PHYS), 0);
	assert_true(readme.files > 150);
	assert_true(readme_has("events/sched/sched_switch/trigger"));
	assert_false(readme_has("events/sched/sched_switch/nothing"));
	assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), 0);
	free(readme.text);
}

static void check_text(void *arg, const char *path, const char *text)
{
	if (strcmp(path, "per_cpu/cpu0/snapshot") != 0)
		expect(arg, path, text);
}

static void test_defaults(void **state)
{
	assert_true(golden_each_text("", check_text, *state) > 60);
}

/* An empty write does not get past the kernel's FUSE. */
static void check_write(void *arg, const struct golden_write *w)
{
	if (w->len)
		golden_check_write(w, put_bytes(arg, w->path, golden_flags(w), w->text, w->len));
}

static void test_writes(void **state)
{
	assert_true(golden_each_write(check_write, *state) > 120);
}

/* An empty buffer is not readable for poll(2), whatever the kernel says of one with two pages. */
static bool is_few_pages(const char *path)
{
	return !strncmp(path, "per_cpu/cpu0/trace_pipe", 23);
}

static void check_read(void *arg, const struct golden_read *r)
{
	struct pollfd p = {open_file(arg, r->path, O_RDONLY | O_NONBLOCK), POLLIN, 0};
	char buf[4096];
	ssize_t n = read(p.fd, buf, r->len);

	n = n < 0 ? -errno : n;
	if (!golden_same(r->result, n))
		fail_msg("%s read(%zu) gives %zd, not %s", r->path, r->len, n, r->result);
	n = lseek(p.fd, 0, SEEK_SET);
	if (r->seeks ? n != 0 : n != -1 || errno != ESPIPE)
		fail_msg("%s: lseek gives %zd", r->path, n);
	if (poll(&p, 1, 0) != (r->ready && !is_few_pages(r->path)))
		fail_msg("%s: poll says %x", r->path, p.revents);
	close(p.fd);
}

/* As the kernel was then: off, with a snapshot that holds nothing. */
static void test_reads(void **state)
{
	assert_int_equal(put(*state, "tracing_on", "0"), 1);
	assert_int_equal(put(*state, "snapshot", "1"), 1);
	assert_true(golden_each_read(check_read, *state) > 12);
}

static void test_long_writes(void **state)
{
	static const struct {
		const char *path;
		size_t len;
		ssize_t result;
	} cases[] = {
		{"current_tracer", 200, -EINVAL},   {"tracing_on", 100, -EINVAL},
		{"set_ftrace_filter", 300, 300},    {"trace_options", 80, -EINVAL},
		{"buffer_size_kb", 70, -EINVAL},    {"trace_clock", 80, -EINVAL},
		{"tracing_cpumask", 3000, -EINVAL}, {"trace_marker", 3000, 1024},
		{"trace_marker_raw", 3000, 1024},   {"trace_marker_raw", 4000, -EINVAL},
	};
	char text[4000];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ssize_t n = put_bytes(*state, cases[i].path, O_TRUNC, text, cases[i].len);

		if (n != cases[i].result)
			fail_msg("%s, %zu bytes: %zd", cases[i].path, cases[i].len, n);
	}
}

/* --- names that cannot be ----------------------------------------------------------------- */

static void test_names(void **state)
{
	struct mounted *w = *state;

	assert_int_equal(openat(w->at, "nosuch", O_WRONLY | O_CREAT, 0644), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(openat(w->at, "nosuch", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(unlinkat(w->at, "README", 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(mkdirat(w->at, "foo", 0755), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(unlinkat(w->at, "instances", AT_REMOVEDIR), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(mkdirat(w->at, "instances/foo/bar", 0755), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(unlinkat(w->at, "instances/foo/per_cpu", AT_REMOVEDIR), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), 0);
	assert_int_equal(faccessat(w->at, "instances/foo", F_OK, 0), -1);
}

/* What was seen of the kernel's: 666 and 1:1, with nothing but that changed, and kept. */
static void test_chmod(void **state)
{
	struct mounted *w = *state;
	struct stat st;

	assert_int_equal(fchmodat(w->at, "tracing_on", 0666, 0), 0);
	assert_int_equal(fchmodat(w->at, "options", 0700, 0), 0);
	if (!geteuid())
		assert_int_equal(fchownat(w->at, "tracing_on", 1, 1, 0), 0);
	assert_int_equal(put(w, "tracing_on", "1"), 1);
	assert_int_equal(fstatat(w->at, "tracing_on", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0666);
	assert_int_equal(st.st_uid, geteuid() ? geteuid() : 1);
	assert_int_equal(st.st_gid, geteuid() ? getegid() : 1);
	assert_int_equal(fstatat(w->at, "options", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
}

/* close(2) does what it does before anything that is asked for later. */
static void test_close(void **state)
{
	struct mounted *w = *state;

	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	for (int i = 0; i < 200; i++) {
		int fd = open_file(w, "set_ftrace_filter", O_WRONLY | O_TRUNC), copy = dup(fd);

		/* As a shell does it: the descriptor that was opened is closed before the write. */
		close(fd);
		expect(w, "set_ftrace_filter",
		       i ? "vfs_read\n" : "#### all functions enabled ####\n");
		assert_int_equal(write(copy, "vfs_read\n", 9), 9);
		close(copy);
		expect(w, "set_ftrace_filter", "vfs_read\n");

		close(open_file(w, "trace_pipe", O_RDONLY));
		close(open_file(w, "instances/foo/trace", O_RDONLY));
		assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), 0);
		assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	}
	close(open_file(w, "set_ftrace_filter", O_WRONLY | O_TRUNC));
	expect(w, "set_ftrace_filter", "#### all functions enabled ####\n");
}

static void test_busy(void **state)
{
	struct mounted *w = *state;
	int fd;

	assert_int_equal(mkdirat(w->at, "instances/foo", 0755), 0);
	fd = open_file(w, "instances/foo/tracing_on", O_RDONLY);
	assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), -1);
	assert_int_equal(errno, EBUSY);
	close(fd);
	assert_int_equal(unlinkat(w->at, "instances/foo", AT_REMOVEDIR), 0);

	fd = open_file(w, "trace_pipe", O_RDONLY | O_NONBLOCK);
	assert_int_equal(openat(w->at, "trace_pipe", O_RDWR | O_TRUNC), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(put(w, "current_tracer", "function"), -EBUSY);
	assert_int_equal(lseek(fd, 0, SEEK_SET), -1);
	assert_int_equal(errno, ESPIPE);
	close(fd);
	assert_int_equal(put(w, "current_tracer", "function"), 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_listing),	TEST(test_instance_listing),
		TEST(test_readme),	TEST(test_defaults),
		TEST(test_writes),	TEST(test_reads),
		TEST(test_long_writes), TEST(test_names),
		TEST(test_chmod),	TEST(test_close),
		TEST(test_busy),
	};

	return mounted_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
