// SPDX-License-Identifier: GPL-2.0-or-later
/* test-file.c - files that others write to while they are read, and afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontend/lib/file.h"
#include "tests/unit/terminal.h"

#define SIZE 10000

static char path[64];

/* What happens to the file once a part of it has been read. */
static void (*meanwhile)(void);

/* In place of the library's: half of what is wanted at a time. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): reserved ones there */
ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
	ssize_t n = syscall(SYS_pread64, fd, buf, len > 1 ? len / 2 : len, off);

	if (meanwhile && off == 0)
		meanwhile();
	return n;
}

static void write_file(size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < len; i++)
		fputc((int)('a' + i % 26), f);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/hvtrace-file-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	write_file(SIZE);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	meanwhile = NULL;
	return unlink(path);
}

static void test_whole(void **state)
{
	struct file_bytes f;
	const char *p;

	(void)state;
	assert_int_equal(file_read(&f, path), 0);
	assert_int_equal(f.len, SIZE);
	/* Nobody who has it open can take it away. */
	assert_int_equal(truncate(path, 0), 0);
	p = f.data;
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(p[i], 'a' + i % 26);
	file_free(&f);
	assert_int_equal(file_read(&f, path), 0);
	assert_null(f.data);
	file_free(&f);
}

static void cut(void)
{
	assert_int_equal(truncate(path, SIZE / 2), 0);
}

static void grow(void)
{
	assert_int_equal(truncate(path, SIZE + 1), 0);
}

/* Of the same size: its time tells. */
static void change(void)
{
	const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_changes(void **state)
{
	void (*const changes[])(void) = {cut, grow, change};
	struct file_bytes f;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		write_file(SIZE);
		meanwhile = changes[i];
		assert_int_equal(file_read(&f, path), -ESTALE);
		assert_null(f.data);
		meanwhile = NULL;
	}
	assert_non_null(strstr(file_strerror(-ESTALE), "changes while it is read"));
}

static void test_no_file(void **state)
{
	struct file_bytes f;

	(void)state;
	assert_int_equal(file_read(&f, "/tmp"), -EISDIR);
	assert_int_equal(file_read(&f, "/dev/null"), -EINVAL);
	assert_int_equal(file_read(&f, "/tmp/no/such/file"), -ENOENT);
	/* Of holes, which take no room. */
	assert_int_equal(truncate(path, INT64_C(5) << 30), 0);
	assert_int_equal(file_read(&f, path), -EFBIG);
	assert_null(f.data);
}

/* What is no file is not opened: that does something to some devices. */
static void test_device(void **state)
{
	struct terminal terminal;
	struct file_bytes f;

	(void)state;
	terminal_open(&terminal);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(terminal.path, path), 0);
	assert_int_equal(file_read(&f, path), -EINVAL);
	assert_false(terminal_was_opened(&terminal));
	close(open(path, O_RDONLY | O_NOCTTY));
	assert_true(terminal_was_opened(&terminal));
	terminal_close(&terminal);
}

static void test_closed(void **state)
{
	char dir[] = "/tmp/test-file-XXXXXX", file[64], closed[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_true(file_closed_to_others(file, closed, sizeof(closed)));
	assert_string_equal(closed, dir);
	assert_int_equal(chmod(dir, 0711), 0);
	assert_true(file_closed_to_others(file, closed, sizeof(closed)));
	assert_string_equal(closed, file);
	assert_int_equal(chmod(file, 0644), 0);
	assert_false(file_closed_to_others(file, closed, sizeof(closed)));
	unlink(file);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_device, set_up, tear_down),
		cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
