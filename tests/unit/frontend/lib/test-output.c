// SPDX-License-Identifier: GPL-2.0-or-later
/* test-output.c - what gets to a terminal, a file and a pipe of text that a guest has made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "frontend/lib/cancel.h"
#include "frontend/lib/escape.h"
#include "frontend/lib/output.h"
#include "frontend/report/screen.h"
#include "frontend/session/console.h"

#define TITLE	   "\033]0;pwned\007"
#define TITLE_SEEN "\\x1b]0;pwned\\x07"

static char said[8192];

/* --- the text ------------------------------------------------------------------------------- */

static void test_escape(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"a line\n\tand another\n", "a line\n\tand another\n"},
		{"\033[2J\r\b\a\177", "\\x1b[2J\\x0d\\x08\\x07\\x7f"},
		{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7",
		 "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7"},
		{"\x9b"
		 "2J",
		 "\\x9b2J"}, /* C1, as a byte */
		{"\xc2\x9b"
		 "2J",
		 "\\xc2\\x9b2J"}, /* and as UTF-8 */
		{"\xc2\xa0", "\xc2\xa0"},
		{"\xe0\x82\x9b", "\\xe0\\x82\\x9b"}, /* longer than it could be */
		{"\xc1\x9b", "\\xc1\\x9b"},
		{"\xf0\x80\x82\x9b", "\\xf0\\x80\\x82\\x9b"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xe2\x82\033", "\\xe2\\x82\\x1b"}, /* breaks off */
		{"\xe2\xc3\xa9", "\\xe2\xc3\xa9"},
		{"\xe2\x82", "\\xe2\\x82"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* At once, and byte for byte. */
		for (size_t step = 1; step < 100; step += 98) {
			const char *at = cases[i].text;
			struct escape e = {0};
			struct text t = {0};

			for (size_t left = strlen(at), n; left; left -= n, at += n) {
				n = left < step ? left : step;
				escape_add(&e, &t, at, n);
			}
			escape_end(&e, &t);
			text_putc(&t, '\0');
			assert_string_equal(t.buf, cases[i].shown);
			text_free(&t);
		}
	}
}

/* --- where it goes -------------------------------------------------------------------------- */

/* What a program that does so has written to stdout and stderr, which is the other end of fd. */
static void take_down(int fd, int theirs, void (*program)(void))
{
	pid_t pid = fork();
	size_t len = 0;
	ssize_t n;
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		dup2(theirs, STDOUT_FILENO);
		dup2(theirs, STDERR_FILENO);
		close(fd);
		close(theirs);
		if (output_start())
			_exit(1);
		program();
		exit(0);
	}
	close(theirs);
	while ((n = read(fd, said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void on_terminal(void (*program)(void))
{
	struct termios raw = {0};
	int fd, theirs;

	cfmakeraw(&raw);
	assert_int_equal(openpty(&fd, &theirs, NULL, &raw, NULL), 0);
	take_down(fd, theirs, program);
}

static void on_pipe(void (*program)(void))
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	take_down(ends[0], ends[1], program);
}

static void print_both(void)
{
	printf("out %s\xc3", TITLE);
	fflush(stdout);
	printf("\xa9\n");
	fflush(stdout);
	fprintf(stderr, "err %s\n", TITLE);
}

static void test_streams(void **state)
{
	(void)state;
	on_terminal(print_both);
	assert_string_equal(said, "out " TITLE_SEEN "\xc3\xa9\nerr " TITLE_SEEN "\n");
	on_pipe(print_both);
	assert_non_null(strstr(said, "out " TITLE "\xc3\xa9\n"));
	assert_non_null(strstr(said, "err " TITLE "\n"));
}

static void write_report(void)
{
	struct text t = {0};

	text_puts(&t, "report " TITLE "\n");
	output_write(&t, NULL);
	text_puts(&t, "again " TITLE "\n");
	output_write(&t, "/dev/stdout");
}

static void test_report(void **state)
{
	(void)state;
	on_terminal(write_report);
	assert_string_equal(said, "report " TITLE_SEEN "\nagain " TITLE_SEEN "\n");
	on_pipe(write_report);
	assert_string_equal(said, "report " TITLE "\nagain " TITLE "\n");
}

/* A trace is shown so, too, and given up when it is asked to end. */
static void print_trace(void)
{
	struct cancel c = {.fd = eventfd(0, EFD_CLOEXEC)};
	FILE *f = output_open(NULL, &c);
	bool given_up;

	fputs("trace " TITLE "\n", f);
	fflush(f);
	atomic_store(&c.signo, SIGINT);
	eventfd_write(c.fd, 1);
	fputs("more " TITLE "\n", f);
	given_up = fflush(f) && errno == ECANCELED;
	fclose(f);
	fputs(given_up ? "given up\n" : "not given up\n", stderr);
	close(c.fd);
}

static void test_trace(void **state)
{
	(void)state;
	on_terminal(print_trace);
	assert_string_equal(said, "trace " TITLE_SEEN "\ngiven up\n");
	on_pipe(print_trace);
	assert_string_equal(said, "trace " TITLE "\ngiven up\n");
}

/* --- who does not read ----------------------------------------------------------------------- */

static struct cancel signalled;

/* Asked to end before, or by the time that there is no room. */
static void say_much(void)
{
	for (unsigned int i = 0; i < 100000; i++)
		fprintf(stderr, "line %u\n", i);
	output_control(stderr, STDERR_FILENO, "\r", 1);
	output_last_word("left\n");
	output_hurry(NULL);
}

/* Whoever has something to say is held by then, or not yet. */
static void *signal_soon(void *arg)
{
	(void)arg;
	atomic_store(&signalled.came, true);
	eventfd_write(signalled.fd, 1);
	return NULL;
}

static void is_not_held(int fd, int theirs, bool at_once)
{
	pid_t pid = fork();
	pthread_t thread;
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		alarm(120);
		dup2(theirs, STDERR_FILENO);
		signalled = (struct cancel){.fd = eventfd(0, EFD_CLOEXEC), .came = at_once};
		if (output_start() ||
		    (!at_once && pthread_create(&thread, NULL, signal_soon, NULL)))
			_exit(1);
		output_hurry(&signalled);
		say_much();
		_exit(at_once ? 0 : pthread_join(thread, NULL));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(theirs);
	close(fd);
}

static void test_nobody_reads_errors(void **state)
{
	struct termios raw = {0};
	int ends[2];

	(void)state;
	cfmakeraw(&raw);
	for (int at_once = 0; at_once < 2; at_once++) {
		assert_int_equal(openpty(&ends[0], &ends[1], NULL, &raw, NULL), 0);
		is_not_held(ends[0], ends[1], at_once);
		assert_int_equal(pipe(ends), 0);
		is_not_held(ends[0], ends[1], at_once);
	}
}

/* Tells when there is no room any more; goes on when there is some again. */
static void say_much_patiently(int told, int go)
{
	char c = 0;

	signalled = (struct cancel){.fd = eventfd(0, EFD_CLOEXEC)};
	if (output_start())
		_exit(1);
	output_hurry(&signalled);
	output_patience(50);
	for (unsigned int i = 0; i < 100000; i++)
		fprintf(stderr, "line %u\n", i);
	if (write(told, &c, 1) != 1 || read(go, &c, 1) != 1)
		_exit(1);
	fputs("there is room\n", stderr);
	fputs("more\n", stderr);
	_exit(0);
}

/* All that there is until now, or to the end: the last of it is in said. */
static void read_all(int fd, bool to_the_end)
{
	char buf[sizeof(said)] = "";
	ssize_t n;

	assert_return_code(fcntl(fd, F_SETFL, to_the_end ? 0 : O_NONBLOCK), errno);
	while ((n = read(fd, buf, sizeof(buf) - 1)) > 0) {
		buf[n] = '\0';
		memcpy(said, buf, sizeof(said));
	}
	assert_true(n == 0 || errno == EAGAIN);
}

#define BEFORE "\nhvtrace: "

/* Nobody reads, and no signal comes either. */
static void test_patience(void **state)
{
	int ends[2], told[2], go[2], status;
	unsigned long lost;
	pid_t pid;
	char c, *rest;

	(void)state;
	assert_int_equal(pipe(ends) | pipe(told) | pipe(go), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(120);
		dup2(ends[1], STDERR_FILENO);
		close(ends[1]);
		say_much_patiently(told[1], go[0]);
	}
	close(ends[1]);
	close(told[1]);
	assert_int_equal(read(told[0], &c, 1), 1);
	read_all(ends[0], false);
	assert_int_equal(write(go[1], &c, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	read_all(ends[0], true);
	assert_memory_equal(said, BEFORE, strlen(BEFORE));
	lost = strtoul(said + strlen(BEFORE), &rest, 10);
	assert_string_equal(rest, " lines are not shown: nothing took them\nthere is room\nmore\n");
	assert_in_range(lost, 1, 99999);
	for (int i = 0; i < 2; i++) {
		close(i ? told[0] : ends[0]);
		close(go[i]);
	}
}

static void say_late(void)
{
	signalled = (struct cancel){.fd = eventfd(0, EFD_CLOEXEC), .came = true};
	output_hurry(&signalled);
	fputs("late " TITLE "\n", stderr);
	output_last_word("left\n");
	output_hurry(NULL);
	fputs("later " TITLE "\n", stderr);
}

/* Where there is room all of it is said. */
static void test_errors_after_a_signal(void **state)
{
	(void)state;
	on_terminal(say_late);
	assert_string_equal(said, "late " TITLE_SEEN "\nleft\nlater " TITLE_SEEN "\n");
	on_pipe(say_late);
	assert_string_equal(said, "late " TITLE "\nleft\nlater " TITLE "\n");
}

/* --- consoles and screens -----------------------------------------------------------------------
 */

/* The guest's own console is one; what is left of it in a message is none. */
static void show_console(void)
{
	struct console c;

	console_init(&c, true);
	console_write(&c, TITLE "\r\n", strlen(TITLE "\r\n"));
	fputs("last words:\n", stderr);
	console_tail(&c, stderr, 10);
	console_exit(&c);
}

static void test_console(void **state)
{
	(void)state;
	on_terminal(show_console);
	assert_string_equal(said, TITLE "\r\nlast words:\n" TITLE_SEEN "\n");
}

static void draw_screen(void)
{
	struct text t = {0};

	text_puts(&t, "heading\nrow " TITLE "\n");
	screen_draw(&t, 0);
	text_free(&t);
}

static void test_screen(void **state)
{
	(void)state;
	on_terminal(draw_screen);
	assert_non_null(strstr(said, "\033[7mheading\033[K\033[0m"));
	assert_non_null(strstr(said, "row " TITLE_SEEN));
	assert_null(strstr(said, TITLE));
}

/* --- what is a file stays one ------------------------------------------------------------- */

static void test_file(void **state)
{
	char path[] = "/tmp/test-output-XXXXXX";
	struct text t = {0};
	int fd = mkstemp(path);
	ssize_t n;

	(void)state;
	assert_true(fd >= 0);
	text_puts(&t, TITLE "\n");
	assert_int_equal(output_write(&t, path), 0);
	n = read(fd, said, sizeof(said));
	assert_int_equal(n, strlen(TITLE "\n"));
	assert_memory_equal(said, TITLE "\n", (size_t)n);
	close(fd);
	unlink(path);
}

/* What did not fit is written once more, from the beginning. */
static void test_again(void **state)
{
	char path[] = "/tmp/test-output-XXXXXX", block[1024];
	struct rlimit was, low;
	int fd = mkstemp(path);
	uint64_t written;
	FILE *f = output_open_counted(path, NULL, &written);

	(void)state;
	assert_true(fd >= 0 && f);
	memset(block, 'x', sizeof(block));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	low = (struct rlimit){3 * sizeof(block), was.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	for (int i = 0; i < 8; i++)
		fwrite(block, 1, sizeof(block), f);
	assert_int_equal(fflush(f), EOF);
	assert_int_equal(errno, EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(output_again(f), 0);
	fputs("all of it\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(written, strlen("all of it\n"));
	assert_int_equal(read(fd, said, sizeof(said)), strlen("all of it\n"));
	assert_memory_equal(said, "all of it\n", strlen("all of it\n"));
	close(fd);
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_console),
		cmocka_unit_test(test_screen),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_nobody_reads_errors),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_errors_after_a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
