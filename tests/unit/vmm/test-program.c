// SPDX-License-Identifier: GPL-2.0-or-later
/* test-program.c - other programs are run to their end, whatever they do. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/program.h"

static char err[256], out[64];

static int run_shell(const char *script, unsigned int ms, bool (*cancelled)(void *), void *arg)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const struct program p = {.argv = argv,
				  .ms = ms,
				  .cancelled = cancelled,
				  .arg = arg,
				  .out = out,
				  .room = sizeof(out)};

	err[0] = '\0';
	return program_run(&p, err, sizeof(err));
}

static void test_output(void **state)
{
	(void)state;
	assert_int_equal(run_shell("echo one; echo two >&2; echo three", 10000, NULL, NULL), 0);
	assert_string_equal(out, "one\nthree\n");
	assert_string_equal(err, "");
}

/* All of it is read, what has no room is thrown away. */
static void test_much_output(void **state)
{
	(void)state;
	assert_int_equal(run_shell("seq 1 200000; seq 1 200000 >&2", 60000, NULL, NULL), 0);
	assert_int_equal(strlen(out), sizeof(out) - 1);
	assert_memory_equal(out, "1\n2\n3\n4\n", 8);
	assert_int_equal(run_shell("seq 1 200000 >&2; exit 1", 60000, NULL, NULL), -EIO);
	assert_non_null(strstr(err, "; 199999; 200000"));
}

static void test_failures(void **state)
{
	const char *const argv[] = {"no-such-program-as-this", NULL};
	const struct program none = {.argv = argv, .ms = 10000};

	(void)state;
	assert_int_equal(
		run_shell("echo first >&2; printf 'why\\033[1m it fails\\n\\n' >&2; exit 3", 10000,
			  NULL, NULL),
		-EIO);
	assert_string_equal(err, "first; why [1m it fails");
	assert_int_equal(run_shell("exit 3", 10000, NULL, NULL), -EIO);
	assert_string_equal(err, "sh has failed with status 3");
	assert_int_equal(run_shell("kill -9 $$", 10000, NULL, NULL), -EIO);
	assert_string_equal(err, "sh was ended by signal 9");
	assert_int_equal(program_run(&none, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "no-such-program-as-this cannot be run: is it installed?");
}

/* It is ended with what it has started, which has its stdout; one that closes it is waited for. */
static void test_ends(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(run_shell("sleep 1000 & echo $!; sleep 1000", 200, NULL, NULL),
			 -ETIMEDOUT);
	assert_non_null(strstr(err, "sh did not end in 1 s"));
	pid = (pid_t)strtol(out, NULL, 10);
	assert_true(pid > 0);
	while (!kill(pid, 0)) /* whoever waits for orphans has to do that yet */
		usleep(1000);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(run_shell("sleep 1000 & echo left", 10000, NULL, NULL), 0);
	assert_string_equal(out, "left\n");
	assert_int_equal(run_shell("exec >/dev/null 2>&1; sleep 0.1; exit 4", 10000, NULL, NULL),
			 -EIO);
	assert_string_equal(err, "sh has failed with status 4");
}

static bool third_time(void *arg)
{
	unsigned int *asked = arg;

	return ++*asked == 3;
}

static void test_cancel(void **state)
{
	unsigned int asked = 0;

	(void)state;
	assert_int_equal(run_shell("sleep 1000", 60000, third_time, &asked), -ECANCELED);
	assert_int_equal(asked, 3);
}

/* It gets nothing of ours: no descriptor, no signal that we do not want. */
static void test_clean(void **state)
{
	sigset_t usr1, old;

	(void)state;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &old);
	signal(SIGPIPE, SIG_IGN);
	/* Two signals are the C library's, whose posix_spawn(3), as of make, has children ignore.
	 */
	assert_int_equal(run_shell("ls /proc/self/fd | wc -l; grep -E '^Sig(Blk|Ign)' "
				   "/proc/self/status | sed 's/0000000180000000//' | tr -dc '1-9'",
				   10000, NULL, NULL),
			 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_string_equal(out, "4\n"); /* the three, and that of the folder */
}

/* --- servers ------------------------------------------------------------------------------- */

/* A socket that it listens on is descriptor 3, as its environment says; and nothing else is. */
static void test_server_gets_its_listener(void **state)
{
	static const char script[] =
		"[ $LISTEN_FDS = 1 ] && [ $LISTEN_PID = $$ ] && [ -S /proc/self/fd/3 ] && "
		"[ ! -e /proc/self/fd/4 ] && echo it is well >&2";
	const char *const argv[] = {"sh", "-c", script, NULL};
	int pair[2];
	struct program_server s;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(program_serve(&s, argv, pair[0]), 0);
	assert_int_equal(poll(&(struct pollfd){s.pidfd, POLLIN, 0}, 1, 60000), 1);
	program_words(&s, "sh", err, sizeof(err));
	assert_string_equal(err, "it is well");
	program_leave(&s, 60000);
	assert_int_equal(s.pid, -1);
	program_leave(&s, 60000);
	close(pair[0]);
	close(pair[1]);
}

static void test_server_that_goes_on_is_ended(void **state)
{
	const char *const argv[] = {"sleep", "1000", NULL};
	struct program_server s;
	pid_t pid;

	(void)state;
	assert_int_equal(program_serve(&s, argv, -1), 0);
	pid = s.pid;
	program_leave(&s, 1);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void test_server_that_is_not_there(void **state)
{
	const char *const argv[] = {"no-such-program-as-this", NULL};
	struct program_server s;

	(void)state;
	assert_int_equal(program_serve(&s, argv, -1), 0);
	assert_int_equal(poll(&(struct pollfd){s.pidfd, POLLIN, 0}, 1, 60000), 1);
	program_words(&s, argv[0], err, sizeof(err));
	assert_non_null(strstr(err, "is it installed?"));
	program_leave(&s, 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_much_output),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_server_gets_its_listener),
		cmocka_unit_test(test_server_that_goes_on_is_ended),
		cmocka_unit_test(test_server_that_is_not_there),
	};

	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
