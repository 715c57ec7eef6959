// SPDX-License-Identifier: GPL-2.0-or-later
/* test-memory.c - how much memory is left, as files of /proc and of control groups say it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/lib/memory.h"

struct world {
	char dir[64];
	char *made[16]; /* to be removed, the last one first */
	unsigned int nr;
};

static const char *path_of(struct world *w, const char *name)
{
	assert_true(w->nr < 16);
	assert_true(asprintf(&w->made[w->nr], "%s/%s", w->dir, name) > 0);
	return w->made[w->nr++];
}

static void put_dir(struct world *w, const char *name)
{
	assert_int_equal(mkdir(path_of(w, name), 0700), 0);
}

static void put_file(struct world *w, const char *name, const char *text)
{
	FILE *f = fopen(path_of(w, name), "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	strcpy(w->dir, "/tmp/test-memory-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	put_dir(w, "self");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	while (w->nr) {
		assert_int_equal(remove(w->made[--w->nr]), 0);
		free(w->made[w->nr]);
	}
	assert_int_equal(rmdir(w->dir), 0);
	free(w);
	return 0;
}

static uint64_t left(struct world *w)
{
	struct memory_files *f = memory_open(w->dir, w->dir);
	uint64_t bytes;

	assert_non_null(f);
	bytes = memory_left(f);
	memory_close(f);
	return bytes;
}

static void put_meminfo(struct world *w)
{
	put_file(w, "meminfo",
		 "MemTotal:       4000 kB\nMemFree:         500 kB\nMemAvailable:    2000 kB\n");
}

static void test_nothing_known(void **state)
{
	assert_true(left(*state) == UINT64_MAX);
}

static void test_available(void **state)
{
	put_meminfo(*state);
	assert_int_equal(left(*state), 2000 << 10);
}

/* Neither version 1, nor a group without a limit, nor one without files. */
static void test_no_limit(void **state)
{
	struct world *w = *state;

	put_meminfo(w);
	put_file(w, "self/cgroup", "4:memory:/a\n0::/a/b\n");
	put_dir(w, "a");
	put_file(w, "a/memory.max", "max\n");
	put_file(w, "a/memory.current", "5000000\n");
	assert_int_equal(left(w), 2000 << 10);
}

static void test_limits(void **state)
{
	struct world *w = *state;

	put_meminfo(w);
	put_file(w, "self/cgroup", "0::/a/b\n");
	put_dir(w, "a");
	put_dir(w, "a/b");
	put_file(w, "a/b/memory.max", "1500000\n");
	put_file(w, "a/b/memory.current", "600000\n");
	assert_int_equal(left(w), 900000);
	/* The group above it has less, but can give its files back. */
	put_file(w, "a/memory.max", "1000000\n");
	put_file(w, "a/memory.current", "990000\n");
	assert_int_equal(left(w), 10000);
	put_file(w, "a/memory.stat", "anon 1\nfile 700000\ninactive_file 500000\n");
	assert_int_equal(left(w), 510000);
}

static void test_over_the_limit(void **state)
{
	struct world *w = *state;

	put_file(w, "self/cgroup", "0::/\n");
	put_file(w, "memory.max", "1000\n");
	put_file(w, "memory.current", "2000\n");
	assert_int_equal(left(w), 0);
}

static void test_this_host(void **state)
{
	struct memory_files *f = memory_open("/proc", "/sys/fs/cgroup");

	(void)state;
	assert_non_null(f);
	assert_true(memory_holds(f, 4096));
	assert_false(memory_holds(f, UINT64_MAX));
	memory_close(f);
	assert_true(memory_holds(NULL, UINT64_MAX));
}

/* What they say now, not what they said when they were opened. */
static void test_files_change(void **state)
{
	struct world *w = *state;
	struct memory_files *f;
	FILE *meminfo;

	put_meminfo(w);
	f = memory_open(w->dir, w->dir);
	assert_non_null(f);
	assert_int_equal(memory_left(f), 2000 << 10);
	meminfo = fopen(w->made[w->nr - 1], "we");
	assert_non_null(meminfo);
	fputs("MemAvailable: 70 kB\n", meminfo);
	assert_int_equal(fclose(meminfo), 0);
	assert_int_equal(memory_left(f), 70 << 10);
	memory_close(f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_nothing_known), TEST(test_available),	     TEST(test_no_limit),
		TEST(test_limits),	  TEST(test_over_the_limit), TEST(test_this_host),
		TEST(test_files_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
