// SPDX-License-Identifier: GPL-2.0-or-later
/* test-spool.c - batches come out of the spool as they were put in, the oldest first, and what is
 * no batch is put aside. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/ship/spool.h"
#include "tests/unit/remove-tree.h"

enum { BYTES = 1000, SIZE = sizeof(struct pack_head) + BYTES };

static char dir[64], folder[80], err[256];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test-spool-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(folder, sizeof(folder), "%s/spool", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return remove_tree(dir);
}

static struct spool *spool(uint64_t max)
{
	struct spool *s = spool_open(folder, max, err, sizeof(err));

	if (!s)
		fail_msg("%s", err);
	return s;
}

static int put(struct spool *s, uint32_t number)
{
	uint8_t bytes[BYTES] = {(uint8_t)number};
	struct pack p = {
		.head = {.kind = PACK_BATCH,
			 .size = 10,
			 .rows = 10,
			 .packed = BYTES,
			 .number = number},
		.bytes = bytes,
	};

	pack_seal(&p);
	return spool_put(s, &p);
}

/* The next one is this one. Its number in the spool. */
static uint64_t get(struct spool *s, uint64_t after, uint32_t number)
{
	struct pack p;
	uint64_t nr;

	assert_int_equal(spool_get(s, after, &p, &nr), 0);
	assert_int_equal(p.head.number, number);
	assert_int_equal(p.bytes[0], (uint8_t)number);
	assert_null(pack_wrong(&p));
	free(p.bytes);
	return nr;
}

static void test_order(void **state)
{
	struct spool *s = spool(100 * SIZE);
	struct pack p;
	uint64_t nr = 0;

	(void)state;
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(put(s, i), 0);
	assert_int_equal(spool_nr(s), 12);
	spool_close(s);
	s = spool(100 * SIZE);
	assert_int_equal(spool_nr(s), 12);
	for (uint32_t i = 0; i < 12; i++)
		nr = get(s, nr, i);
	assert_int_equal(spool_get(s, nr, &p, &nr), -ENOENT);
	/* What goes is gone, and what comes is the last one. */
	nr = get(s, 0, 0);
	assert_int_equal(spool_remove(s, nr), 0);
	assert_int_equal(spool_remove(s, nr), -ENOENT);
	assert_int_equal(put(s, 77), 0);
	assert_int_equal(spool_nr(s), 12);
	nr = get(s, 0, 1);
	for (uint32_t i = 2; i < 12; i++)
		nr = get(s, nr, i);
	get(s, nr, 77);
	spool_close(s);
}

static void test_full(void **state)
{
	struct spool *s = spool(3 * SIZE + 10);
	uint64_t nr;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(put(s, i), 0);
	assert_int_equal(put(s, 3), -EDQUOT);
	nr = get(s, 0, 0);
	assert_int_equal(spool_remove(s, nr), 0);
	assert_int_equal(put(s, 3), 0);
	assert_int_equal(put(s, 4), -EDQUOT);
	spool_close(s);
}

static void scribble(const char *name, size_t at, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "?", 1, (off_t)at), 1);
	if (len)
		assert_int_equal(ftruncate(fd, (off_t)len), 0);
	close(fd);
}

static void bad(struct spool *s, const char *name)
{
	char path[128];
	struct pack p;
	uint64_t nr;

	assert_int_equal(spool_get(s, 0, &p, &nr), -EBADMSG);
	assert_null(p.bytes);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(access(path, F_OK), 0);
}

static void test_bad(void **state)
{
	struct spool *s = spool(100 * SIZE);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(put(s, i), 0);
	scribble("00000000000000000001.batch", 100, 0);	       /* in its head */
	scribble("00000000000000000002.batch", SIZE - 1, 0);   /* in its bytes */
	scribble("00000000000000000003.batch", 0, SIZE - 100); /* short */
	scribble("4.batch", 0, 0);			       /* no name of one */
	bad(s, "00000000000000000001.bad");
	bad(s, "00000000000000000002.bad");
	bad(s, "00000000000000000003.bad");
	assert_int_equal(spool_nr(s), 2);
	get(s, get(s, 0, 3), 4);
	spool_close(s);
}

/* A link, or something that never ends, in its place. */
static void test_no_file(void **state)
{
	struct spool *s = spool(100 * SIZE);
	char path[128];
	struct pack p;
	uint64_t nr;

	(void)state;
	snprintf(path, sizeof(path), "%s/00000000000000000001.batch", folder);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(spool_get(s, 0, &p, &nr), -EBADMSG);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(spool_get(s, 0, &p, &nr), -EBADMSG);
	assert_int_equal(spool_get(s, 0, &p, &nr), -ENOENT);
	spool_close(s);
}

static void test_lock(void **state)
{
	struct spool *s = spool(SIZE);

	(void)state;
	assert_null(spool_open(folder, SIZE, err, sizeof(err)));
	assert_non_null(strstr(err, "another hvtrace ships from there"));
	spool_close(s);
	spool_close(spool(SIZE));
	assert_null(spool_open("/nowhere/at/all", SIZE, err, sizeof(err)));
	assert_non_null(strstr(err, "No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lock, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
