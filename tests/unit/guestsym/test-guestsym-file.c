// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-file.c - images that others write to while they are read, and afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"
#include "tests/unit/terminal.h"

static char path[64], err[256];
static uint8_t *elf;
static size_t elf_len;

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

static void write_file(void)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(elf, 1, elf_len, f), elf_len);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	static struct made_image m;
	int fd;

	(void)state;
	made_init(&m);
	elf = made_kernel(&m, MADE_DEBIAN, &elf_len);
	snprintf(path, sizeof(path), "/tmp/hvtrace-image-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	write_file();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	meanwhile = NULL;
	free(elf);
	return unlink(path);
}

/* What was read stays, whatever becomes of the file. */
static void test_taken_away(void **state)
{
	struct guestsym *gs = guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, err, sizeof(err));
	char banner[14];

	(void)state;
	if (!gs)
		fail_msg("%s", err);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(guestsym_read(gs, MADE_BASE + MADE_TEXT, banner, 14), 0);
	assert_memory_equal(banner, MADE_BANNER, 14);
	guestsym_close(gs);
}

static void cut(void)
{
	assert_int_equal(truncate(path, (off_t)elf_len / 4), 0);
}

static void grow(void)
{
	assert_int_equal(truncate(path, (off_t)elf_len + 1), 0);
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

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		write_file();
		meanwhile = changes[i];
		assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
		assert_non_null(strstr(err, ": changes while it is read; try again"));
		meanwhile = NULL;
	}
}

/* Of holes, which take no room. */
static void test_too_large(void **state)
{
	(void)state;
	assert_int_equal(truncate(path, INT64_C(3) << 30), 0);
	assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
	assert_non_null(strstr(err, ": has more than the 2048 MB that are read of a kernel"));
}

static void expect_no_file(const char *why)
{
	assert_null(guestsym_open(NULL, path, GUESTSYM_FL_NOCACHE, err, sizeof(err)));
	if (!strstr(err, why))
		fail_msg("%s", err);
}

/*
 * Who owns what names a kernel may put a link to anything there: a device is not opened, which does
 * something to some of them, and nobody waits at a FIFO.
 */
static void test_no_file(void **state)
{
	struct terminal terminal;

	(void)state;
	terminal_open(&terminal);
	assert_int_equal(unlink(path), 0);
	expect_no_file("No such file");
	assert_int_equal(symlink(terminal.path, path), 0);
	expect_no_file("is no regular file");
	assert_false(terminal_was_opened(&terminal));
	close(open(path, O_RDONLY | O_NOCTTY));
	assert_true(terminal_was_opened(&terminal));
	terminal_close(&terminal);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_no_file("is no regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/tmp", path), 0);
	expect_no_file("directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_taken_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_large, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_file, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("guestsym-file", tests, NULL, NULL);
}
