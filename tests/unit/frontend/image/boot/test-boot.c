// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-boot.c - what would be started of disks as distributions make them: tests/data/boot, a
 * folder for each, of which "expect" says what it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/frontend/image/boot/folder-disk.h"

static const char *const disks[] = {
	"debian-12", "ubuntu-22.04",	 "fedora-39",	"fedora-39-newest",
	"arch",	     "systemd-xbootldr", "alpine",	"isolinux",
	"opensuse",  "newest",		 "newest-bare",
};

static void put_file(struct text *t, const char *what, const struct boot_file *f)
{
	if (*f->path)
		text_printf(t, "%s %u %s\n", what, f->volume, f->path);
	else
		text_printf(t, "%s -\n", what);
}

static void put_entry(struct text *t, const struct boot_entry *e)
{
	text_printf(t, "loader %s\ntitle %s\n", e->loader, e->title);
	put_file(t, "source", &e->source);
	put_file(t, "kernel", &e->kernel);
	for (unsigned int i = 0; i < e->nr_initrds; i++)
		put_file(t, "initrd", &e->initrd[i]);
	text_printf(t, "cmdline %s\n", e->cmdline);
	text_putc(t, '\0');
	assert_false(t->failed);
}

static void read_expect(const char *dir, char *to, size_t size)
{
	char path[PATH_MAX];
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "%s/expect", dir);
	in = fopen(path, "re");
	assert_non_null(in);
	n = fread(to, 1, size - 1, in);
	fclose(in);
	to[n] = '\0';
}

static void open_disk(struct folder_disk *f, const char *name)
{
	char dir[PATH_MAX / 2];

	snprintf(dir, sizeof(dir), "tests/data/boot/%s", name);
	assert_true(folder_disk_open(f, dir));
}

static void test_disks(void **state)
{
	struct boot_entry *e = malloc(sizeof(*e));

	(void)state;
	assert_non_null(e);
	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
		char expect[4096], err[512];
		struct text got = {0};
		struct folder_disk f;

		open_disk(&f, disks[i]);
		read_expect(f.dir, expect, sizeof(expect));
		if (boot_find(&f.disk, e, err, sizeof(err)))
			fail_msg("%s: %s", disks[i], err);
		put_entry(&got, e);
		if (strcmp(got.buf, expect) != 0)
			fail_msg("%s:\n%s", disks[i], got.buf);
		text_free(&got);
	}
	free(e);
}

/* Of the reader, that is, whenever it comes. */
static void test_errors(void **state)
{
	struct boot_entry *e = malloc(sizeof(*e));

	(void)state;
	assert_non_null(e);
	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
		struct folder_disk f;
		char err[512];

		open_disk(&f, disks[i]);
		f.error = -ECANCELED;
		assert_int_equal(boot_find(&f.disk, e, err, sizeof(err)), -ECANCELED);
		assert_string_not_equal(err, "");
		assert_int_equal(f.asked, 1);
	}
	free(e);
}

static void test_empty(void **state)
{
	struct boot_entry *e = malloc(sizeof(*e));
	struct folder_disk f;
	char err[512];

	(void)state;
	assert_non_null(e);
	open_disk(&f, "newest");
	f.disk.nr_volumes = 0;
	assert_int_equal(boot_find(&f.disk, e, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "no configuration of a boot loader"));
	/* A kernel, but nothing for root=. */
	f.disk.nr_volumes = 1;
	assert_int_equal(boot_find(&f.disk, e, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "a root file system"));
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disks),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
