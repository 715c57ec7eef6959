// SPDX-License-Identifier: GPL-2.0-or-later
/* test-keep.c - which recordings stay on the disk, in folders of the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "frontend/serve/keep.h"
#include "tests/unit/remove-tree.h"

#define KB 1024

static char state[64];

static int set_up(void **unused)
{
	(void)unused;
	strcpy(state, "/tmp/hvkeep.XXXXXX");
	return mkdtemp(state) ? 0 : -1;
}

static int tear_down(void **unused)
{
	(void)unused;
	return remove_tree(state);
}

static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", state, name);
	return path;
}

/* Of so many KB, and as old. */
static int make(const char *name, size_t kb, time_t age_s)
{
	const struct timespec times[2] = {{time(NULL) - age_s, 0}, {time(NULL) - age_s, 0}};
	char folder[256], data[KB];
	int fd;

	snprintf(folder, sizeof(folder), "%s", path_of(name));
	*strrchr(folder, '/') = '\0';
	assert_true(!mkdir(folder, 0755) || errno == EEXIST);
	fd = open(path_of(name), O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	memset(data, 'x', sizeof(data));
	for (size_t i = 0; i < kb; i++)
		assert_int_equal(write(fd, data, sizeof(data)), sizeof(data));
	assert_int_equal(futimens(fd, times), 0);
	return fd;
}

static void made(const char *name, size_t kb, time_t age_s)
{
	close(make(name, kb, age_s));
}

static bool is_there(const char *name)
{
	struct stat st;

	return !lstat(path_of(name), &st);
}

/* What comes of each limit, of which there are two at most. */
static struct keep_result result[2];

/* Of the last one, which is for all. */
static struct keep_result within(const struct keep_limit *limits, size_t nr)
{
	assert_int_equal(keep_within(state, limits, nr, result), 0);
	return result[nr - 1];
}

static uint64_t removed(const struct keep_result *r)
{
	return r->removed[KEEP_FOR_DISK] + r->removed[KEEP_FOR_AGE];
}

/* --- limits ----------------------------------------------------------------------------------- */

static void test_oldest_goes(void **unused)
{
	const struct keep_limit all = {.bytes = 20 * KB};
	struct keep_result r;

	(void)unused;
	made("a/calls.1.dat", 8, 300);
	made("b/other.1.dat", 8, 200);
	made("a/calls.2.dat", 8, 100);
	r = within(&all, 1);
	assert_false(is_there("a/calls.1.dat"));
	assert_true(is_there("b/other.1.dat"));
	assert_true(is_there("a/calls.2.dat"));
	assert_int_equal(r.files, 2);
	assert_int_equal(r.removed[KEEP_FOR_DISK], 1);
	assert_int_equal(r.removed[KEEP_FOR_AGE], 0);
	assert_true(r.bytes >= 16 * KB && r.bytes <= 20 * KB);
	r = within(&all, 1);
	assert_int_equal(removed(&r), 0);
}

static void test_of_rule(void **unused)
{
	const struct keep_limit limits[] = {{.rule = "calls", .bytes = 10 * KB}, {.bytes = 0}};

	(void)unused;
	made("a/calls.1.dat", 8, 300);
	made("a/calls-2.1.dat", 8, 900);
	made("b/calls.1.dat", 8, 200);
	within(limits, 2);
	assert_false(is_there("a/calls.1.dat"));
	assert_true(is_there("a/calls-2.1.dat"));
	assert_true(is_there("b/calls.1.dat"));
	assert_int_equal(result[0].files, 1);
	assert_true(result[0].bytes >= 8 * KB && result[0].bytes <= 10 * KB);
	assert_int_equal(result[0].removed[KEEP_FOR_DISK], 1);
	assert_int_equal(result[1].files, 2);
	assert_int_equal(removed(&result[1]), 1);
}

static void test_age(void **unused)
{
	const struct keep_limit limits[] = {{.rule = "calls", .age_s = 1000}, {.bytes = 0}};

	(void)unused;
	made("a/calls.1.dat", 1, 2000);
	made("a/calls.2.dat", 1, 500);
	made("a/other.1.dat", 1, 2000);
	within(limits, 2);
	assert_false(is_there("a/calls.1.dat"));
	assert_true(is_there("a/calls.2.dat"));
	assert_true(is_there("a/other.1.dat"));
	assert_int_equal(result[0].removed[KEEP_FOR_AGE], 1);
	assert_int_equal(result[0].removed[KEEP_FOR_DISK], 0);
}

/* One that has to go for the sake of all is its rule's, too. */
static void test_of_all(void **unused)
{
	const struct keep_limit limits[] = {{.rule = "calls", .bytes = 100 * KB},
					    {.bytes = 10 * KB}};

	(void)unused;
	made("a/calls.1.dat", 8, 300);
	made("a/gone.1.dat", 8, 400);
	made("b/calls.2.dat", 8, 200);
	within(limits, 2);
	assert_int_equal(result[0].removed[KEEP_FOR_DISK], 1);
	assert_int_equal(result[0].files, 1);
	assert_int_equal(result[1].removed[KEEP_FOR_DISK], 2);
	assert_int_equal(result[1].files, 1);
}

/* What is recorded to stays, and what is younger goes in its place. */
static void test_locked(void **unused)
{
	const struct keep_limit all = {.bytes = 10 * KB};
	int fd;

	(void)unused;
	fd = make("a/calls.1.dat", 8, 300);
	made("a/calls.2.dat", 8, 100);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	within(&all, 1);
	assert_true(is_there("a/calls.1.dat"));
	assert_false(is_there("a/calls.2.dat"));
	close(fd);
}

/* Links lead elsewhere, and what has other names is somebody else's. */
static void test_others(void **unused)
{
	const struct keep_limit all = {.bytes = 1};

	(void)unused;
	made("elsewhere/calls.1.dat", 8, 300);
	assert_int_equal(mkdir(path_of("state"), 0755), 0);
	strcat(state, "/state");
	made("a/notes.txt", 8, 300);
	made("a/.dat", 8, 300);
	made(".rounds/calls.1.dat", 8, 300);
	assert_int_equal(symlink("../elsewhere", path_of("linked")), 0);
	assert_int_equal(symlink("../../elsewhere/calls.1.dat", path_of("a/calls.1.dat")), 0);
	assert_int_equal(mkfifo(path_of("a/calls.2.dat"), 0600), 0);
	assert_int_equal(mkdir(path_of("a/calls.3.dat"), 0700), 0);
	within(&all, 1);
	assert_int_equal(removed(&result[0]), 0);
	assert_true(is_there("a/notes.txt") && is_there("a/.dat") && is_there("a/calls.1.dat"));
	assert_true(is_there(".rounds/calls.1.dat"));
	*strrchr(state, '/') = '\0';
	assert_true(is_there("elsewhere/calls.1.dat"));
}

static void test_no_state(void **unused)
{
	const struct keep_limit all = {.bytes = 1};

	(void)unused;
	result[0].files = 7;
	assert_int_equal(keep_within(path_of("none"), &all, 1, result), -ENOENT);
	assert_int_equal(result[0].files, 0);
	assert_int_equal(keep_find_unfinished(path_of("none"), NULL, NULL), -ENOENT);
}

/* --- what was left unfinished -------------------------------------------------------------------
 */

static void note(void *arg, const char *path)
{
	char *all = arg;

	strcat(strcat(all, path + strlen(state)), " ");
}

static void test_unfinished(void **unused)
{
	char all[512] = "";
	int fd;

	(void)unused;
	made("a/calls.1.dat", 1, 0);
	made("a/calls.2.dat", 1, 0);
	made("a/calls.2.dat.part", 0, 0);
	fd = make("a/calls.3.dat.part", 1, 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(symlink("calls.2.dat.part", path_of("a/calls.4.dat.part")), 0);
	assert_int_equal(keep_find_unfinished(state, note, all), 0);
	assert_string_equal(all, "/a/calls.2.dat ");
	close(fd);
}

/* Of one that was killed as it began nothing is left; one that begins has its file. */
static void test_nothing_recorded(void **unused)
{
	char all[512] = "";
	int fd;

	(void)unused;
	made("a/calls.1.dat", 0, 0);
	made("a/calls.1.dat.part", 0, 0);
	made("a/calls.2.dat.part", 0, 0);
	fd = make("a/calls.3.dat", 0, 0);
	made("a/calls.3.dat.part", 0, 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(keep_find_unfinished(state, note, all), 0);
	assert_string_equal(all, "");
	assert_false(is_there("a/calls.1.dat") || is_there("a/calls.1.dat.part"));
	assert_false(is_there("a/calls.2.dat.part"));
	assert_true(is_there("a/calls.3.dat") && is_there("a/calls.3.dat.part"));
	close(fd);
}

/* --- names -------------------------------------------------------------------------------------
 */

static void is_safe(const char *name, const char *expected)
{
	char to[32];

	keep_safe_name(to, sizeof(to), name);
	if (expected)
		assert_string_equal(to, expected);
	assert_null(strchr(to, '/'));
	assert_true(*to && *to != '.');
}

static void test_names(void **unused)
{
	char one[32], two[32];

	(void)unused;
	is_safe("web-1.example+a:b@c_d", "web-1.example+a:b@c_d");
	is_safe("", NULL);
	is_safe(".", NULL);
	is_safe("..", NULL);
	is_safe("../../etc", NULL);
	is_safe("a/b", NULL);
	is_safe("\x1b[31m\n", NULL);
	is_safe("\xff\xfe", NULL);
	keep_safe_name(one, sizeof(one), "a/b");
	keep_safe_name(two, sizeof(two), "a b");
	assert_string_not_equal(one, two);
	keep_safe_name(one, sizeof(one), "a name that is longer than there is room for 1");
	keep_safe_name(two, sizeof(two), "a name that is longer than there is room for 2");
	assert_string_not_equal(one, two);
	assert_true(strlen(one) < sizeof(one));
}

static void test_path(void **unused)
{
	char path[KEEP_PATH_LEN], *longer = calloc(1, KEEP_PATH_LEN);
	struct stat st;

	(void)unused;
	assert_int_equal(keep_name(path, state, "../up", "calls"), 0);
	assert_int_equal(strncmp(path, state, strlen(state)), 0);
	assert_null(strstr(path, "/.."));
	assert_non_null(strstr(path, "/calls."));
	assert_string_equal(path + strlen(path) - 5, "Z.dat");
	*strrchr(path, '/') = '\0';
	assert_true(!stat(path, &st) && S_ISDIR(st.st_mode));
	assert_int_equal(keep_name(path, path_of("none"), "a", "calls"), -ENOENT);
	assert_non_null(longer);
	memset(longer, 'x', KEEP_PATH_LEN - 1);
	assert_int_equal(keep_name(path, longer, "a", "calls"), -ENAMETOOLONG);
	free(longer);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_oldest_goes), TEST(test_of_rule),    TEST(test_age),
		TEST(test_of_all),	TEST(test_locked),     TEST(test_others),
		TEST(test_no_state),	TEST(test_unfinished), TEST(test_nothing_recorded),
		TEST(test_names),	TEST(test_path),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
