// SPDX-License-Identifier: GPL-2.0-or-later
/* test-overlay.c - the archive that a guest starts from, and the words that have it do so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "frontend/exec/overlay.h"
#include "frontend/lib/cpio.h"

/* A header of the archive: 6 bytes of magic, 13 fields of 8 hex digits. */
enum { FIELD_MODE = 1, FIELD_SIZE = 6, FIELD_MAJOR = 9, FIELD_MINOR = 10, FIELD_NAME = 11 };
#define HEAD 110

static unsigned long field(const char *head, unsigned int i)
{
	char digits[9] = "";

	memcpy(digits, head + 6 + (size_t)i * 8, 8);
	return strtoul(digits, NULL, 16);
}

static size_t up_to_4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The entry of this name, found as kernels do; NULL: there is none. *data: what is in it */
static const char *entry(const char *archive, size_t len, const char *name, const char **data)
{
	size_t at = 0;

	while (at + HEAD <= len) {
		const char *head = archive + at;
		size_t body;

		assert_memory_equal(head, "070701", 6);
		body = up_to_4(at + HEAD + field(head, FIELD_NAME));
		assert_true(body <= len && field(head, FIELD_SIZE) <= len - body);
		*data = archive + body;
		if (!strcmp(head + HEAD, name))
			return head;
		at = up_to_4(body + field(head, FIELD_SIZE));
	}
	assert_int_equal(at, len);
	return NULL;
}

static void test_archive(void **state)
{
	size_t len;
	char *archive = overlay_make("quiet", &len);
	const char *head, *data;

	(void)state;
	assert_non_null(archive);
	assert_int_equal(len % 4, 0);
	head = entry(archive, len, "hvtrace/init", &data);
	assert_non_null(head);
	assert_int_equal(field(head, FIELD_MODE), S_IFREG | 0700);
	assert_memory_equal(data, "\177ELF", 4);
	assert_true(field(head, FIELD_SIZE) < 65536);
	head = entry(archive, len, "hvtrace/port", &data);
	assert_int_equal(field(head, FIELD_MODE), S_IFCHR | 0600);
	assert_int_equal(field(head, FIELD_MAJOR), 4);
	assert_int_equal(field(head, FIELD_MINOR), 65);
	assert_int_equal(field(entry(archive, len, "hvtrace", &data), FIELD_MODE), S_IFDIR | 0700);
	assert_non_null(entry(archive, len, "TRAILER!!!", &data));
	assert_null(entry(archive, len, "init", &data));
	free(archive);
}

static void test_padding(void **state)
{
	(void)state;
	for (size_t n = 0; n < 9; n++) {
		const struct cpio_entry entries[] = {
			{.name = "abcdefgh" + n,
			 .mode = S_IFREG | 0600,
			 .data = "12345678",
			 .size = n},
			{.name = "d", .mode = S_IFDIR | 0700},
		};
		const char *head, *data;
		size_t len;
		char *archive = cpio_make(entries, 2, &len);

		assert_non_null(archive);
		head = entry(archive, len, entries[0].name, &data);
		assert_int_equal(field(head, FIELD_SIZE), n);
		assert_memory_equal(data, "12345678", n);
		assert_non_null(entry(archive, len, "d", &data));
		free(archive);
	}
}

static void goes_on_as(const char *words, const char *init)
{
	size_t len;
	char *archive = overlay_make(words, &len);
	const char *data, *head = entry(archive, len, "hvtrace/next", &data);

	assert_int_equal(field(head, FIELD_MODE), S_IFLNK | 0777);
	assert_int_equal(field(head, FIELD_SIZE), strlen(init));
	assert_memory_equal(data, init, strlen(init));
	free(archive);
}

static void test_next(void **state)
{
	(void)state;
	goes_on_as("", "/init");
	goes_on_as("quiet rdinit=/bin/sh", "/bin/sh");
	goes_on_as("rdinit=/a rdinit=/bin/b  x", "/bin/b");
	goes_on_as("hv.run=\"a rdinit=/no\" rdinit=", "/init");
	goes_on_as("x -- rdinit=/no", "/init");
	goes_on_as("nordinit=/no", "/init");
}

static void become(const char *words, const char *expected)
{
	char *all = overlay_words(words);

	assert_string_equal(all, expected);
	free(all);
}

/* The last that is named is the one that the kernel takes; behind -- it would be init's own. */
static void test_words(void **state)
{
	(void)state;
	become("", " rdinit=/hvtrace/init");
	become("quiet rdinit=/bin/sh", "quiet rdinit=/bin/sh rdinit=/hvtrace/init");
	become("a -- b c", "a  rdinit=/hvtrace/init -- b c");
	become("a=\"b -- c\" d", "a=\"b -- c\" d rdinit=/hvtrace/init");
	become("--", " rdinit=/hvtrace/init --");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
