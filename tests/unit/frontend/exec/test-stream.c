// SPDX-License-Identifier: GPL-2.0-or-later
/* test-stream.c - what a guest says of the command that it runs, and what it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/exec/stream.h"

/* What was told, in words. */
struct told {
	char text[512];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void tell(struct told *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->len += (size_t)vsnprintf(t->text + t->len, sizeof(t->text) - t->len, fmt, args);
	va_end(args);
	assert_true(t->len < sizeof(t->text));
}

static void on_hello(void *arg)
{
	tell(arg, "hello;");
}

static void on_waits(void *arg, char what)
{
	tell(arg, "waits %c;", what);
}

static void on_up(void *arg)
{
	tell(arg, "up;");
}

static void on_task(void *arg, uint32_t pid)
{
	tell(arg, "task %u;", pid);
}

static void on_output(void *arg, bool error, const char *bytes, size_t len)
{
	tell(arg, "%s %.*s;", error ? "err" : "out", (int)len, bytes);
}

static void on_end(void *arg, uint32_t status)
{
	tell(arg, "end %x;", status);
}

static void on_fail(void *arg, const char *why)
{
	tell(arg, "fail %s;", why);
}

static const struct stream_ops ops = {on_hello,	 on_waits, on_up,  on_task,
				      on_output, on_end,   on_fail};

#define HELLO EXEC_HELLO
#define UP    HELLO "u\0\0"
#define TASK  UP "p\4\0\x50\1\0\0"

static void feeds(const char *bytes, size_t len, const char *expected)
{
	struct told told = {0};
	struct stream s;

	stream_init(&s, &ops, &told);
	stream_feed(&s, bytes, len);
	assert_string_equal(told.text, expected);
}

#define FEEDS(bytes, expected) feeds(bytes, sizeof(bytes) - 1, expected)

static void test_all(void **state)
{
	static const char all[] =
		HELLO "w\1\0rw\1\0su\0\0p\4\0\x50\1\0\0o\2\0hie\3\0argx\4\0\0\3\0\0";

	(void)state;
	FEEDS(all, "hello;waits r;waits s;up;task 336;out hi;err arg;end 300;");
	FEEDS(TASK "x\4\0\x0f\0\0\0o\1\0a", "hello;up;task 336;end f;"); /* and no more */
}

static void test_in_pieces(void **state)
{
	static const char all[] = "x\n" HELLO "u\0\0p\4\0\x50\1\0\0o\2\0hix\4\0\0\3\0\0";
	struct told told = {0};
	struct stream s;

	(void)state;
	stream_init(&s, &ops, &told);
	for (size_t i = 0; i < sizeof(all) - 1; i++)
		stream_feed(&s, all + i, 1);
	assert_string_equal(told.text, "hello;up;task 336;out h;out i;end 300;");
}

/* What a kernel or a getty has to say on the same port. */
static void test_noise(void **state)
{
	(void)state;
	FEEDS("[    1.2] serial8250: ttyS1\r\n\n\nhvtrace-\nhvtrace-exec 2\n" HELLO "u\0\0",
	      "hello;up;");
	FEEDS("\nhvtrace-exec\n\0hvtrace-exec 1\n", "");
	FEEDS("", "");
}

static void test_failures(void **state)
{
	(void)state;
	FEEDS(HELLO "f\5\0\x1b[2Jbw", "hello;fail ?[2Jb;");
	FEEDS(TASK "f\0\0o\1\0x", "hello;up;task 336;fail ;");
}

#define NO_SENSE "fail what it says makes no sense;"

static void test_no_sense(void **state)
{
	(void)state;
	FEEDS(HELLO "q\0\0", "hello;" NO_SENSE);	 /* no such frame */
	FEEDS(HELLO "p\4\0\1\0\0\0", "hello;" NO_SENSE); /* before its time */
	FEEDS(UP "u\0\0", "hello;up;" NO_SENSE);	 /* a second time */
	FEEDS(UP "w\1\0r", "hello;up;" NO_SENSE);
	FEEDS(HELLO "w\2\0rr", "hello;" NO_SENSE); /* of another length */
	FEEDS(HELLO "f\1\1", "hello;" NO_SENSE);
	FEEDS(UP "p\4\0\0\0\0\0", "hello;up;" NO_SENSE); /* no task */
	FEEDS(UP "p\4\0\0\0\0\x80", "hello;up;" NO_SENSE);
	FEEDS(UP "p\4\0\1\0\0\0p\4\0\1\0\0\0", "hello;up;task 1;" NO_SENSE);
	FEEDS(TASK "o\0\0", "hello;up;task 336;" NO_SENSE);
	FEEDS(TASK "x\4\0\x7f\x13\0\0", "hello;up;task 336;" NO_SENSE); /* stopped, not ended */
	FEEDS(TASK "x\4\0\0\0\1\0", "hello;up;task 336;" NO_SENSE);
	FEEDS(TASK "x\3\0\0\0\0", "hello;up;task 336;" NO_SENSE);
}

static void test_longest_output(void **state)
{
	static char all[sizeof(TASK) - 1 + EXEC_HEAD + EXEC_DATA_MAX] = TASK "o\xff\xff";
	struct told told = {0};
	struct stream s;

	(void)state;
	stream_init(&s, &ops, &told);
	memset(all + sizeof(TASK) - 1 + EXEC_HEAD, '\0', EXEC_DATA_MAX);
	stream_feed(&s, all, sizeof(all));
	stream_feed(&s, "x\4\0\0\0\0\0", 7);
	assert_string_equal(told.text, "hello;up;task 336;out ;end 0;");
}

static void test_to_the_guest(void **state)
{
	char *longest = malloc(STREAM_COMMAND_MAX + 2), *frame;
	size_t len;

	(void)state;
	frame = stream_command("ls -l", EXEC_FLAG_SYNC, &len);
	assert_int_equal(len, 9);
	assert_memory_equal(frame, "c\6\0\1ls -l", 9);
	free(frame);
	frame = stream_go(&len);
	assert_int_equal(len, 3);
	assert_memory_equal(frame, "g\0\0", 3);
	free(frame);
	assert_non_null(longest);
	memset(longest, 'a', STREAM_COMMAND_MAX);
	longest[STREAM_COMMAND_MAX] = '\0';
	frame = stream_command(longest, 0, &len);
	assert_non_null(frame);
	assert_int_equal(len, EXEC_HEAD + EXEC_DATA_MAX);
	assert_memory_equal(frame, "c\xff\xff\0a", 5);
	free(frame);
	memcpy(longest + STREAM_COMMAND_MAX, "a", 2);
	assert_null(stream_command(longest, 0, &len));
	free(longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),	     cmocka_unit_test(test_in_pieces),
		cmocka_unit_test(test_noise),	     cmocka_unit_test(test_failures),
		cmocka_unit_test(test_no_sense),     cmocka_unit_test(test_longest_output),
		cmocka_unit_test(test_to_the_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
