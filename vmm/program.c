// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * program.c - see program.h. What follows fork() in the child makes system calls only: other
 * threads may have held any lock.
 */
#include "vmm/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_MS   50
#define CANNOT_RUN 127

enum { OUT, SAYS, NR_PIPES };

/* What is kept of stderr: its end. */
struct last_words {
	char text[200];
	size_t len;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void child_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++) {
		if (i != SIGKILL && i != SIGSTOP)
			signal(i, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void child(const struct program *p, size_t words,
					    int pipes[NR_PIPES][2], pid_t parent)
{
	static const char not_there[] = " cannot be run: is it installed?\n";
	char *argv[PROGRAM_MAX_WORDS + 1] = {NULL};
	int null = open("/dev/null", O_RDWR);

	/* exec(3) changes none of them, but does not say so. */
	memcpy(argv, p->argv, words * sizeof(argv[0]));

	setpgid(0, 0);
	child_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent && null >= 0 && dup2(null, 0) >= 0 && dup2(pipes[OUT][1], 1) >= 0 &&
	    dup2(pipes[SAYS][1], 2) >= 0 && !close_range(3, ~0u, 0)) {
		execvp(p->argv[0], argv);
		if (write(2, p->argv[0], strlen(p->argv[0])) > 0 &&
		    write(2, not_there, sizeof(not_there) - 1) < 0)
			_exit(CANNOT_RUN);
	}
	_exit(CANNOT_RUN);
}

static void keep_out(const struct program *p, size_t *kept, const char *text, size_t len)
{
	size_t room = p->out ? p->room - 1 - *kept : 0, n = len < room ? len : room;

	if (!p->out)
		return;
	memcpy(p->out + *kept, text, n);
	*kept += n;
	p->out[*kept] = '\0';
}

static void keep_words(struct last_words *w, const char *text, size_t len)
{
	size_t room = sizeof(w->text) - 1;

	if (len > room) {
		text += len - room;
		len = room;
	}
	if (w->len + len > room) {
		memmove(w->text, w->text + (w->len + len - room), room - len);
		w->len = room - len;
	}
	memcpy(w->text + w->len, text, len);
	w->len += len;
	w->text[w->len] = '\0';
}

/* All that there is to read of it by now. */
static void hear(const struct program *p, unsigned int which, int fd, size_t *kept,
		 struct last_words *words)
{
	char text[4096];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0) {
		if (which == OUT)
			keep_out(p, kept, text, (size_t)n);
		else
			keep_words(words, text, (size_t)n);
	}
}

/* Up to its end; or why it is to be ended. */
static int listen_to(const struct program *p, int pidfd, int pipes[NR_PIPES][2],
		     struct last_words *words)
{
	struct pollfd fds[] = {
		{pipes[OUT][0], POLLIN, 0}, {pipes[SAYS][0], POLLIN, 0}, {pidfd, POLLIN, 0}};
	int64_t end = now_ms() + p->ms;
	size_t kept = 0;

	while (!fds[NR_PIPES].revents) {
		if (poll(fds, NR_PIPES + 1, SLICE_MS) < 0 && errno != EINTR)
			return -errno;
		for (unsigned int i = 0; i < NR_PIPES; i++) {
			hear(p, i, pipes[i][0], &kept, words);
			if (fds[i].revents & POLLHUP)
				fds[i].fd = -1;
		}
		if (p->cancelled && p->cancelled(p->arg))
			return -ECANCELED;
		if (now_ms() >= end)
			return -ETIMEDOUT;
	}
	return 0;
}

/* In one line, and without what a terminal would make something of. */
static void flatten(const char *text, char *line, size_t room)
{
	size_t n = 0;

	for (; *text && n + 3 < room; text++) {
		if (*text == '\n' && n && text[strspn(text, " \n")]) {
			line[n++] = ';';
			line[n++] = ' ';
		} else if (*text != '\n') {
			line[n++] = (unsigned char)*text < ' ' ? ' ' : *text;
		}
	}
	line[n] = '\0';
}

static void say(const struct program *p, const struct last_words *w, int status, char *err,
		size_t errlen)
{
	flatten(w->text, err, errlen);
	if (*err)
		return;
	if (WIFSIGNALED(status))
		snprintf(err, errlen, "%s was ended by signal %d", p->argv[0], WTERMSIG(status));
	else
		snprintf(err, errlen, "%s has failed with status %d", p->argv[0],
			 WEXITSTATUS(status));
}

static int wait_for(const struct program *p, pid_t pid, int pipes[NR_PIPES][2], char *err,
		    size_t errlen)
{
	struct last_words words = {.text = ""};
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
	int rc = pidfd < 0 ? -errno : listen_to(p, pidfd, pipes, &words);

	kill(pid, SIGKILL); /* until it is waited for it is there, dead or not */
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pidfd >= 0)
		close(pidfd);
	if (rc == -ETIMEDOUT)
		snprintf(err, errlen, "%s did not end in %u s", p->argv[0], (p->ms + 999) / 1000);
	else if (rc)
		snprintf(err, errlen, "%s: %s", p->argv[0], strerror(-rc));
	if (rc || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return rc;
	say(p, &words, status, err, errlen);
	return WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN ? -ENOENT : -EIO;
}

static void close_pipes(int pipes[NR_PIPES][2])
{
	for (unsigned int i = 0; i < NR_PIPES; i++) {
		for (unsigned int end = 0; end < 2; end++) {
			if (pipes[i][end] >= 0)
				close(pipes[i][end]);
			pipes[i][end] = -1;
		}
	}
}

static int start(const struct program *p, int pipes[NR_PIPES][2], pid_t *pid)
{
	pid_t parent = getpid();
	size_t words = 0;

	while (p->argv[words]) {
		if (++words > PROGRAM_MAX_WORDS)
			return -E2BIG;
	}
	for (unsigned int i = 0; i < NR_PIPES; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) || fcntl(pipes[i][0], F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	}
	*pid = fork();
	if (!*pid)
		child(p, words, pipes, parent);
	if (*pid < 0)
		return -errno;
	setpgid(*pid, *pid); /* whoever is first; behind its exec it has been */
	for (unsigned int i = 0; i < NR_PIPES; i++) {
		close(pipes[i][1]);
		pipes[i][1] = -1;
	}
	return 0;
}

int program_run(const struct program *p, char *err, size_t errlen)
{
	int pipes[NR_PIPES][2] = {{-1, -1}, {-1, -1}};
	pid_t pid = -1;
	int rc;

	if (p->out)
		p->out[0] = '\0';
	rc = start(p, pipes, &pid);
	if (rc)
		snprintf(err, errlen, "cannot start %s: %s", p->argv[0], strerror(-rc));
	else
		rc = wait_for(p, pid, pipes, err, errlen);
	close_pipes(pipes);
	return rc;
}
