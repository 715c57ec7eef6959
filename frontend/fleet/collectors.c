// SPDX-License-Identifier: GPL-2.0-or-later
/* collectors.c - see collectors.h */
#include "frontend/fleet/collectors.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX	   "hvtrace: "
#define FILES_MORE 64	/* descriptors beside two for each */
#define ERRORS_MS  1000 /* that a line on stderr waits for who does not read */

/* --- processes ----------------------------------------------------------------------------------
 */

struct what {
	int (*trace)(void *arg, size_t i);
	void *arg;
	sigset_t before; /* the signals that are blocked elsewhere */
	pid_t parent;
};

static void print_line(void *arg, const char *line, size_t len)
{
	const struct collector *c = arg;

	fprintf(stderr, PREFIX "%s: %.*s\n", c->name, (int)len, line);
}

/*
 * Ctrl-C of a terminal goes to this process alone, which passes it on: who got it twice would end
 * at once. Its stderr is another one than when the program began.
 */
static _Noreturn void be_collector(const struct what *w, struct collector *c, size_t i, int says)
{
	int status = EXIT_FAILED;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0);
	for (size_t k = 0; k < i; k++) {
		close(c[k].says.fd);
		close(c[k].pidfd);
	}
	if (getppid() == w->parent && dup2(says, STDERR_FILENO) >= 0 && !output_start()) {
		close(says);
		sigprocmask(SIG_SETMASK, &w->before, NULL);
		status = w->trace(w->arg, i);
	}
	fflush(NULL);
	_exit(status);
}

/* 0 or -errno; then c->pid is -1. */
static int fork_one(const struct what *w, struct collector *all, size_t i)
{
	struct collector *c = &all[i];
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	c->pid = fork();
	rc = c->pid < 0 ? -errno : 0;
	if (!c->pid) {
		close(fds[0]);
		be_collector(w, all, i, fds[1]);
	}
	close(fds[1]);
	if (rc)
		close(fds[0]);
	else
		said_begin(&c->says, fds[0], print_line, c);
	return rc;
}

static void start(const struct what *w, struct collector *all, size_t i)
{
	struct collector *c = &all[i];
	int rc;

	c->pid = c->pidfd = c->says.fd = -1;
	rc = fork_one(w, all, i);
	if (!rc) {
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		rc = c->pidfd < 0 ? -errno : 0;
	}
	if (!rc)
		return;
	fprintf(stderr, PREFIX "%s: a process cannot be started: %s\n", c->name, strerror(-rc));
	if (c->pid < 0)
		return;
	/* Nobody would be told of its end. It has only just begun, and ends in good order. */
	kill(c->pid, SIGTERM);
	waitpid(c->pid, NULL, 0);
	said_end(&c->says);
	c->pid = -1;
}

/* poll(2) takes no more than may be open, either. Whoever has to may have as many as he is allowed.
 */
static bool have_descriptors(size_t nr)
{
	const rlim_t need = 2 * nr + FILES_MORE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return true;
	if (limit.rlim_max >= need) {
		limit.rlim_cur = need;
		if (!setrlimit(RLIMIT_NOFILE, &limit))
			return true;
	}
	fprintf(stderr, PREFIX "%zu guests at once need %ju open files: ulimit -Hn allows %ju\n",
		nr, (uintmax_t)need, (uintmax_t)limit.rlim_max);
	return false;
}

static void take_status(struct collector *c)
{
	int status = 0;

	if (waitpid(c->pid, &status, 0) == c->pid)
		c->status =
			WIFEXITED(status) ? WEXITSTATUS(status) : CANCEL_STATUS(WTERMSIG(status));
	said_end(&c->says);
	c->killed = WIFSIGNALED(status);
	if (c->killed)
		fprintf(stderr, PREFIX "%s: its process was ended by signal %d (%s)\n", c->name,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	close(c->pidfd);
	c->pidfd = -1;
}

/* --- until all have ended -----------------------------------------------------------------------
 */

static int pass_on(int fd, struct collector *c, size_t nr)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (c[i].pidfd >= 0)
			kill(c[i].pid, (int)info.ssi_signo);
	return (int)info.ssi_signo;
}

static size_t still_there(const struct collector *c, size_t nr)
{
	size_t there = 0;

	for (size_t i = 0; i < nr; i++)
		there += c[i].pidfd >= 0;
	return there;
}

static int wait_for_all(struct collector *c, size_t nr, struct pollfd *fds, int signals)
{
	int signo = 0, came;

	while (still_there(c, nr)) {
		fds[2 * nr] = (struct pollfd){.fd = signals, .events = POLLIN};
		for (size_t i = 0; i < nr; i++) {
			fds[2 * i] = (struct pollfd){.fd = c[i].says.fd, .events = POLLIN};
			fds[2 * i + 1] = (struct pollfd){.fd = c[i].pidfd, .events = POLLIN};
		}
		if (poll(fds, 2 * nr + 1, -1) < 0)
			continue;
		for (size_t i = 0; i < nr; i++) {
			if (fds[2 * i].revents)
				said_hear(&c[i].says);
			if (fds[2 * i + 1].revents)
				take_status(&c[i]);
		}
		came = fds[2 * nr].revents ? pass_on(signals, c, nr) : 0;
		signo = came ? came : signo;
	}
	return signo;
}

/* A terminal that takes nothing (Ctrl-S) is not to keep a signal from them. */
static int run_all(struct collector *c, size_t nr, const struct what *what, struct pollfd *fds,
		   int signals)
{
	struct cancel never = {0};
	bool patient = !cancel_open(&never);
	int signo;

	for (size_t i = 0; i < nr; i++)
		start(what, c, i);
	if (patient) {
		output_hurry(&never);
		output_patience(ERRORS_MS);
	}
	signo = wait_for_all(c, nr, fds, signals);
	if (patient) {
		output_hurry(NULL);
		cancel_close(&never);
	}
	return signo;
}

int collectors_run(struct collector *c, size_t nr, int (*trace)(void *arg, size_t i), void *arg)
{
	struct what what = {.trace = trace, .arg = arg, .parent = getpid()};
	struct pollfd *fds = calloc(2 * nr + 1, sizeof(*fds));
	sigset_t signals;
	int signo = 0, fd;

	for (size_t i = 0; i < nr; i++)
		c[i].status = EXIT_FAILED;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &what.before);
	fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (!fds || fd < 0)
		fprintf(stderr, PREFIX "several guests cannot be waited for: %s\n",
			strerror(errno));
	else if (have_descriptors(nr))
		signo = run_all(c, nr, &what, fds, fd);
	close(fd);
	free(fds);
	sigprocmask(SIG_SETMASK, &what.before, NULL);
	return signo;
}
