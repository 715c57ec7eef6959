// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-func-filter.c - set_ftrace_filter and its like as files: what writes return, what is read,
 * and when it takes effect. What a real kernel answers is in the tests as it was captured there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/unit/fake-funcs.h"

#define ALL  "#### all functions enabled ####\n"
#define NONE "#### no functions disabled ####\n"

static int set_up(void **state)
{
	*state = fake_owner_new();
	return 0;
}

static int tear_down(void **state)
{
	fake_owner_free(*state);
	return 0;
}

static void expect_kind(struct fake_owner *o, enum func_file_kind kind, const char *want)
{
	char *text = fake_read(o, kind);

	assert_string_equal(text, want);
	free(text);
}

static void expect(struct fake_owner *o, const char *want)
{
	expect_kind(o, FUNC_FILTER, want);
}

static struct func_file *open_file(struct fake_owner *o, enum func_file_kind kind, int flags)
{
	struct func_file *file;

	assert_int_equal(func_file_open(o->filter, kind, flags, &file), 0);
	return file;
}

static ssize_t put(struct func_file *file, const char *text)
{
	return func_file_write(file, text, strlen(text));
}

static void test_one_write(void **state)
{
	static const struct {
		const char *text;
		ssize_t done;
		const char *reads;
	} cases[] = {
		{"vfs_read", 8, "vfs_read\n"},
		{"vfs_read\n", 9, "vfs_read\n"},
		{"vfs_read vfs_write", 9, "vfs_read\n"},
		{"vfs_*", 5, "vfs_read\nvfs_write\nvfs_open\n"},
		{"*_read", 6, "vfs_read\next4_read [ext4]\n"},
		{"vfs_*r*d", 8, "vfs_read\n"},
		{"", 0, ALL},
		{"\n", 1, ALL},
		{" \t\v\f\r\xa0\n", 7, ALL},
		{"nosuchfunc", 10, ALL}, /* found out when the file is closed */
		{"nosuchfunc\n", -EINVAL, ALL},
		{"vfs_read nosuch\n", 9, "vfs_read\n"},
		{"nosuch vfs_read\n", -EINVAL, ALL},
		{" vfs_read  vfs_write ", 10, "vfs_read\n"},
		{"vfs_r?ad", 8, "vfs_read\n"},
		{"vfs_r[ea]ad", 11, "vfs_read\n"},
		{"!vfs_read", 9, ALL},
		{"!vfs_read\n", 10, ALL},
		{"!nosuch\n", -EINVAL, ALL},
		{"5", 1, "schedule\n"},
		{"0", 1, ALL},
		{"0\n", -EINVAL, ALL},
		{"99999999\n", -EINVAL, ALL},
		{"1\n", 2, "__traceiter_initcall_level\n"},
		{"vfs_read\nvfs_write", 9, "vfs_read\n"},
		{"a b", -EINVAL, ALL},
		{"!\n", -EINVAL, ALL},
	};
	struct fake_owner *o = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ssize_t done = fake_write(o, FUNC_FILTER, O_TRUNC, cases[i].text);

		if (done != cases[i].done)
			fail_msg("'%s': %zd", cases[i].text, done);
		expect(o, cases[i].reads);
	}
}

/* As echo(1) and the C library do it: again with what is left, until all is written. */
static ssize_t put_all(struct func_file *file, const char *text)
{
	while (*text) {
		ssize_t done = put(file, text);

		if (done < 0)
			return done;
		text += done;
	}
	return 0;
}

static void test_effect_at_close(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file = open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC);

	assert_int_equal(put_all(file, "vfs_read schedule\n"), 0);
	assert_int_equal(o->applied, 0);
	expect(o, ALL);
	func_file_close(file);
	assert_int_equal(o->applied, 1);
	assert_string_equal(o->traced, "..x.x...");
	expect(o, "vfs_read\nschedule\n");

	file = open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC); /* nor does truncating */
	expect(o, "vfs_read\nschedule\n");
	func_file_close(file);
	assert_string_equal(o->traced, "xxxxxxxx");
	expect(o, ALL);
	assert_int_equal(o->applied, 2);
	func_file_close(open_file(o, FUNC_FILTER, O_RDONLY | O_TRUNC));
	assert_int_equal(o->applied, 2);
}

static void test_append_and_remove(void **state)
{
	struct fake_owner *o = *state;

	fake_write(o, FUNC_FILTER, O_TRUNC, "vfs_*\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "schedule\n"), 9);
	expect(o, "vfs_read\nvfs_write\nschedule\nvfs_open\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "!vfs_read"), 9);
	expect(o, "vfs_write\nschedule\nvfs_open\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "!*\n"), 3);
	expect(o, ALL);
	assert_string_equal(o->traced, "xxxxxxxx");
}

static void test_notrace(void **state)
{
	struct fake_owner *o = *state;

	expect_kind(o, FUNC_NOTRACE, NONE);
	assert_int_equal(fake_write(o, FUNC_NOTRACE, O_TRUNC, "nosuch\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_NOTRACE, O_TRUNC, "vfs_*\n"), 6);
	expect_kind(o, FUNC_NOTRACE, "vfs_read\nvfs_write\nvfs_open\n");
	assert_string_equal(o->traced, "xx..x.xx");
	fake_write(o, FUNC_FILTER, O_TRUNC, "*_read\n");
	assert_string_equal(o->traced, "......x.");
	assert_int_equal(fake_write(o, FUNC_NOTRACE, O_APPEND, "schedule:traceoff\n"), -EINVAL);
	fake_write(o, FUNC_NOTRACE, O_TRUNC, "\n");
	assert_string_equal(o->traced, "..x...x.");
	expect_kind(o, FUNC_NOTRACE, NONE);
}

static void test_graph(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file;
	char *text;

	expect_kind(o, FUNC_GRAPH, ALL);
	expect_kind(o, FUNC_GRAPH_NOTRACE, NONE);
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_TRUNC, "nosuch"), 6);
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_TRUNC, "nosuch*\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_TRUNC, "!nosuch\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_TRUNC, "!schedule\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_TRUNC, "5\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_TRUNC, "schedule:traceoff\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_TRUNC, "schedule nosuch\n"), 9);
	expect_kind(o, FUNC_GRAPH, "schedule\n");
	assert_string_equal(o->graph, "....x...");
	assert_string_equal(o->traced, "xxxxxxxx");
	assert_int_equal(fake_write(o, FUNC_GRAPH, O_APPEND, "schedule\n"), 9);
	/* What is in effect is read, also by who has written something else. */
	file = open_file(o, FUNC_GRAPH, O_RDWR);
	assert_int_equal(put(file, "vfs_open\n"), 9);
	text = fake_read_open(file);
	assert_string_equal(text, "schedule\n");
	free(text);
	func_file_close(file);
	expect_kind(o, FUNC_GRAPH, "schedule\nvfs_open\n");
}

static void test_split_words(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file = open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC);

	assert_int_equal(put(file, "  vf"), 4);
	assert_int_equal(put(file, "s_"), 2);
	assert_int_equal(put(file, "read"), 4);
	assert_int_equal(put(file, " "), 1); /* only now is it a word */
	assert_int_equal(put(file, "sche"), 4);
	assert_int_equal(put(file, "\n"), -EINVAL);
	func_file_close(file);
	expect(o, "vfs_read\n");

	file = open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC);
	assert_int_equal(put(file, "sched"), 5);
	assert_int_equal(put(file, "ule vfs_read"), 4);
	assert_int_equal(put(file, "vfs_re"), 6);
	assert_int_equal(put(file, "ad"), 2); /* the end of the file ends it too */
	func_file_close(file);
	expect(o, "vfs_read\nschedule\n");
}

static void test_split_word_fails(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file = open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC);

	assert_int_equal(put(file, "no"), 2);
	assert_int_equal(put(file, "such "), -EINVAL);
	assert_int_equal(put(file, "schedule "), 9); /* it goes on */
	assert_int_equal(put(file, "vfs_"), 4);
	func_file_rewind(file); /* lseek(2) forgets what waits */
	assert_int_equal(put(file, "open "), -EINVAL);
	assert_int_equal(put(file, "vfs_open"), 8);
	assert_int_equal(func_file_write(file, "\0", 1), 1); /* NUL ends a word */
	assert_int_equal(func_file_write(file, "\0vfs_read ", 10), 1);
	func_file_close(file);
	expect(o, "schedule\nvfs_open\n");
}

/* The kernel's buffer: KSYM_SYMBOL_LEN + 4. One word that is too long spoils the file. */
static void test_long_words(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file;
	char text[800];

	memset(text, 'x', sizeof(text));
	file = open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC);
	assert_int_equal(func_file_write(file, text, 300), 300);
	assert_int_equal(func_file_write(file, text, 369), 369);
	assert_int_equal(put(file, "\n"), -EINVAL);
	assert_int_equal(put(file, "schedule\n"), 9);
	assert_int_equal(func_file_write(file, text, 670), -EINVAL);
	func_file_rewind(file);
	assert_int_equal(put(file, "vfs_read\n"), 9); /* taken, and not heard */
	func_file_close(file);
	expect(o, "schedule\n");
}

static void test_several_openers(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *a = open_file(o, FUNC_FILTER, O_WRONLY),
			 *b = open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC),
			 *r = open_file(o, FUNC_FILTER, O_RDONLY);
	char *text;

	put(a, "vfs_read ");
	put(b, "vfs_write ");
	put(a, "schedule ");
	func_file_close(a);
	expect(o, "vfs_read\nschedule\n");
	func_file_close(b); /* who closes last wins */
	expect(o, "vfs_write\n");
	text = fake_read_open(r); /* opened before */
	assert_string_equal(text, ALL);
	free(text);
	func_file_close(r);
	assert_int_equal(o->applied, 2);
}

/* Who has it open for both reads what he has written. */
static void test_read_own(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file = open_file(o, FUNC_FILTER, O_RDWR);
	char *text;

	put(file, "vfs_open ");
	text = fake_read_open(file);
	assert_string_equal(text, "vfs_open\n");
	free(text);
	expect(o, ALL);
	func_file_close(file);
	expect(o, "vfs_open\n");
}

static void test_modules(void **state)
{
	struct fake_owner *o = *state;

	assert_int_equal(fake_write(o, FUNC_FILTER, O_TRUNC, ":mod:ext4\n"), 10);
	expect(o, "ext4_read [ext4]\next4_write [ext4]\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "!*write:mod:ext4\n"), 17);
	expect(o, "ext4_read [ext4]\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "!:mod:ext4\n"), 11);
	expect(o, ALL);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_TRUNC, "*read:mod:!*\n"), 13);
	expect(o, "vfs_read\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_TRUNC, "*:mod:*\n"), 8);
	expect(o, "ext4_read [ext4]\next4_write [ext4]\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_TRUNC, "vfs_read:mod:ext4\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_TRUNC, "vfs_read:mod\n"), 13);
	expect(o, "vfs_read\n");
	assert_int_equal(fake_write(o, FUNC_NOTRACE, O_TRUNC, "*:mod:ext4\n"), 11);
	expect_kind(o, FUNC_NOTRACE, "ext4_read [ext4]\next4_write [ext4]\n");
}

static void test_modules_that_wait(void **state)
{
	struct fake_owner *o = *state;

	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, ":mod:nosuchmod\n"), 15);
	expect(o, ":mod:nosuchmod\n");
	assert_string_equal(o->traced, "........"); /* what was asked for is not there */
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "*:mod:nosuchmod"), 15);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "schedule\n"), 9);
	expect(o, "schedule\n*:mod:nosuchmod\n:mod:nosuchmod\n");
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "a*:mod:other\n"), 13);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "!b*:mod:other\n"), -EINVAL);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "!a*:mod:other\n"), 14);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "!*:mod:nosuchmod\n"), 17);
	expect(o, "schedule\n");
	assert_int_equal(fake_write(o, FUNC_NOTRACE, O_APPEND, "x:mod:some*\n"), 12);
	expect_kind(o, FUNC_NOTRACE, NONE "x:mod:some\n"); /* the kernel loses the star */
	func_file_close(open_file(o, FUNC_NOTRACE, O_WRONLY | O_TRUNC));
	expect_kind(o, FUNC_NOTRACE, NONE);
	assert_int_equal(fake_write(o, FUNC_FILTER, O_APPEND, "nosuch:mod\n"), -ENOMEM);
}

static void update(struct fake_owner *o, const struct func *v, size_t nr)
{
	struct funcs *fs = funcs_new(v, nr);

	assert_non_null(fs);
	assert_int_equal(func_filter_update(o->filter, fs), 0);
	funcs_put(fs);
}

static void test_module_comes(void **state)
{
	struct fake_owner *o = *state;
	struct func more[FAKE_NR + 2];

	memcpy(more, fake_funcs, sizeof(fake_funcs));
	more[FAKE_NR] = (struct func){.addr = 0xffffffffc0001000, .name = "a", .module = "new"};
	more[FAKE_NR + 1] = (struct func){.addr = 0xffffffffc0001100, .name = "b", .module = "new"};
	fake_write(o, FUNC_FILTER, O_TRUNC, ":mod:new\n");
	fake_write(o, FUNC_FILTER, O_APPEND, ":mod:later\n");
	fake_write(o, FUNC_NOTRACE, O_TRUNC, "b:mod:new\n");
	update(o, more, FAKE_NR + 2);
	assert_string_equal(o->traced, "........x.");
	expect(o, "a [new]\nb [new]\n:mod:later\n");
	expect_kind(o, FUNC_NOTRACE, "b [new]\n");
	/* It comes without anything that was asked for. */
	func_file_close(open_file(o, FUNC_FILTER, O_WRONLY | O_TRUNC));
	fake_write(o, FUNC_FILTER, O_TRUNC, "nosuch:mod:gone\n");
	more[0].module = "gone";
	update(o, more, FAKE_NR);
	expect(o, ALL);
}

/* A filter whose functions have all gone selects none, rather than all. */
static void test_module_goes(void **state)
{
	struct fake_owner *o = *state;
	struct func_file *file;

	fake_write(o, FUNC_FILTER, O_TRUNC, ":mod:ext4\n");
	file = open_file(o, FUNC_FILTER, O_WRONLY);
	update(o, fake_funcs, FAKE_EXT4_READ);
	assert_string_equal(o->traced, "......");
	expect(o, "");
	put(file, "schedule ");
	func_file_close(file); /* it was opened with the old list */
	assert_string_equal(o->traced, "....x.");
	expect(o, "schedule\n");
	update(o, fake_funcs, FAKE_NR); /* what has gone does not come back */
	expect(o, "schedule\n");
	fake_write(o, FUNC_FILTER, O_TRUNC, "\n");
	expect(o, ALL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_one_write),
		CASE(test_effect_at_close),
		CASE(test_append_and_remove),
		CASE(test_notrace),
		CASE(test_graph),
		CASE(test_split_words),
		CASE(test_split_word_fails),
		CASE(test_long_words),
		CASE(test_several_openers),
		CASE(test_read_own),
		CASE(test_modules),
		CASE(test_modules_that_wait),
		CASE(test_module_comes),
		CASE(test_module_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
