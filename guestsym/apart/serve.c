// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serve.c - the server: it forks a process for each job, looks at its time, and says how it ended.
 * Nothing that a job has read or made is looked at here.
 */
#include "guestsym/apart/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct server {
	int sock;
	const struct apart_job *jobs;
	size_t n;
	const struct apart_limits *limits;
	uint64_t mapped; /* bytes */
	pid_t pid;	 /* the server's own */
};

/* --- in a job's process ------------------------------------------------------------------- */

#ifdef HVTRACE_COVERAGE
void __gcov_dump(void);
#endif

_Noreturn static void do_job(const struct server *s, uint32_t job, const int fds[APART_FDS],
			     int why)
{
	char text[APART_TEXT] = "";
	int rc;

	close(s->sock);
	/* With the server nobody is left who looks at its time. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != s->pid)
		_exit(0);
	rc = confine_job(fds, s->limits, s->mapped);
	if (rc)
		snprintf(text, sizeof(text), "what reads it cannot be confined: %s", strerror(-rc));
	else
		rc = s->jobs[job].run(fds, text);
	text[APART_TEXT - 1] = '\0';
	if (write(why, text, strlen(text)) < 0)
		rc = -EIO;
#ifdef HVTRACE_COVERAGE
	__gcov_dump();
#endif
	_exit(rc < 0 && rc > -256 ? -rc : 0);
}

/* --- one job ------------------------------------------------------------------------------ */

/* True: the client wants no more of it, or is gone. */
static bool is_cancelled(const struct server *s)
{
	struct request r;

	return recv(s->sock, &r, sizeof(r), MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

static enum outcome await_end(const struct server *s, int pidfd)
{
	struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN}, {.fd = s->sock, .events = POLLIN}};
	int n;

	for (;;) {
		n = poll(fds, 2, (int)s->limits->wall_s * 1000);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return TIMED_OUT;
		if (fds[0].revents)
			return ENDED;
		if (is_cancelled(s))
			return CANCELLED;
	}
}

static void judge(struct answer *a, int status)
{
	if (a->outcome != ENDED)
		return;
	if (WIFEXITED(status)) {
		a->err = -WEXITSTATUS(status);
		return;
	}
	a->outcome = WTERMSIG(status) == SIGXCPU ? TIMED_OUT : DIED;
	a->err = WTERMSIG(status);
}

static void watch_job(const struct server *s, pid_t pid, int why, struct answer *a)
{
	int pidfd = pidfd_open(pid, 0), status = 0;
	ssize_t n;

	if (pidfd < 0) {
		a->outcome = DIED;
		a->err = SIGKILL;
	} else {
		a->outcome = await_end(s, pidfd);
		close(pidfd);
	}
	if (a->outcome != ENDED)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	judge(a, status);
	n = a->outcome == ENDED ? read(why, a->why, sizeof(a->why) - 1) : 0;
	a->why[n > 0 ? n : 0] = '\0';
}

static void run_job(const struct server *s, uint32_t job, const int fds[APART_FDS],
		    struct answer *a)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		a->err = -errno;
		return;
	}
	pid = fork();
	if (!pid) {
		close(ends[0]);
		do_job(s, job, fds, ends[1]);
	}
	close(ends[1]);
	if (pid < 0)
		a->err = -errno;
	else
		watch_job(s, pid, ends[0], a);
	close(ends[0]);
}

/* --- requests ----------------------------------------------------------------------------- */

/* Those that came with a request, in their places; -1: none. */
static void take_descriptors(struct msghdr *msg, uint32_t has, int fds[APART_FDS])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int got[APART_FDS];
	size_t n = 0, next = 0;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(got, CMSG_DATA(c), n * sizeof(int));
	}
	for (size_t i = 0; i < APART_FDS; i++)
		fds[i] = has & 1U << i && next < n ? got[next++] : -1;
}

/* False: the client is gone. */
static bool receive(const struct server *s, struct request *r, int fds[APART_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(APART_FDS * sizeof(int))];
	} control;
	struct iovec iov = {r, sizeof(*r)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t n;

	do
		n = recvmsg(s->sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*r))
		return false;
	take_descriptors(&msg, r->has, fds);
	return true;
}

static void answer_requests(const struct server *s)
{
	struct request r;
	int fds[APART_FDS];

	while (receive(s, &r, fds)) {
		struct answer a = {.outcome = ENDED, .err = -ENOSYS};

		if (r.job < s->n)
			run_job(s, r.job, fds, &a);
		for (size_t i = 0; i < APART_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		if (r.job != CANCEL && send(s->sock, &a, sizeof(a), MSG_NOSIGNAL) < 0)
			return;
	}
}

/* --- beginning ---------------------------------------------------------------------------- */

static void close_from_to(unsigned int first, unsigned int last)
{
	long max = sysconf(_SC_OPEN_MAX);

	if (first > last || !close_range(first, last, 0))
		return;
	/* Before Linux 5.9 */
	for (unsigned int fd = first; fd <= last && fd < (unsigned long)max; fd++)
		close((int)fd);
}

/*
 * Descriptors 0 to 2 lead nowhere; a sanitizer may say something. Where hvtrace was started without
 * them the socket may be one of these: the result is where it is now.
 */
static int close_others(int sock)
{
	int null;

	if (sock <= STDERR_FILENO)
		sock = fcntl(sock, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close_from_to(STDERR_FILENO + 1, (unsigned int)sock - 1);
	close_from_to((unsigned int)sock + 1, ~0U);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= (APART_LOOSE ? STDOUT_FILENO : STDERR_FILENO) && null >= 0; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	return sock;
}

/* Whatever handlers hvtrace has, they are not for here. */
static void reset_signals(void)
{
	sigset_t none;

	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	/* Files that would grow beyond their limit do not. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static uint64_t mapped_now(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;
	char line[128];

	if (f && fgets(line, sizeof(line), f))
		pages = strtoull(line, NULL, 10);
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

_Noreturn void serve(int sock, const struct apart_job *jobs, size_t n,
		     const struct apart_limits *limits)
{
	struct server s = {-1, jobs, n, limits, mapped_now(), getpid()};

	/* What ends hvtrace's process group does not end this before hvtrace. */
	setsid();
	prctl(PR_SET_NAME, "hvtrace-parsers");
	reset_signals();
	s.sock = close_others(sock);
	if (s.sock >= 0 && !confine_server())
		answer_requests(&s);
	_exit(0);
}
