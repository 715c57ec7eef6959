// SPDX-License-Identifier: GPL-2.0-or-later
/* step.c - see step.h. Between fork() and exec nothing is called that takes a lock. */
#include "frontend/serve/step.h"

#include "frontend/lib/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXEC_ERR 127

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

static void pass_on(void *arg, const char *line, size_t len)
{
	struct step *s = arg;

	snprintf(s->last, sizeof(s->last), "%.*s", (int)len, line);
	fprintf(stderr, "hvtrace: %s: %s\n", s->who, s->last);
}

int step_start(struct step *s, char *const *argv, int out, const char *who)
{
	pid_t parent = getpid();
	int fds[2], rc;

	*s = (struct step){.who = who, .pidfd = -1, .says.fd = -1};
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
	said_begin(&s->says, fds[0], pass_on, s);
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (s->pidfd >= 0)
		return 0;
	rc = -errno;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	close(s->says.fd);
	*s = (struct step){.pidfd = -1, .says.fd = -1};
	return rc;
}

/* --- its end ------------------------------------------------------------------------------------
 */

static void take_status(struct step *s)
{
	int status;

	if (wait4(s->pid, &status, WNOHANG, &s->used) != s->pid)
		return;
	said_end(&s->says);
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : CANCEL_STATUS(WTERMSIG(status));
	if (WIFSIGNALED(status))
		snprintf(s->last, sizeof(s->last), "its process was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	close(s->pidfd);
	s->pidfd = -1;
}

void step_hear(struct step *s)
{
	if (s->says.fd >= 0)
		said_hear(&s->says);
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
