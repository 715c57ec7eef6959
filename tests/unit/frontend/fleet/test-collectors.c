// SPDX-License-Identifier: GPL-2.0-or-later
/* test-collectors.c - a process for each guest: what it says, how it ends, and what ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/fleet/collectors.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"

static const char *const names[] = {"web1", "web2", "db1"};
enum { NR = sizeof(names) / sizeof(names[0]) };

static char said[16384]; /* on stderr, by the last run */

static int run_all(struct collector *c, size_t nr, int (*trace)(void *arg, size_t i), void *arg)
{
	FILE *to = tmpfile();
	int before = dup(STDERR_FILENO), signo;

	fflush(stderr);
	dup2(fileno(to), STDERR_FILENO);
	signo = collectors_run(c, nr, trace, arg);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(to);
	said[fread(said, 1, sizeof(said) - 1, to)] = '\0';
	fclose(to);
	return signo;
}

static void name_all(struct collector c[NR])
{
	for (size_t i = 0; i < NR; i++)
		c[i] = (struct collector){.name = names[i]};
}

/* --- what they say ------------------------------------------------------------------------------
 */

static int say_lines(void *arg, size_t i)
{
	(void)arg;
	if (i != 1)
		return EXIT_OK;
	fputs("hvtrace: tracing\nplain\n\nhvtrace", stderr);
	fputs(": in two\nhvtrace: hvtrace: twice\nno end", stderr);
	return EXIT_OK;
}

static void with_the_name_in_front(void **state)
{
	struct collector c[NR];

	(void)state;
	name_all(c);
	assert_int_equal(run_all(c, NR, say_lines, NULL), 0);
	assert_string_equal(said, "hvtrace: web2: tracing\nhvtrace: web2: plain\nhvtrace: web2: \n"
				  "hvtrace: web2: in two\nhvtrace: web2: hvtrace: twice\n"
				  "hvtrace: web2: no end\n");
}

static int say_much(void *arg, size_t i)
{
	char text[2 * SAID_LINE + 7];

	(void)arg;
	(void)i;
	memset(text, 'x', sizeof(text));
	fprintf(stderr, "short\n%.*s\nshort\n", (int)sizeof(text), text);
	return EXIT_OK;
}

/* In pieces, of which none is lost. */
static void long_lines(void **state)
{
	struct collector c = {.name = "a"};
	size_t many = 0, lines = 0;

	(void)state;
	assert_int_equal(run_all(&c, 1, say_much, NULL), 0);
	for (const char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		assert_memory_equal(line, "hvtrace: a: ", 12);
		assert_true(strlen(line) <= 12 + SAID_LINE);
		many += strspn(line + 12, "x");
	}
	assert_int_equal(many, 2 * SAID_LINE + 7);
	assert_in_range(lines, 5, 7);
}

/* Who has its stderr until the other end of that pipe is closed. */
static int leave_one(void *arg, size_t i)
{
	const int *until = arg;
	char c;

	(void)i;
	fprintf(stderr, "left one\n");
	if (fork())
		return EXIT_OK;
	close(until[1]);
	_exit(read(until[0], &c, 1) != 0);
}

static void one_left_behind_is_not_waited_for(void **state)
{
	struct collector c = {.name = "a"};
	int until[2];

	(void)state;
	assert_int_equal(pipe(until), 0);
	assert_int_equal(run_all(&c, 1, leave_one, until), 0);
	assert_int_equal(c.status, EXIT_OK);
	assert_string_equal(said, "hvtrace: a: left one\n");
	close(until[0]);
	close(until[1]);
}

static int say_often(void *arg, size_t i)
{
	(void)arg;
	for (unsigned int n = 0; n < 50; n++)
		fprintf(stderr, "%zu.%u\n", i, n);
	return EXIT_OK;
}

/* Lines of one are in their order, and none is within another. */
static void all_at_once(void **state)
{
	unsigned int next[NR] = {0}, n;
	struct collector c[NR];
	char name[8];
	size_t i;

	(void)state;
	name_all(c);
	assert_int_equal(run_all(c, NR, say_often, NULL), 0);
	for (const char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
		assert_int_equal(sscanf(line, "hvtrace: %7[^:]: %zu.%u", name, &i, &n), 3);
		assert_true(i < NR);
		assert_string_equal(name, names[i]);
		assert_int_equal(n, next[i]++);
	}
	for (i = 0; i < NR; i++)
		assert_int_equal(next[i], 50);
}

/* --- how they end -------------------------------------------------------------------------------
 */

static int end_as_told(void *arg, size_t i)
{
	const int *statuses = arg;

	if (statuses[i] < 0)
		raise(-statuses[i]);
	return statuses[i];
}

static void statuses(void **state)
{
	int how[NR] = {EXIT_OK, EXIT_USAGE, 130};
	struct collector c[NR];

	(void)state;
	name_all(c);
	assert_int_equal(run_all(c, NR, end_as_told, how), 0);
	for (size_t i = 0; i < NR; i++) {
		assert_int_equal(c[i].status, how[i]);
		assert_false(c[i].killed);
	}
	assert_string_equal(said, "");
}

static void one_is_killed(void **state)
{
	int how[NR] = {EXIT_OK, -SIGKILL, EXIT_FAILED};
	struct collector c[NR];

	(void)state;
	name_all(c);
	assert_int_equal(run_all(c, NR, end_as_told, how), 0);
	assert_int_equal(c[0].status, EXIT_OK);
	assert_int_equal(c[1].status, CANCEL_STATUS(SIGKILL));
	assert_int_equal(c[2].status, EXIT_FAILED);
	assert_true(!c[0].killed && c[1].killed && !c[2].killed);
	assert_string_equal(said, "hvtrace: web2: its process was ended by signal 9 (Killed)\n");
}

/* --- what ends them -----------------------------------------------------------------------------
 */

static void take_from(int fd, size_t len)
{
	char byte;

	while (len--)
		assert_int_equal(read(fd, &byte, 1), 1);
}

static void tell(int fd)
{
	assert_int_equal(write(fd, "", 1), 1);
}

/* Ready for a signal each time; the exit status is whether they were these. */
static int hear_signals(void *arg, size_t i)
{
	static const int expected[] = {SIGINT, SIGTERM};
	const int *ready = arg;
	sigset_t signals;
	int signo;

	(void)i;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (size_t k = 0; k < 2; k++) {
		tell(*ready);
		if (sigwait(&signals, &signo) || signo != expected[k])
			return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* Another process, as this one waits. */
static pid_t send_when_ready(int ready)
{
	const pid_t to = getpid(), sender = fork();

	if (sender)
		return sender;
	take_from(ready, NR);
	kill(to, SIGINT);
	take_from(ready, NR);
	kill(to, SIGTERM);
	_exit(0);
}

static void signals_go_to_all(void **state)
{
	struct collector c[NR];
	sigset_t before, after;
	int ready[2], status;
	pid_t sender;

	(void)state;
	name_all(c);
	assert_int_equal(pipe(ready), 0);
	sigprocmask(SIG_BLOCK, NULL, &before);
	sender = send_when_ready(ready[0]);
	assert_int_equal(run_all(c, NR, hear_signals, &ready[1]), SIGTERM);
	assert_int_equal(waitpid(sender, &status, 0), sender);
	for (size_t i = 0; i < NR; i++)
		assert_int_equal(c[i].status, EXIT_OK);
	sigprocmask(SIG_BLOCK, NULL, &after);
	assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
	assert_int_equal(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
	close(ready[0]);
	close(ready[1]);
}

/* They are told by pipes: of being ready, and of having heard it. */
struct orphans {
	int ready[2], heard[2];
};

static int hear_the_end(void *arg, size_t i)
{
	const struct orphans *o = arg;
	sigset_t signals;
	int signo;

	(void)i;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	tell(o->ready[1]);
	if (!sigwait(&signals, &signo))
		tell(o->heard[1]);
	return EXIT_OK;
}

static void killed_above_them(void **state)
{
	struct collector c[NR];
	struct orphans o;
	int status;
	pid_t pid;

	(void)state;
	name_all(c);
	assert_int_equal(pipe(o.ready), 0);
	assert_int_equal(pipe(o.heard), 0);
	pid = fork();
	if (!pid) {
		collectors_run(c, NR, hear_the_end, &o);
		_exit(EXIT_OK);
	}
	take_from(o.ready[0], NR);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	take_from(o.heard[0], NR);
	for (size_t i = 0; i < 2; i++) {
		close(o.ready[i]);
		close(o.heard[i]);
	}
}

/* --- descriptors --------------------------------------------------------------------------------
 */

static int succeed(void *arg, size_t i)
{
	(void)arg;
	(void)i;
	return EXIT_OK;
}

/* In a process of its own: a limit cannot be raised again. Its status: how many have failed. */
static int failed_of(size_t nr, rlim_t soft, rlim_t hard)
{
	struct collector *c = calloc(nr, sizeof(*c));
	int failed = 0, status;
	const struct rlimit limit = {soft, hard};
	FILE *to = tmpfile();
	pid_t pid = fork();

	if (!pid) {
		dup2(fileno(to), STDERR_FILENO);
		for (size_t i = 0; i < nr; i++)
			c[i].name = "a";
		if (setrlimit(RLIMIT_NOFILE, &limit))
			_exit(255);
		collectors_run(c, nr, succeed, NULL);
		for (size_t i = 0; i < nr; i++)
			failed += c[i].status == EXIT_FAILED;
		fflush(stderr);
		_exit(failed);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	rewind(to);
	said[fread(said, 1, sizeof(said) - 1, to)] = '\0';
	fclose(to);
	free(c);
	return WEXITSTATUS(status);
}

static void as_many_as_are_allowed(void **state)
{
	(void)state;
	assert_int_equal(failed_of(40, 32, 256), 0);
	assert_string_equal(said, "");
	assert_int_equal(failed_of(40, 32, 128), 40);
	assert_string_equal(
		said, "hvtrace: 40 guests at once need 144 open files: ulimit -Hn allows 128\n");
}

/* --- no process ---------------------------------------------------------------------------------
 */

static int wait_for_a_signal(void *arg, size_t i)
{
	(void)arg;
	(void)i;
	pause();
	return EXIT_OK;
}

/* From now on a system call fails with EMFILE. */
static bool deny(int call)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(rows) / sizeof(rows[0]), rows};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int next_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* In a process of its own, whose status is what is wrong. */
static int start_without(int call)
{
	struct collector c[NR];
	int before, status = 0;

	name_all(c);
	if (!deny(call))
		return 1;
	before = next_descriptor();
	collectors_run(c, NR, wait_for_a_signal, NULL);
	for (size_t i = 0; i < NR; i++)
		if (c[i].status != EXIT_FAILED || c[i].killed)
			status |= 2;
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
		status |= 4;
	if (next_descriptor() != before)
		status |= 8;
	return status;
}

/* Nothing is left of those that cannot be started, and the line says why. */
static void none_can_be_started(void **state)
{
	static const int calls[] = {SYS_pidfd_open, SYS_clone};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		FILE *to = tmpfile();
		pid_t pid = fork();
		int status;

		if (!pid) {
			dup2(fileno(to), STDERR_FILENO);
			status = start_without(calls[i]);
			fflush(stderr);
			_exit(status);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		rewind(to);
		said[fread(said, 1, sizeof(said) - 1, to)] = '\0';
		fclose(to);
		assert_non_null(strstr(said, "hvtrace: db1: a process cannot be started: Too many "
					     "open files\n"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_the_name_in_front),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(one_left_behind_is_not_waited_for),
		cmocka_unit_test(all_at_once),
		cmocka_unit_test(statuses),
		cmocka_unit_test(one_is_killed),
		cmocka_unit_test(signals_go_to_all),
		cmocka_unit_test(killed_above_them),
		cmocka_unit_test(as_many_as_are_allowed),
		cmocka_unit_test(none_can_be_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
