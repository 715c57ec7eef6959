// SPDX-License-Identifier: GPL-2.0-or-later
/* test-child.c - programs that are asked, and that nothing of them is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "frontend/image/child.h"
#include "frontend/lib/cancel.h"
#include "tests/unit/frontend/image/workplace.h"

#include <sys/wait.h>

#define LONG_MS 60000

/* Its pid, and that of one that it starts, are in files then. */
#define START_ANOTHER                                                                              \
	"#!/bin/sh\n"                                                                              \
	"sleep 600 & echo $! >\"$W/other\"\n"                                                      \
	"echo $$ >\"$W/self\"\n"

static char program[PATH_MAX];
static struct child_config config;
static struct child c;

static int set_up(void **state)
{
	static const char *argv[] = {"program", "an argument", NULL};
	static char where[128];
	static const char *env[] = {where, NULL};

	if (make_workplace(state))
		return -1;
	snprintf(where, sizeof(where), "W=%s", workplace);
	config = (struct child_config){
		.program = program,
		.argv = argv,
		.env = env,
		.file_max = 1 << 20,
		.time_ms = LONG_MS,
	};
	return 0;
}

static void start(const char *script)
{
	put_program("program", script);
	assert_true(child_find("program", program, sizeof(program)));
	assert_int_equal(child_start(&c, &config), 0);
}

static void read_all(char *to, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = child_read(&c, to + len, size - 1 - len)) > 0)
		len += (size_t)n;
	assert_int_equal(n, 0);
	to[len] = '\0';
}

static bool is_named(long pid, const char *name)
{
	char path[64], is[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	f = fopen(path, "re");
	if (f && !fgets(is, sizeof(is), f))
		*is = '\0';
	if (f)
		fclose(f);
	is[strcspn(is, "\n")] = '\0';
	return !strcmp(is, name);
}

static void test_talk(void **state)
{
	char text[256];

	(void)state;
	setenv("W", "before", 1);
	start("#!/bin/sh\nread -r x; echo \"$1 $x $W\"; echo 'one: error: bad\tthing' >&2; exit 3\n");
	assert_int_equal(child_write(&c, "words\n", 6), 0);
	read_all(text, sizeof(text));
	assert_non_null(strstr(text, "an argument words /tmp/"));
	assert_int_equal(child_wait(&c), 3);
	child_error(&c, 0, "error: ", text, sizeof(text));
	assert_string_equal(text, "bad.thing");
	child_error(&c, 5, "none", text, sizeof(text));
	assert_string_equal(text, "error: bad.thing");
	child_error(&c, child_said(&c), "", text, sizeof(text));
	assert_string_equal(text, "");
	child_free(&c);
}

static void test_find(void **state)
{
	char path[PATH_MAX];

	(void)state;
	put_text("no-program", "text");
	assert_true(child_find("sh", path, sizeof(path)));
	assert_false(child_find("no-program", path, sizeof(path)));
	assert_false(child_find("nowhere", path, sizeof(path)));
}

/* Who is gone makes no signal. */
static void test_gone(void **state)
{
	char text[16];

	(void)state;
	start("#!/bin/sh\nkill -9 $$\n");
	read_all(text, sizeof(text));
	wait_until(child_write(&c, "words\n", 6) < 0);
	assert_int_equal(child_wait(&c), CANCEL_STATUS(SIGKILL));
	child_free(&c);
}

static void test_not_there(void **state)
{
	(void)state;
	config.program = "/nonexistent";
	assert_int_equal(child_start(&c, &config), 0);
	assert_int_equal(child_wait(&c), 127);
	child_free(&c);
}

/* A file of it is no larger than that. */
static void test_file_max(void **state)
{
	struct stat st;

	(void)state;
	start("#!/bin/sh\nexec head -c 3000000 /dev/zero >\"$W/large\"\n");
	assert_int_equal(child_wait(&c), CANCEL_STATUS(SIGXFSZ));
	child_free(&c);
	assert_int_equal(stat(in_workplace("large"), &st), 0);
	assert_int_equal(st.st_size, 1 << 20);
}

static void test_ends(void **state)
{
	long self, other;

	(void)state;
	start(START_ANOTHER "wait\n");
	wait_until(number_in("self"));
	self = number_in("self");
	other = number_in("other");
	assert_int_equal(child_end(&c), CANCEL_STATUS(SIGTERM));
	assert_true(is_gone(self));
	assert_true(is_gone(other));
	child_free(&c);
}

/* What it has started when it ends by itself. */
static void test_leaves_others(void **state)
{

	(void)state;
	start(START_ANOTHER "exit 5\n");
	assert_int_equal(child_wait(&c), 5);
	assert_true(is_gone(number_in("other")));
	child_free(&c);
}

/* It sees the others end, and cleans up. */
static void test_ends_last(void **state)
{
	(void)state;
	config.ends_last = true;
	start("#!/bin/sh\n"
	      "env --default-signal=TERM sleep 600 & echo $! >\"$W/other\"\n"
	      "echo $$ >\"$W/self\"\n"
	      "wait $!\n"
	      "rm \"$W/self\"\n"
	      "exit 6\n");
	wait_until(number_in("self"));
	/* Not before it is what it will be: that is when it does not ignore the signal. */
	wait_until(is_named(number_in("other"), "sleep"));
	assert_int_equal(child_end(&c), 6);
	assert_true(is_gone(number_in("other")));
	assert_int_equal(number_in("self"), 0);
	child_free(&c);
}

static void test_input_ends(void **state)
{
	(void)state;
	config.ends_last = true;
	start("#!/bin/sh\nread -r line\nexit 6\n");
	assert_int_equal(child_end(&c), 6);
	child_free(&c);
}

static void test_time(void **state)
{
	char text[16];

	(void)state;
	config.time_ms = 1;
	start(START_ANOTHER "wait\n");
	assert_int_equal(child_read(&c, text, sizeof(text)), -ETIMEDOUT);
	assert_int_equal(child_wait(&c), -ETIMEDOUT);
	child_free(&c);
}

static void test_cancel(void **state)
{
	struct cancel cancel = {0};
	char text[16];

	(void)state;
	assert_int_equal(cancel_open(&cancel), 0);
	config.cancel = &cancel;
	start(START_ANOTHER "wait\n");
	wait_until(number_in("self"));
	cancel_ask(&cancel, SIGINT);
	assert_int_equal(child_read(&c, text, sizeof(text)), -ECANCELED);
	child_free(&c);
	assert_true(is_gone(number_in("self")));
	assert_true(is_gone(number_in("other")));
	cancel_close(&cancel);
}

/* However hvtrace ends. */
static void test_killed(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		start(START_ANOTHER "wait\n");
		pause();
	}
	assert_true(pid > 0);
	wait_until(number_in("self"));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	wait_until(is_gone(number_in("self")) && is_gone(number_in("other")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, leave_workplace)
	const struct CMUnitTest tests[] = {
		TEST(test_talk),	  TEST(test_find),	TEST(test_gone),
		TEST(test_not_there),	  TEST(test_file_max),	TEST(test_ends),
		TEST(test_leaves_others), TEST(test_ends_last), TEST(test_input_ends),
		TEST(test_time),	  TEST(test_cancel),	TEST(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
