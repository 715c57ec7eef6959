// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * child.c - see child.h. Between hvtrace and the program is a process that guards it: it outlives
 * hvtrace by as much as the program needs to clean up. What follows fork() takes no lock of the C
 * library's: other threads may have held them.
 */
#include "frontend/image/child.h"

#include "frontend/lib/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLEAN_UP_MS 3000  /* that it may take once it is told to end */
#define SAID_MAX    65536 /* bytes of stderr that are looked at */

enum { FD_LIFE = STDERR_FILENO + 1, NR_FDS };

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- in the program's process ------------------------------------------------------------------
 */

struct exec {
	const char *program;
	char *const *argv, *const *env;
	uint64_t file_max;
	bool ends_last;
	int fds[NR_FDS];
};

_Noreturn static void be_program(const struct exec *x, pid_t guard)
{
	const struct rlimit files = {x->file_max, x->file_max}, none = {0, 0};
	sigset_t empty;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guard)
		_exit(127);
	setrlimit(RLIMIT_FSIZE, &files);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGTERM, x->ends_last ? SIG_IGN : SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	execve(x->program, x->argv, x->env);
	_exit(127);
}

/* --- in the guard's process --------------------------------------------------------------------
 */

/* Its descriptors are 0 to FD_LIFE, and no others. */
static bool take_fds(const struct exec *x)
{
	int high[NR_FDS];

	for (int i = 0; i < NR_FDS; i++) {
		high[i] = fcntl(x->fds[i], F_DUPFD, NR_FDS);
		if (high[i] < 0)
			return false;
	}
	for (int i = 0; i < NR_FDS; i++)
		if (dup2(high[i], i) < 0)
			return false;
	close_range(NR_FDS, ~0U, 0);
	return !fcntl(FD_LIFE, F_SETFD, FD_CLOEXEC);
}

/* Whether hvtrace tells the program to end, or is not there any more: before that ends by itself.
 */
static bool is_told_to_end(int program)
{
	struct pollfd fds[] = {{FD_LIFE, POLLIN, 0}, {program, POLLIN, 0}};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

/* Those that are left are killed, and those of them that have lost their parents are waited for. */
static void end_others(pid_t group)
{
	const struct timespec ms = {0, 1000000};

	for (int i = 0; i < CLEAN_UP_MS; i++) {
		pid_t gone;

		kill(-group, SIGKILL);
		gone = waitpid(-1, NULL, WNOHANG);
		if (gone < 0 && errno == ECHILD)
			break;
		if (!gone)
			nanosleep(&ms, NULL);
	}
}

_Noreturn static void guard_main(const struct exec *x)
{
	struct pollfd end = {.events = POLLIN};
	sigset_t all;
	int status = 127 << 8;
	pid_t pid, self;

	/* A Ctrl-C is for hvtrace. */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!take_fds(x))
		_exit(127);
	self = getpid();
	pid = fork();
	if (!pid)
		be_program(x, self);
	if (pid < 0)
		_exit(127);
	setpgid(pid, pid);
	close_range(0, STDERR_FILENO, 0);
	end.fd = pidfd_open(pid, 0);
	if (end.fd < 0 || is_told_to_end(end.fd)) {
		kill(-pid, SIGTERM);
		if (end.fd >= 0)
			poll(&end, 1, CLEAN_UP_MS);
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	end_others(pid);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : CANCEL_STATUS(WTERMSIG(status)));
}

/* --- in hvtrace ---------------------------------------------------------------------------------
 */

bool child_find(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	size_t len;

	for (const char *at = dirs ? dirs : "/usr/bin:/bin"; *at; at += len + (at[len] == ':')) {
		int n;

		len = strcspn(at, ":");
		n = snprintf(path, size, "%.*s/%s", (int)len, at, name);
		if (*at == '/' && n > 0 && (size_t)n < size && !access(path, X_OK))
			return true;
	}
	return false;
}

static bool is_set_in(const char *const *env, const char *word)
{
	size_t len = strcspn(word, "=");

	for (; *env; env++)
		if (!strncmp(*env, word, len) && (*env)[len] == '=')
			return true;
	return false;
}

/* The environment, with that in it. To be freed; NULL: no memory. */
static const char **make_env(const char *const *more)
{
	size_t n = 0;
	const char **env;

	for (char **e = environ; e && *e; e++)
		n++;
	for (const char *const *e = more; *e; e++)
		n++;
	env = calloc(n + 1, sizeof(*env));
	if (!env)
		return NULL;
	n = 0;
	for (char **e = environ; e && *e; e++)
		if (!is_set_in(more, *e))
			env[n++] = *e;
	for (; *more; more++)
		env[n++] = *more;
	return env;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_fds(struct child *c, struct exec *x)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, life[2] = {-1, -1};

	/* A socket, so that writing to one who is gone is no signal. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) || pipe2(out, O_CLOEXEC) ||
	    pipe2(life, O_CLOEXEC))
		c->errors = -errno;
	else
		c->errors = memfd_create("stderr", MFD_CLOEXEC);
	if (c->errors == -1)
		c->errors = -errno;
	c->in = in[0];
	c->out = out[0];
	c->life = life[1];
	x->fds[STDIN_FILENO] = in[1];
	x->fds[STDOUT_FILENO] = out[1];
	x->fds[STDERR_FILENO] = c->errors;
	x->fds[FD_LIFE] = life[0];
	return c->errors < 0 ? c->errors : 0;
}

static void close_theirs(struct exec *x)
{
	close_fd(&x->fds[STDIN_FILENO]);
	close_fd(&x->fds[STDOUT_FILENO]);
	close_fd(&x->fds[FD_LIFE]);
}

static void close_own(struct child *c)
{
	close_fd(&c->in);
	close_fd(&c->out);
	close_fd(&c->life);
	close_fd(&c->errors);
}

int child_start(struct child *c, const struct child_config *cfg)
{
	const char **env = make_env(cfg->env);
	struct exec x = {
		.program = cfg->program,
		.argv = (char *const *)(uintptr_t)cfg->argv,
		.env = (char *const *)(uintptr_t)env,
		.file_max = cfg->file_max,
		.ends_last = cfg->ends_last,
	};
	int ret;

	*c = (struct child){.guard = -1, .in = -1, .out = -1, .errors = -1, .life = -1};
	if (!env)
		return -ENOMEM;
	c->cancel = cfg->cancel;
	c->deadline_ms = now_ms() + cfg->time_ms;
	ret = open_fds(c, &x);
	if (!ret) {
		c->guard = fork();
		if (!c->guard)
			guard_main(&x);
		ret = c->guard < 0 ? -errno : 0;
	}
	close_theirs(&x);
	if (ret)
		close_own(c);
	free(env);
	return ret;
}

int child_write(const struct child *c, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(c->in, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* 0: there is something to be read. */
static int wait_for(const struct child *c, int fd)
{
	struct pollfd fds[] = {{fd, POLLIN, 0}, {c->cancel ? c->cancel->fd : -1, POLLIN, 0}};
	int64_t left = c->deadline_ms - now_ms();
	int n;

	do
		n = poll(fds, 2, left > 0 ? (int)left : 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!n)
		return -ETIMEDOUT;
	return fds[1].revents ? -ECANCELED : 0;
}

ssize_t child_read(const struct child *c, char *buf, size_t size)
{
	ssize_t n;
	int ret;

	do {
		ret = wait_for(c, c->out);
		n = ret ? ret : read(c->out, buf, size);
	} while (!ret && n < 0 && errno == EINTR);
	return ret || n >= 0 ? n : -errno;
}

int64_t child_said(const struct child *c)
{
	struct stat st;

	return fstat(c->errors, &st) ? 0 : st.st_size;
}

void child_error(const struct child *c, int64_t from, const char *behind, char *line, size_t size)
{
	char *said = malloc(SAID_MAX + 1), *at;
	ssize_t n = said ? pread(c->errors, said, SAID_MAX, from) : 0;
	size_t len;

	*line = '\0';
	if (n > 0) {
		said[n] = '\0';
		at = *behind ? strstr(said, behind) : NULL;
		at = at ? at + strlen(behind) : said;
		len = strcspn(at, "\n");
		snprintf(line, size, "%.*s", (int)len, at);
		for (char *l = line; *l; l++)
			if ((unsigned char)*l < ' ' || *l == 0x7f)
				*l = '.';
	}
	free(said);
}

int child_end(struct child *c)
{
	int status, ret;

	/* It may wait for somebody to read. */
	close_fd(&c->in);
	close_fd(&c->out);
	close_fd(&c->life);
	if (c->guard <= 0)
		return -ECHILD;
	do
		ret = waitpid(c->guard, &status, 0) < 0 ? -errno : 0;
	while (ret == -EINTR);
	c->guard = -1;
	if (ret)
		return ret;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CANCEL_STATUS(WTERMSIG(status));
}

/* The guard has closed its own end of what is read, and waits for the program only. */
static int wait_for_guard(const struct child *c)
{
	int guard = pidfd_open(c->guard, 0), ret;

	if (guard < 0)
		return -errno;
	ret = wait_for(c, guard);
	close(guard);
	return ret;
}

int child_wait(struct child *c)
{
	char rest[512];
	ssize_t n;
	int status, ret;

	close_fd(&c->in);
	do
		n = child_read(c, rest, sizeof(rest));
	while (n > 0);
	ret = n ? (int)n : wait_for_guard(c);
	status = child_end(c);
	return ret ? ret : status;
}

void child_free(struct child *c)
{
	if (c->guard > 0)
		child_end(c);
	close_own(c);
}
