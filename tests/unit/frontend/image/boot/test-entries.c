// SPDX-License-Identifier: GPL-2.0-or-later
/* test-entries.c - files of entries that are made to do harm: systemd-boot's, and syslinux's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "frontend/image/boot/boot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct boot_volume volumes[] = {{"/dev/sda1", "vfat", "AAAA-BBBB", "EFI", "", 1}};

/* All files that end so have this in them; folders have so many entries. */
static const char *ending, *text;
static unsigned int nr_entries;
static struct boot_entry e;
static char err[512];

static int64_t disk_size(void *arg, unsigned int volume, const char *path)
{
	size_t len = strlen(path), n = strlen(ending);

	(void)arg;
	(void)volume;
	return len >= n && !strcmp(path + len - n, ending) ? (int64_t)strlen(text) : -ENOENT;
}

static int disk_read(void *arg, unsigned int volume, const char *path, size_t max, struct text *to)
{
	int64_t size = disk_size(arg, volume, path);

	if (size < 0)
		return (int)size;
	if ((size_t)size > max)
		return -EFBIG;
	text_add(to, text, (size_t)size);
	return 0;
}

static int disk_list(void *arg, unsigned int volume, const char *folder, struct text *to)
{
	(void)arg;
	(void)volume;
	for (unsigned int i = 0; i < nr_entries && !strcmp(folder, "/loader/entries"); i++)
		text_printf(to, "%u.conf\n", i);
	return 0;
}

static int find(const char *files, const char *is, unsigned int entries)
{
	static const struct boot_disk_ops ops = {disk_size, disk_read, disk_list};
	const struct boot_disk disk = {&ops, NULL, volumes, 1};

	ending = files;
	text = is;
	nr_entries = entries;
	return boot_find(&disk, &e, err, sizeof(err));
}

static void fails(const char *files, const char *is, int ret, const char *why)
{
	if (find(files, is, 1) != ret || !strstr(err, why))
		fail_msg("%.200s: %s", is, err);
}

/* A text of that size: head, and as much of more as there is room for. To be freed. */
static char *long_text(const char *head, const char *more, size_t size)
{
	char *to = malloc(size + 1);
	size_t len = strlen(head), n = strlen(more);

	assert_non_null(to);
	memcpy(to, head, len);
	for (; len + n <= size; len += n)
		memcpy(to + len, more, n);
	to[len] = '\0';
	return to;
}

static void test_systemd(void **state)
{
	static const char *const keys[] = {"title ", "linux ", "initrd ", "options ", "version "};
	char *is;

	(void)state;
	assert_int_equal(find(".conf", "linux /k\noptions a\noptions b\n", 1), 0);
	assert_string_equal(e.cmdline, "a b");
	/* Those that can be kept are looked at; the newest of them is the first. */
	assert_int_equal(find(".conf", "linux /k\n", 500), 0);
	assert_string_equal(e.source.path, "/loader/entries/63.conf");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		is = long_text(keys[i], "x", 5000);
		fails(".conf", is, -EFBIG, "/loader/entries/0.conf: what stands behind '");
		free(is);
	}
	is = long_text("linux /k\n", "initrd /i\n", 200);
	fails(".conf", is, -EFBIG, "its paths are too long or too many");
	free(is);
	is = long_text("", "#", BOOT_CONFIG_MAX + 1);
	fails(".conf", is, -EFBIG, "cannot read its files");
	free(is);
	/* None is for here: then it may be another loader's, here of the same text. */
	fails(".conf", "efi /a.efi\n", -ENOENT, "extlinux.conf: it has no label");
	fails(".conf", "linux /k\narchitecture aa64\n", -ENOENT, "extlinux.conf: it has no label");
}

static void test_syslinux(void **state)
{
	char *is;

	(void)state;
	assert_int_equal(find("/extlinux.conf", "label a\nlinux k\nappend b\n", 0), 0);
	assert_string_equal(e.kernel.path, "/boot/extlinux/k");
	assert_string_equal(e.cmdline, "b");
	assert_int_equal(find("/extlinux.conf", "append a\nlabel a\nlinux /k\nappend -\n", 0), 0);
	assert_string_equal(e.cmdline, "");
	assert_int_equal(find("/extlinux.conf", "append a\nlabel a\nlinux /k\n", 0), 0);
	assert_string_equal(e.cmdline, "a");
	fails("/extlinux.conf", "default a\n", -ENOENT, "it has no label");
	fails("/extlinux.conf", "label a\n", -ENOENT, "'a', has no Linux kernel");
	fails("/extlinux.conf", "include extlinux.conf\n", -ELOOP, "it includes too many files");
	fails("/extlinux.conf", "menu include extlinux.conf\n", -ELOOP, "too many files");
	is = long_text("", "label a\n", 8 * 1000);
	fails("/extlinux.conf", is, -EFBIG, "it has too many labels");
	free(is);
	is = long_text("append ", "x", 5000);
	fails("/extlinux.conf", is, -EFBIG, "what stands behind 'append' is too long");
	free(is);
	is = long_text("label a\nkernel k\ninitrd ", "i,", 200);
	fails("/extlinux.conf", is, -EFBIG, "its initrds are too many");
	free(is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_systemd),
		cmocka_unit_test(test_syslinux),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
