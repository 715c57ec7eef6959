// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-guestsym-apart.c - the process in which hostile bytes are read: what it may not do, what
 * ends it, and what becomes of answers that are lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guestsym/apart/apart.h"

/* As in apart/local.h: these builds open and map what they like. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(HVTRACE_COVERAGE)
#define LOOSE 1
#else
#define LOOSE 0
#endif

static const int nothing[APART_FDS] = {-1, -1, -1};
static int pipe_in, pipe_out; /* open in whoever starts it */

/* --- jobs --------------------------------------------------------------------------------------
 */

static int do_echo(const int fds[APART_FDS], char why[APART_TEXT])
{
	char buf[64] = "";
	ssize_t n = pread(fds[0], buf, sizeof(buf) - 1, 0);

	snprintf(why, APART_TEXT, "%s\033[2J", buf);
	return n > 0 ? apart_write(fds[2], buf, (size_t)n, 0) : -EIO;
}

static int do_fail(const int fds[APART_FDS], char why[APART_TEXT])
{
	(void)fds;
	snprintf(why, APART_TEXT, "because");
	return -EILSEQ;
}

/* Each is to be refused: the number of the first that is not, or 0. */
static int do_forbidden(const int fds[APART_FDS], char why[APART_TEXT])
{
	char *const argv[] = {(char[]){"true"}, NULL};
	struct sockaddr_in to = {.sin_family = AF_INET};
	char byte = 0;

	(void)fds;
	(void)why;
	if (open("/etc/passwd", O_RDONLY) >= 0)
		return -1;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0)
		return -2;
	if (!execv("/bin/true", argv))
		return -3;
	if (fork() >= 0)
		return -4;
	if (!kill(getppid(), 0) || errno != EPERM)
		return -5;
	if (ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) >= 0)
		return -6;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return -7;
	if (read(pipe_out, &byte, 1) >= 0 || write(pipe_in, &byte, 1) >= 0)
		return -8;
	if (connect(STDIN_FILENO, (struct sockaddr *)&to, sizeof(to)) >= 0)
		return -9;
	return 0;
}

_Noreturn static int do_loop(const int fds[APART_FDS], char why[APART_TEXT])
{
	volatile unsigned int n = 0;

	(void)fds;
	(void)why;
	for (;;)
		n++;
}

static int do_memory(const int fds[APART_FDS], char why[APART_TEXT])
{
	size_t got = 0;

	(void)fds;
	while (mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED)
		got++;
	snprintf(why, APART_TEXT, "%zu", got);
	return -ENOMEM;
}

static int do_file(const int fds[APART_FDS], char why[APART_TEXT])
{
	(void)why;
	return ftruncate(fds[2], 1 << 30) ? -errno : 0;
}

static int do_crash(const int fds[APART_FDS], char why[APART_TEXT])
{
	(void)fds;
	(void)why;
	*(volatile int *)8 = 1;
	return 0;
}

/* Says that it has begun, and goes on for ever without using time: its limits do not end it. */
static int do_wait(const int fds[APART_FDS], char why[APART_TEXT])
{
	char byte;

	(void)why;
	if (write(fds[1], "", 1) != 1)
		return -EIO;
	return read(fds[0], &byte, 1) < 0 ? -EIO : 0;
}

enum { ECHO_BACK, FAIL, FORBIDDEN, LOOP, MEMORY, FILE_SIZE, CRASH, WAIT, NR };

static const struct apart_job jobs[NR] = {
	[ECHO_BACK] = {do_echo}, [FAIL] = {do_fail},	 [FORBIDDEN] = {do_forbidden},
	[LOOP] = {do_loop},	 [MEMORY] = {do_memory}, [FILE_SIZE] = {do_file},
	[CRASH] = {do_crash},	 [WAIT] = {do_wait},
};

static const struct apart_limits limits = {
	.memory = 64 << 20, .file = 1 << 20, .cpu_s = 1, .wall_s = 60};

/* --- tests -------------------------------------------------------------------------------------
 */

static struct apart *start(int cancel)
{
	struct apart *a;

	assert_int_equal(apart_start(&a, jobs, NR, &limits, cancel), 0);
	return a;
}

static int set_up(void **state)
{
	int ends[2];

	if (pipe(ends))
		return -1;
	/* Numbers that a job's own descriptors do not have. */
	pipe_out = fcntl(ends[0], F_DUPFD, 100);
	pipe_in = fcntl(ends[1], F_DUPFD, 100);
	close(ends[0]);
	close(ends[1]);
	*state = start(-1);
	return 0;
}

static int tear_down(void **state)
{
	apart_stop(*state);
	close(pipe_in);
	close(pipe_out);
	return 0;
}

/* What comes back cannot be changed any more; what is said can be printed. */
static void test_result(void **state)
{
	const int fds[APART_FDS] = {apart_file("in", "hello", 5), -1, apart_file("out", NULL, 0)};
	char why[APART_TEXT];
	void *data;
	size_t len;

	assert_int_equal(apart_run(*state, ECHO_BACK, fds, why), 0);
	assert_string_equal(why, "hello?[2J");
	assert_int_equal(apart_file_take(fds[2], 100, &data, &len), 0);
	assert_int_equal(len, 5);
	assert_memory_equal(data, "hello", 5);
	assert_int_equal(pwrite(fds[2], "x", 1, 0), -1);
	assert_int_equal(ftruncate(fds[2], 0), -1);
	munmap(data, len);
	assert_int_equal(apart_file_take(fds[0], 4, &data, &len), -EFBIG);
	close(fds[0]);
	close(fds[2]);
}

static void test_given(void **state)
{
	int fd = apart_file_given("in", "hello", 5);
	void *data;
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 1 << 20), -1);
	assert_int_equal(apart_file_map(fd, 5, &data, &len), 0);
	assert_memory_equal(data, "hello", 5);
	munmap(data, len);
	close(fd);
}

/* Somebody who can write there still does not change what is looked at. */
static void test_not_sealed(void **state)
{
	int fd = apart_file("out", "hello", 5);
	void *mine = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *data;
	size_t len;

	(void)state;
	assert_ptr_not_equal(mine, MAP_FAILED);
	assert_int_equal(apart_file_take(fd, 4, &data, &len), -EFBIG);
	assert_int_equal(apart_file_take(fd, 100, &data, &len), 0);
	memcpy(mine, "howdy", 5);
	assert_int_equal(len, 5);
	assert_memory_equal(data, "hello", 5);
	munmap(data, len);
	munmap(mine, 5);
	close(fd);
}

/* Whoever makes up a large file has hvtrace fill no memory with it. */
static void test_holes(void **state)
{
	int fd = apart_file("out", NULL, 0);
	struct stat st;
	void *data;
	size_t len;

	(void)state;
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	assert_int_equal(apart_file_take(fd, 64 << 20, &data, &len), 0);
	assert_int_equal(len, 64 << 20);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_blocks, 0);
	munmap(data, len);
	close(fd);
}

static void test_error(void **state)
{
	char why[APART_TEXT];

	assert_int_equal(apart_run(*state, FAIL, nothing, why), -EILSEQ);
	assert_string_equal(why, "because");
	assert_int_equal(apart_run(*state, NR, nothing, why), -ENOSYS);
}

static void test_forbidden(void **state)
{
	char why[APART_TEXT];

	if (LOOSE)
		skip();
	assert_int_equal(apart_run(*state, FORBIDDEN, nothing, why), 0);
}

/* A limit of time ends it, and the next one begins anew. */
static void test_time(void **state)
{
	char why[APART_TEXT];

	assert_int_equal(apart_run(*state, LOOP, nothing, why), -ETIME);
	assert_non_null(strstr(why, "takes longer"));
	assert_int_equal(apart_run(*state, FAIL, nothing, why), -EILSEQ);
}

static void test_memory(void **state)
{
	char why[APART_TEXT];

	if (LOOSE)
		skip();
	assert_int_equal(apart_run(*state, MEMORY, nothing, why), -ENOMEM);
	assert_in_range(atoi(why), 1, 64);
}

static void test_file_size(void **state)
{
	const int fds[APART_FDS] = {-1, -1, apart_file("out", NULL, 0)};
	char why[APART_TEXT];

	assert_int_equal(apart_run(*state, FILE_SIZE, fds, why), -EFBIG);
	close(fds[2]);
}

static void test_crash(void **state)
{
	char why[APART_TEXT];

	assert_int_equal(apart_run(*state, CRASH, nothing, why), -EPROTO);
	assert_non_null(strstr(why, "died"));
	assert_int_equal(apart_run(*state, FAIL, nothing, why), -EILSEQ);
}

static void test_cancel(void **state)
{
	struct apart *a;
	char why[APART_TEXT];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	a = start(ends[0]);
	assert_int_equal(apart_run(a, FAIL, nothing, why), -EILSEQ);
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_int_equal(apart_run(a, LOOP, nothing, why), -ECANCELED);
	apart_stop(a);
	close(ends[0]);
	close(ends[1]);
}

/* The process that was started last. */
static pid_t last_child(void)
{
	FILE *f = fopen("/proc/thread-self/children", "r");
	int pid = 0, next;

	assert_non_null(f);
	while (fscanf(f, "%d", &next) == 1)
		pid = next;
	fclose(f);
	return pid;
}

/* Whoever asks is told, and does not wait. */
static void test_killed(void **state)
{
	struct apart *a = start(-1);
	char why[APART_TEXT];

	(void)state;
	assert_int_equal(kill(last_child(), SIGKILL), 0);
	assert_int_equal(apart_run(a, FAIL, nothing, why), -EPROTO);
	assert_int_equal(apart_run(a, FAIL, nothing, why), -EPROTO);
	assert_non_null(strstr(why, "gone"));
	apart_stop(a);
}

static void *kill_once_begun(void *arg)
{
	const int *begun_and_whom = arg;
	char byte;

	if (read(begun_and_whom[0], &byte, 1) == 1)
		kill(begun_and_whom[1], SIGKILL);
	return NULL;
}

/* Nobody would look at a job's time any more. */
static void test_server_killed_in_job(void **state)
{
	struct apart *a = start(-1);
	int begun[2], never[2], args[2];
	char why[APART_TEXT], byte;
	pthread_t killer;

	(void)state;
	assert_int_equal(pipe(begun), 0);
	assert_int_equal(pipe(never), 0);
	args[0] = begun[0];
	args[1] = last_child();
	assert_int_equal(pthread_create(&killer, NULL, kill_once_begun, args), 0);
	assert_int_equal(apart_run(a, WAIT, (const int[APART_FDS]){never[0], begun[1], -1}, why),
			 -EPROTO);
	pthread_join(killer, NULL);
	apart_stop(a);
	/* The end of the pipe that the job has is closed with it. */
	close(begun[1]);
	assert_int_equal(read(begun[0], &byte, 1), 0);
	close(begun[0]);
	close(never[0]);
	close(never[1]);
}

static pid_t stop_last_child(void)
{
	pid_t pid = last_child();
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static void kill_child(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* Somebody has stopped it: it ends with us. */
static void test_server_stopped(void **state)
{
	struct apart *a = start(-1);
	pid_t server = stop_last_child();

	(void)state;
	apart_stop(a);
	kill_child(server);
}

/* While clock_is_ours no time passes, but for what somebody waits here in vain. */
static bool clock_is_ours;
static int clock_ms;

int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	int rc = (int)syscall(SYS_poll, fds, nfds, clock_is_ours ? 0 : timeout);

	if (!rc && clock_is_ours)
		clock_ms += timeout;
	return rc;
}

/* Who wants nothing of it any more does not wait for as long as a job may take. */
static void test_cancel_stopped(void **state)
{
	struct apart *a;
	pid_t server;
	char why[APART_TEXT];
	int ends[2], err;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	a = start(ends[0]);
	server = stop_last_child();
	assert_int_equal(write(ends[1], "", 1), 1);
	clock_is_ours = true;
	clock_ms = 0;
	err = apart_run(a, LOOP, nothing, why);
	clock_is_ours = false;
	apart_stop(a);
	kill_child(server);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(err, -EPROTO);
	assert_in_range(clock_ms, 1, 10000);
}

/* Whose socket is then one of the three. */
static void test_closed_streams(void **state)
{
	int kept[3];
	struct apart *a;
	char why[APART_TEXT];
	int err;

	(void)state;
	for (int fd = 0; fd < 3; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		close(fd);
	}
	a = start(-1);
	err = apart_run(a, FAIL, nothing, why);
	apart_stop(a);
	for (int fd = 0; fd < 3; fd++) {
		dup2(kept[fd], fd);
		close(kept[fd]);
	}
	assert_int_equal(err, -EILSEQ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result),	       cmocka_unit_test(test_not_sealed),
		cmocka_unit_test(test_error),	       cmocka_unit_test(test_forbidden),
		cmocka_unit_test(test_time),	       cmocka_unit_test(test_memory),
		cmocka_unit_test(test_file_size),      cmocka_unit_test(test_crash),
		cmocka_unit_test(test_cancel),	       cmocka_unit_test(test_killed),
		cmocka_unit_test(test_closed_streams), cmocka_unit_test(test_given),
		cmocka_unit_test(test_holes),	       cmocka_unit_test(test_server_killed_in_job),
		cmocka_unit_test(test_server_stopped), cmocka_unit_test(test_cancel_stopped),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("guestsym-apart", tests, set_up, tear_down);
}
