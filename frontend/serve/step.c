// SPDX-License-Identifier: GPL-2.0-or-later
/* step.c - see step.h. Between fork() and exec nothing is called that takes a lock. */
#include "frontend/serve/step.h"

#include "frontend/lib/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX	 "hvtrace: "
#define EXEC_ERR 127

/* A pipe that was full is empty by then. */
#define REST_READS 256

/* The daemon's own program, also where its file was replaced by another version. */
#define PROGRAM "/proc/self/exe"

static _Noreturn void be_step(char *const *argv, int out, int says, pid_t parent)
{
	sigset_t none;
	int null;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	null = open("/dev/null", O_RDWR);
	if (getppid() == parent && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(out < 0 ? null : out, STDOUT_FILENO) >= 0 && dup2(says, STDERR_FILENO) >= 0) {
		close_range(STDERR_FILENO + 1, ~0U, 0);
		execv(PROGRAM, argv);
	}
	_exit(EXEC_ERR);
}

int step_start(struct step *s, char *const *argv, int out, const char *who)
{
	pid_t parent = getpid();
	int fds[2], rc;

	*s = (struct step){.who = who, .pidfd = -1, .says = -1};
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	s->pid = fork();
	rc = s->pid < 0 ? -errno : 0;
	if (!s->pid)
		be_step(argv, out, fds[1], parent);
	close(fds[1]);
	if (rc) {
		s->pid = 0;
		close(fds[0]);
		return rc;
	}
	s->says = fds[0];
	fcntl(s->says, F_SETFL, O_NONBLOCK);
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (s->pidfd >= 0)
		return 0;
	rc = -errno;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	close(s->says);
	*s = (struct step){.pidfd = -1, .says = -1};
	return rc;
}

/* --- what it says -------------------------------------------------------------------------------
 */

static void pass_on(struct step *s, const char *line, size_t len)
{
	size_t own = len >= strlen(PREFIX) && !strncmp(line, PREFIX, strlen(PREFIX))
			     ? strlen(PREFIX)
			     : 0;

	snprintf(s->last, sizeof(s->last), "%.*s", (int)(len - own), line + own);
	fprintf(stderr, PREFIX "%s: %s\n", s->who, s->last);
}

static void pass_lines(struct step *s, bool all)
{
	size_t at = 0;
	const char *end;

	while ((end = memchr(s->line + at, '\n', s->len - at))) {
		pass_on(s, s->line + at, (size_t)(end - s->line) - at);
		at = (size_t)(end - s->line) + 1;
	}
	if (at < s->len && (all || (!at && s->len == sizeof(s->line)))) {
		pass_on(s, s->line + at, s->len - at);
		at = s->len;
	}
	memmove(s->line, s->line + at, s->len - at);
	s->len -= at;
}

static void hear(struct step *s)
{
	ssize_t n = read(s->says, s->line + s->len, sizeof(s->line) - s->len);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		s->len += (size_t)n;
	pass_lines(s, n <= 0);
	if (n > 0)
		return;
	close(s->says);
	s->says = -1;
}

/* What it has said by its end is in the pipe: a while of that, as what it has started may go on. */
static void hear_rest(struct step *s)
{
	for (unsigned int i = 0; i < REST_READS && s->says >= 0; i++) {
		struct pollfd more = {.fd = s->says, .events = POLLIN};

		if (poll(&more, 1, 0) <= 0)
			break;
		hear(s);
	}
	pass_lines(s, true);
	if (s->says >= 0)
		close(s->says);
	s->says = -1;
}

/* --- its end ------------------------------------------------------------------------------------
 */

static void take_status(struct step *s)
{
	int status;

	if (wait4(s->pid, &status, WNOHANG, &s->used) != s->pid)
		return;
	hear_rest(s);
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : CANCEL_STATUS(WTERMSIG(status));
	if (WIFSIGNALED(status))
		snprintf(s->last, sizeof(s->last), "its process was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	close(s->pidfd);
	s->pidfd = -1;
}

void step_hear(struct step *s)
{
	if (s->says >= 0)
		hear(s);
	if (s->pidfd >= 0)
		take_status(s);
}

/* What it has started, and left behind, may have its stderr still: nobody waits for that. */
bool step_is_over(const struct step *s)
{
	return s->pid && s->pidfd < 0;
}

void step_signal(const struct step *s, int signo)
{
	if (s->pid && s->pidfd >= 0)
		kill(s->pid, signo);
}
