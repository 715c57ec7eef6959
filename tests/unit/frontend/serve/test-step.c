// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-step.c - a step of the daemon: this program, started again, says and does something, and
 * ends in some way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/lib/cancel.h"
#include "frontend/serve/step.h"

#define PATIENCE_MS 60000
#define MANY_LINES  2000

/* --- what a step is here ------------------------------------------------------------------------
 */

static void repeat(const char *text, unsigned int times)
{
	while (times--)
		fputs(text, stderr);
}

/* One that goes on, and has its stderr still. */
static int leave_child(void)
{
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, 0);
		pause();
		_exit(0);
	}
	fprintf(stderr, "hvtrace: left one\n");
	return 3;
}

static int about_itself(void)
{
	sigset_t blocked;
	char c;
	bool sound = !read(STDIN_FILENO, &c, 1) && fcntl(3, F_GETFD) < 0;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	sound &= !sigismember(&blocked, SIGTERM) && getpgrp() == getpid();
	sound &= signal(SIGPIPE, SIG_DFL) == SIG_DFL;
	return sound ? 0 : 1;
}

static int be_step(const char *what)
{
	if (!strcmp(what, "speaks")) {
		printf("out\n");
		repeat("hvtrace: one\n", 1);
		repeat("two", 1);
		return 0;
	}
	if (!strcmp(what, "speaks-long")) {
		repeat("x", SAID_LINE * 3);
		return 0;
	}
	if (!strcmp(what, "speaks-much")) {
		repeat("much\n", MANY_LINES);
		repeat("last\n", 1);
		return 7;
	}
	if (!strcmp(what, "leaves"))
		return leave_child();
	if (!strcmp(what, "waits"))
		pause();
	return about_itself();
}

/* --- starting one
 * --------------------------------------------------------------------------------- */

static void start(struct step *s, char *what, int out)
{
	char name[] = "step";
	char *const words[] = {name, what, NULL};

	assert_int_equal(step_start(s, words, out, "who"), 0);
	assert_true(s->pid > 0 && s->pidfd >= 0 && s->says.fd >= 0);
}

static void hear_all(struct step *s)
{
	while (!step_is_over(s)) {
		struct pollfd fds[2] = {{.fd = s->says.fd, .events = POLLIN},
					{.fd = s->pidfd, .events = POLLIN}};

		assert_true(poll(fds, 2, PATIENCE_MS) > 0);
		step_hear(s);
	}
	assert_int_equal(s->says.fd, -1);
}

/* Its stderr goes to a file meanwhile. What it has passed on: to be freed. */
static char *passed_on(struct step *s, char *what, int out)
{
	FILE *file = tmpfile();
	int old = dup(STDERR_FILENO);
	char *text;
	long len;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	start(s, what, out);
	hear_all(s);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	fseek(file, 0, SEEK_END);
	len = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)len + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)len, file), len);
	fclose(file);
	return text;
}

/* --- tests
 * ----------------------------------------------------------------------------------------- */

static void test_lines(void **state)
{
	char what[] = "speaks", out[16] = "";
	FILE *file = tmpfile();
	struct step s;
	char *text = passed_on(&s, what, fileno(file));

	(void)state;
	assert_string_equal(text, "hvtrace: who: one\nhvtrace: who: two\n");
	assert_string_equal(s.last, "two");
	assert_int_equal(s.status, 0);
	rewind(file);
	assert_non_null(fgets(out, sizeof(out), file));
	assert_string_equal(out, "out\n");
	fclose(file);
	free(text);
}

/* One that does not end is cut where there is no room for more. */
static void test_long_line(void **state)
{
	char what[] = "speaks-long";
	struct step s;
	char *text = passed_on(&s, what, -1);
	size_t x = 0;

	(void)state;
	for (const char *c = text; *c; c++)
		x += *c == 'x';
	assert_int_equal(x, 3 * SAID_LINE);
	assert_true(strlen(s.last) <= SAID_LINE);
	free(text);
}

/* All of it, the last line too, however late anybody looks. */
static void test_much(void **state)
{
	char what[] = "speaks-much";
	struct step s;
	char *text = passed_on(&s, what, -1);
	unsigned int lines = 0;

	(void)state;
	for (const char *c = text; (c = strstr(c, "hvtrace: who: much\n")); c++)
		lines++;
	assert_int_equal(lines, MANY_LINES);
	assert_string_equal(s.last, "last");
	assert_int_equal(s.status, 7);
	free(text);
}

/* The one that it has left behind is nobody's to wait for. */
static void test_leaves_child(void **state)
{
	char what[] = "leaves";
	struct step s;
	char *text;

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	text = passed_on(&s, what, -1);
	assert_string_equal(text, "hvtrace: who: left one\n");
	assert_int_equal(s.status, 3);
	free(text);
	kill(-s.pid, SIGKILL);
	assert_true(waitpid(-1, NULL, 0) > 0);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void ends_by(int signo)
{
	char what[] = "waits";
	struct step s;

	start(&s, what, -1);
	step_signal(&s, signo);
	hear_all(&s);
	assert_int_equal(s.status, CANCEL_STATUS(signo));
	assert_non_null(strstr(s.last, "was ended by signal"));
	step_signal(&s, signo);
}

static void test_signals(void **state)
{
	(void)state;
	ends_by(SIGTERM);
	ends_by(SIGKILL);
}

/* Nothing of what the daemon has done to itself, and none of its files. */
static void test_clean(void **state)
{
	char what[] = "looks";
	sigset_t set, before;
	struct step s;
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
	start(&s, what, -1);
	hear_all(&s);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGPIPE, SIG_DFL);
	close(fd);
	assert_int_equal(s.status, 0);
}

/* It ends with who has started it, however that ended. */
static void test_orphan(void **state)
{
	char what[] = "waits";
	int fds[2];
	char c;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct step s;

		start(&s, what, fds[1]);
		raise(SIGKILL);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read(fds[0], &c, 1), 0);
	close(fds[0]);
}

static void test_no_descriptors(void **state)
{
	struct rlimit old, none;
	char name[] = "step";
	char *const words[] = {name, NULL};
	struct step s;
	int rc;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){3, old.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	rc = step_start(&s, words, -1, "who");
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(rc, -EMFILE);
	assert_false(step_is_over(&s));
	assert_int_equal(s.pid, 0);
	step_hear(&s);
	step_signal(&s, SIGKILL);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_much),	cmocka_unit_test(test_leaves_child),
		cmocka_unit_test(test_signals), cmocka_unit_test(test_clean),
		cmocka_unit_test(test_orphan),	cmocka_unit_test(test_no_descriptors),
	};

	if (argc == 2 && !strcmp(argv[0], "step"))
		return be_step(argv[1]);
	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
