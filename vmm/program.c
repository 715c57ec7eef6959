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
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_MS   50
#define CANNOT_RUN 127
#define WORDS_MS   2000 /* that a server which fails has for saying so */
#define SAYS_MAX   (64 << 10)

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

/* What the child is to be. */
struct child {
	const char *const *argv;
	size_t words;
	pid_t parent;
	int death_signal;
	int out, says;	/* -1: nowhere */
	int listener;	/* -1: none */
	char **environ; /* with room for those of a listener at its end; NULL: ours */
};

/* Descriptors 0 to 2, and 3 for a listener; no others. */
static bool child_descriptors(const struct child *c)
{
	int null = open("/dev/null", O_RDWR);
	bool listens = c->listener >= 0;

	if (null < 0 || dup2(null, 0) < 0 || dup2(c->out >= 0 ? c->out : null, 1) < 0 ||
	    dup2(c->says >= 0 ? c->says : null, 2) < 0)
		return false;
	/* dup2(2) does nothing where it is there already, which stays to be closed then. */
	if (listens && (dup2(c->listener, 3) < 0 || fcntl(3, F_SETFD, 0) < 0))
		return false;
	return !close_range(listens ? 4 : 3, ~0u, 0);
}

__attribute__((noreturn)) static void child(const struct child *c)
{
	static const char not_there[] = " cannot be run: is it installed?\n";
	char *argv[PROGRAM_MAX_WORDS + 1] = {NULL};

	/* exec(3) changes none of them, but does not say so. */
	memcpy(argv, c->argv, c->words * sizeof(argv[0]));

	setpgid(0, 0);
	child_signals();
	prctl(PR_SET_PDEATHSIG, c->death_signal);
	if (getppid() == c->parent && child_descriptors(c)) {
		if (c->environ)
			environ = c->environ;
		execvp(c->argv[0], argv);
		if (write(2, c->argv[0], strlen(c->argv[0])) > 0 &&
		    write(2, not_there, sizeof(not_there) - 1) < 0)
			_exit(CANNOT_RUN);
	}
	_exit(CANNOT_RUN);
}

/* Whether they are as many as there may be: 0 or -E2BIG. */
static int count_words(const char *const *argv, size_t *words)
{
	for (*words = 0; argv[*words]; ++*words)
		if (*words == PROGRAM_MAX_WORDS)
			return -E2BIG;
	return 0;
}

static int fork_child(const struct child *c, pid_t *pid)
{
	*pid = fork();
	if (!*pid)
		child(c);
	if (*pid < 0)
		return -errno;
	setpgid(*pid, *pid); /* whoever is first; behind its exec it has been */
	return 0;
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
	struct child c = {
		.argv = p->argv, .parent = getpid(), .death_signal = SIGKILL, .listener = -1};
	int rc = count_words(p->argv, &c.words);

	for (unsigned int i = 0; i < NR_PIPES && !rc; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) || fcntl(pipes[i][0], F_SETFL, O_NONBLOCK) < 0)
			rc = -errno;
	}
	c.out = pipes[OUT][1];
	c.says = pipes[SAYS][1];
	if (!rc)
		rc = fork_child(&c, pid);
	if (rc)
		return rc;
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

/* --- servers ------------------------------------------------------------------------------- */

/* Ours, and what sd_listen_fds(3) looks at. The caller frees it. */
static char **listener_environ(char *pid_word)
{
	static char one[] = "LISTEN_FDS=1";
	size_t n = 0;
	char **all;

	while (environ[n])
		n++;
	all = calloc(n + 3, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, environ, n * sizeof(*all));
	all[n] = one;
	all[n + 1] = pid_word;
	return all;
}

/* Which number it will have nobody knows before it has it: it is written in the child, in digits.
 */
__attribute__((noreturn)) static void server_child(const struct child *c, char *digits)
{
	char text[16];
	size_t n = 0;

	for (pid_t pid = getpid(); pid; pid /= 10)
		text[n++] = (char)('0' + pid % 10);
	while (n)
		*digits++ = text[--n];
	*digits = '\0';
	child(c);
}

/* A file that does not grow: what a server says may be what somebody else has it say. Or -1. */
static int says_file(void)
{
	int fd = memfd_create("says", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && !ftruncate(fd, SAYS_MAX) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int program_serve(struct program_server *s, const char *const *argv, int listener)
{
	char pid_word[32] = "LISTEN_PID=";
	struct child c = {.argv = argv,
			  .parent = getpid(),
			  .death_signal = SIGTERM,
			  .out = -1,
			  .listener = listener,
			  .environ = listener_environ(pid_word)};
	int rc = c.environ ? count_words(argv, &c.words) : -ENOMEM;

	*s = (struct program_server){.pid = -1, .pidfd = -1, .says = -1};
	if (!rc) {
		s->says = c.says = says_file();
		s->pid = fork();
		if (!s->pid)
			server_child(&c, pid_word + strlen(pid_word));
		if (s->pid < 0)
			rc = -errno;
	}
	free(c.environ);
	if (!rc)
		s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (rc && s->says >= 0)
		close(s->says);
	return rc;
}

/* A socket that listens, in a folder that is ours alone: its address. -1: errno says why. */
static int listen_in(char *folder, struct sockaddr_un *at, unsigned int n)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (mkdtemp(folder)) {
		snprintf(at->sun_path, sizeof(at->sun_path), "%s/socket", folder);
		if (!bind(fd, (struct sockaddr *)at, sizeof(*at)) && !listen(fd, (int)n))
			return fd;
		unlink(at->sun_path);
		rmdir(folder);
	}
	close(fd);
	return -1;
}

/* All at once, before the server has as much as begun: they wait for it in the socket. 0 or -errno.
 */
static int connect_all(const struct sockaddr_un *at, int *fds, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fds[i] < 0 || connect(fds[i], (const struct sockaddr *)at, sizeof(*at)))
			return -errno;
	}
	return 0;
}

int program_serve_connected(struct program_server *s, const char *const *argv, int *fds,
			    unsigned int n)
{
	char folder[] = "/tmp/hvtrace-socket-XXXXXX";
	struct sockaddr_un at;
	int listener = listen_in(folder, &at, n), rc = listener < 0 ? -errno : 0;

	for (unsigned int i = 0; i < n; i++)
		fds[i] = -1;
	if (rc)
		return rc;
	rc = connect_all(&at, fds, n);
	if (!rc)
		rc = program_serve(s, argv, listener);
	close(listener);
	unlink(at.sun_path);
	rmdir(folder);
	for (unsigned int i = 0; i < n && rc; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	return rc;
}

void program_words(struct program_server *s, const char *name, char *err, size_t errlen)
{
	struct pollfd end = {s->pidfd, POLLIN, 0};
	char text[512];
	ssize_t n;

	poll(&end, 1, WORDS_MS);
	n = s->says >= 0 ? pread(s->says, text, sizeof(text) - 1, 0) : 0;
	text[n > 0 ? n : 0] = '\0';
	flatten(text, err, errlen);
	if (!*err)
		snprintf(err, errlen, "%s has ended", name);
}

bool program_ends(const struct program_server *s, unsigned int ms)
{
	struct pollfd end = {s->pidfd, POLLIN, 0};

	return s->pid <= 0 || (s->pidfd >= 0 && poll(&end, 1, (int)ms) > 0);
}

void program_kill(const struct program_server *s)
{
	if (s->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
}

void program_leave(struct program_server *s, unsigned int ms)
{
	bool ended;

	if (s->pid <= 0)
		return;
	ended = program_ends(s, ms) || !kill(s->pid, SIGKILL);
	kill(-s->pid, SIGKILL); /* what it has started, which might go on */
	/* Where that was not allowed it ends with this process. */
	waitpid(s->pid, NULL, ended ? 0 : WNOHANG);
	if (s->pidfd >= 0)
		close(s->pidfd);
	if (s->says >= 0)
		close(s->says);
	s->pid = s->pidfd = s->says = -1;
}
