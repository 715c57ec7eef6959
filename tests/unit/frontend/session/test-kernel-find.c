// SPDX-License-Identifier: GPL-2.0-or-later
/* test-kernel-find.c - which kernel is booted where none is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/session/kernel-find.h"
#include "tests/unit/remove-tree.h"

/* A folder of its own for each test, with boot/ and, by make(), what the test wants. */
static char dir[64], boot[80];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/hvtrace-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(boot, sizeof(boot), "%s/boot", dir);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", dir, 1);
	return mkdir(boot, 0700);
}

static int tear_down(void **state)
{
	(void)state;
	return remove_tree(dir);
}

/* A file below dir, with the folders on the way to it. */
static void make(const char *path)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	for (char *p = strchr(full + strlen(dir) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fclose(f);
}

/* What is found is that file below dir, or nothing. */
static void finds(const char *expected)
{
	char *found = kernel_find_in(boot), full[256];

	if (!expected) {
		assert_null(found);
		return;
	}
	snprintf(full, sizeof(full), "%s/%s", dir, expected);
	assert_non_null(found);
	assert_string_equal(found, full);
	free(found);
}

static void newest_of_boot(void **state)
{
	(void)state;
	make("boot/vmlinuz-6.1.0-9-amd64");
	make("boot/vmlinuz-6.1.0-10-amd64");
	make("boot/vmlinuz-5.10.0-28-amd64");
	make("boot/initrd.img-6.12.0-1-amd64");
	make(".cache/hvtrace/guests/6.12/vmlinuz");
	finds("boot/vmlinuz-6.1.0-10-amd64");
}

/* Debian's kernels are anybody's to read, others' are not; root may read all that is there. */
static void unreadable_is_no_kernel(void **state)
{
	char gone[256];

	(void)state;
	make("boot/vmlinuz-6.1.0-10-amd64");
	snprintf(gone, sizeof(gone), "%s/vmlinuz-6.12.0-1-amd64", boot);
	assert_false(symlink("nowhere", gone));
	finds("boot/vmlinuz-6.1.0-10-amd64");
}

static void fetched_where_boot_has_none(void **state)
{
	(void)state;
	finds(NULL);
	make(".cache/hvtrace/guests/6.12/vmlinuz");
	finds(".cache/hvtrace/guests/6.12/vmlinuz");
	make(".cache/hvtrace/guests/6.1/vmlinuz");
	finds(".cache/hvtrace/guests/6.1/vmlinuz");
}

static void cache_that_is_named(void **state)
{
	char cache[80];

	(void)state;
	make(".cache/hvtrace/guests/6.1/vmlinuz");
	make("elsewhere/hvtrace/guests/6.12/vmlinuz");
	snprintf(cache, sizeof(cache), "%s/elsewhere", dir);
	setenv("XDG_CACHE_HOME", cache, 1);
	finds("elsewhere/hvtrace/guests/6.12/vmlinuz");
	setenv("XDG_CACHE_HOME", "", 1);
	finds(".cache/hvtrace/guests/6.1/vmlinuz");
	unsetenv("HOME");
	setenv("XDG_CACHE_HOME", boot, 1);
	finds(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(newest_of_boot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unreadable_is_no_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fetched_where_boot_has_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cache_that_is_named, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
