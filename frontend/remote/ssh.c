// SPDX-License-Identifier: GPL-2.0-or-later
/* ssh.c - see ssh.h */
#include "frontend/remote/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/remote/protocol.h"
#include "vmm/thread.h"

/* --- starting it -------------------------------------------------------------------------------
 */

/* Its standard descriptors, of which [0] is its own and [1] is ours. */
struct ends {
	int in[2], out[2], err[2];
};

static void ends_close(struct ends *e, int which)
{
	int *all[] = {e->in, e->out, e->err};

	for (size_t i = 0; i < 3; i++) {
		if (all[i][which] >= 0)
			close(all[i][which]);
		all[i][which] = -1;
	}
}

static int ends_pipe(int ends[2], bool is_input)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	ends[0] = fds[is_input ? 0 : 1];
	ends[1] = fds[is_input ? 1 : 0];
	return 0;
}

static int ends_open(struct ends *e)
{
	int rc;

	*e = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}};
	rc = ends_pipe(e->in, true);
	if (!rc)
		rc = ends_pipe(e->out, false);
	if (!rc)
		rc = ends_pipe(e->err, false);
	return rc;
}

static int spawn(struct ssh *s, const struct ends *e, const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, piped;
	int rc;

	sigemptyset(&none);
	sigemptyset(&piped);
	sigaddset(&piped, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, e->in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, e->out[0], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, e->err[0], STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &piped);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawnp(&s->pid, argv[0], &actions, &attr, (char *const *)(uintptr_t)argv,
			  environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		s->pid = 0;
	return -rc;
}

/*
 * Signals that a terminal, or timeout(1), sends to all its processes are answered by the one that
 * has something to finish: ssh leaves those alone that it finds ignored. It stays where it can ask
 * for a password.
 */
static int spawn_deaf(struct ssh *s, const struct ends *e, const char *const *argv)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*terminate)(int) = signal(SIGTERM, SIG_IGN);
	int rc = spawn(s, e, argv);

	signal(SIGTERM, terminate);
	signal(SIGINT, interrupt);
	return rc;
}

int ssh_start(struct ssh *s, const char *const *argv)
{
	struct ends e;
	int rc = ends_open(&e);

	s->in = s->out = s->err = s->pidfd = -1;
	if (!rc)
		rc = spawn_deaf(s, &e, argv);
	ends_close(&e, 0);
	if (rc) {
		ends_close(&e, 1);
		return rc;
	}
	s->in = e.in[1];
	s->out = e.out[1];
	s->err = e.err[1];
	s->pidfd = pidfd_open(s->pid, 0);
	fcntl(s->err, F_SETFL, O_NONBLOCK);
	return 0;
}

/* --- what is said ------------------------------------------------------------------------------
 */

int ssh_send(struct ssh *s, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(s->in, at, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static void *beat(void *arg)
{
	struct ssh *s = arg;
	struct pollfd stop = {.fd = s->stop, .events = POLLIN};
	const char word = REMOTE_BEAT;

	/* Threads are told by a signal that rights are given up. */
	while (poll(&stop, 1, REMOTE_BEAT_MS) <= 0)
		if (write(s->in, &word, 1) < 0 && errno != EINTR)
			break; /* who reads what comes back sees that it has ended */
	return NULL;
}

int ssh_beat(struct ssh *s)
{
	int rc;

	s->stop = eventfd(0, EFD_CLOEXEC);
	if (s->stop < 0)
		return -errno;
	rc = thread_start(&s->thread, "beat", NULL, beat, s);
	s->beats = !rc;
	if (rc)
		close(s->stop);
	return rc;
}

static void hear(struct ssh *s, char c)
{
	if (c == '\n' || c == '\r') {
		s->line[s->line_len] = '\0';
		if (s->line_len)
			memcpy(s->said, s->line, s->line_len + 1);
		s->line_len = 0;
	} else if (s->line_len < sizeof(s->line) - 1) {
		/* It is only to be shown. */
		s->line[s->line_len++] = c >= ' ' && c < 0x7f ? c : '?';
	}
}

void ssh_hear(struct ssh *s)
{
	char part[512];
	ssize_t n = s->err < 0 ? -1 : read(s->err, part, sizeof(part));

	for (ssize_t i = 0; i < n; i++)
		hear(s, part[i]);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	hear(s, '\n');
	if (s->err >= 0)
		close(s->err);
	s->err = -1;
}

/* --- the end -----------------------------------------------------------------------------------
 */

static void stop_beating(struct ssh *s)
{
	if (!s->beats)
		return;
	eventfd_write(s->stop, 1);
	pthread_join(s->thread, NULL);
	close(s->stop);
	s->beats = false;
}

static int wait_for(struct ssh *s, int ms)
{
	struct pollfd ended = {.fd = s->pidfd, .events = POLLIN};
	int status;

	if (s->pidfd < 0 || poll(&ended, 1, ms) != 1)
		ssh_drop(s);
	if (waitpid(s->pid, &status, 0) != s->pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int ssh_end(struct ssh *s, int ms)
{
	int status;

	if (!s->pid)
		return -1;
	stop_beating(s);
	close(s->in);
	status = wait_for(s, ms);
	/* All that it has said is there by now; another process of it may have that open, too. */
	for (int i = 0; i < 16 && s->err >= 0; i++)
		ssh_hear(s);
	hear(s, '\n');
	close(s->out);
	if (s->err >= 0)
		close(s->err);
	if (s->pidfd >= 0)
		close(s->pidfd);
	s->pid = 0;
	return status;
}

void ssh_drop(const struct ssh *s)
{
	if (s->pidfd >= 0)
		pidfd_send_signal(s->pidfd, SIGKILL, NULL, 0);
	else if (s->pid)
		kill(s->pid, SIGKILL);
}
