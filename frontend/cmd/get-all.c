// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * get-all.c - `hvtrace get --all`: a file of all traces that are under way, each line with its
 * guest's name in front. Each is read by a process of its own; lines of a trace_pipe come in the
 * order of their times if the clock of all is the host's.
 */
#include "frontend/cmd/command.h"
#include "frontend/control/client.h"
#include "frontend/fleet/lines.h"
#include "frontend/lib/output.h"
#include "frontend/session/connect.h"
#include "frontend/session/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_LEN 8192

/* A guest, and what has come of it that is no whole line yet. */
struct source {
	const struct registry_guest *guest;
	pid_t pid;
	int fd; /* -1: nothing comes any more */
	size_t len;
	char line[LINE_LEN];
};

struct get_all {
	const char *file;
	struct source *source;
	struct pollfd *fds;
	unsigned int nr;
	int width; /* of the longest name */
	struct lines *lines;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- processes ----------------------------------------------------------------------------------
 */

static _Noreturn void be_reader(const struct source *s, const char *file, int to)
{
	char pid[16];
	int status = EXIT_FAILED;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(pid, sizeof(pid), "%ld", (long)s->guest->pid);
	if (dup2(to, STDOUT_FILENO) >= 0 && !output_start()) {
		close(to);
		status = get_file(pid, file);
	}
	fflush(NULL);
	_exit(status);
}

static int start(struct get_all *g, const struct registry_guest *guest)
{
	struct source *s = &g->source[g->nr];
	int fds[2];

	*s = (struct source){.guest = guest, .fd = -1};
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	s->pid = fork();
	if (!s->pid) {
		for (unsigned int i = 0; i < g->nr; i++)
			close(g->source[i].fd);
		close(fds[0]);
		be_reader(s, g->file, fds[1]);
	}
	close(fds[1]);
	if (s->pid < 0) {
		close(fds[0]);
		return -errno;
	}
	s->fd = fds[0];
	g->nr++;
	return 0;
}

/* The exit status: of the first that has failed. */
static int end(struct get_all *g)
{
	int status = EXIT_OK, one;

	for (unsigned int i = 0; i < g->nr; i++) {
		if (g->source[i].fd >= 0)
			close(g->source[i].fd);
		if (waitpid(g->source[i].pid, &one, 0) == g->source[i].pid && !status)
			status = WIFEXITED(one) ? WEXITSTATUS(one) : EXIT_FAILED;
	}
	return status;
}

/* --- lines --------------------------------------------------------------------------------------
 */

/* With those that are longer than any in pieces. */
static int put_lines(struct get_all *g, unsigned int i, bool all)
{
	struct source *s = &g->source[i];
	size_t at = 0, len;
	const char *newline;
	int rc = 0;

	while (!rc && at < s->len) {
		newline = memchr(s->line + at, '\n', s->len - at);
		len = newline ? (size_t)(newline - s->line) - at : s->len - at;
		if (!newline && !all && (at || s->len < sizeof(s->line)))
			break;
		rc = lines_put(g->lines, i, s->line + at, len, now_ms());
		at += len + !!newline;
	}
	memmove(s->line, s->line + at, s->len - at);
	s->len -= at;
	return rc;
}

static int hear(struct get_all *g, unsigned int i)
{
	struct source *s = &g->source[i];
	ssize_t n = read(s->fd, s->line + s->len, sizeof(s->line) - s->len);

	if (n < 0 && errno == EINTR)
		return 0;
	if (n > 0) {
		s->len += (size_t)n;
		return put_lines(g, i, false);
	}
	close(s->fd);
	s->fd = -1;
	return put_lines(g, i, true);
}

static int print_due(struct get_all *g, bool all)
{
	unsigned int i;
	char *line;

	while ((line = lines_take(g->lines, &i, now_ms(), all))) {
		printf("%*s: %s\n", g->width, g->source[i].guest->name, line);
		free(line);
	}
	return fflush(stdout) ? -errno : 0;
}

/* How many are left; or -errno. */
static int wait_for_lines(struct get_all *g)
{
	int rc = 0, left = 0;

	for (unsigned int i = 0; i < g->nr; i++)
		g->fds[i] = (struct pollfd){.fd = g->source[i].fd, .events = POLLIN};
	/* Whoever reads has gone: nothing else tells while no line comes. */
	g->fds[g->nr] = (struct pollfd){.fd = STDOUT_FILENO};
	if (poll(g->fds, g->nr + 1, LINES_WAIT_MS / 5) < 0 && errno != EINTR)
		return -errno;
	for (unsigned int i = 0; i < g->nr && !rc; i++) {
		if (g->fds[i].revents)
			rc = hear(g, i);
		left += g->source[i].fd >= 0;
	}
	if (!rc && g->fds[g->nr].revents & (POLLERR | POLLHUP | POLLNVAL))
		rc = -EPIPE;
	return rc ? rc : left;
}

static int print_all(struct get_all *g)
{
	int left, rc = 0;

	do {
		left = wait_for_lines(g);
		if (left >= 0)
			rc = print_due(g, !left);
	} while (left > 0 && !rc);
	return left < 0 ? left : rc;
}

/* --- all ----------------------------------------------------------------------------------------
 */

static bool has_host_clock(const struct registry_guest *guest)
{
	int fd = registry_connect(guest->pid);
	struct control_client *c = fd < 0 ? NULL : control_client_new(fd, STDOUT_FILENO);
	struct text text = {0};
	bool host = c && !control_read_all(c, "trace_clock", &text) && strstr(text.buf, "[host]");

	text_free(&text);
	control_client_free(c);
	return host;
}

static bool have_one_clock(const struct registry_guest *guests, int nr)
{
	for (int i = 0; i < nr; i++)
		if (!has_host_clock(&guests[i]))
			return false;
	return true;
}

static bool is_called(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');

	return !strcmp(slash ? slash + 1 : file, name);
}

static int get_from(const struct registry_guest *guests, int nr, const char *file)
{
	bool is_pipe = is_called(file, "trace_pipe");
	bool timed = (is_pipe || is_called(file, "trace")) && have_one_clock(guests, nr);
	struct get_all g = {.file = file};
	int status, rc = -ENOMEM;

	g.source = calloc((size_t)nr, sizeof(*g.source));
	g.fds = calloc((size_t)nr + 1, sizeof(*g.fds));
	g.lines = lines_new(timed);
	if (is_pipe && !timed)
		fprintf(stderr, "hvtrace: the guests have clocks of their own: lines come as they "
				"arrive (attach -C host has one time for all)\n");
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	if (g.source && g.fds && g.lines)
		rc = 0;
	for (int i = 0; i < nr && !rc; i++) {
		g.width = (int)strlen(guests[i].name) > g.width ? (int)strlen(guests[i].name)
								: g.width;
		rc = start(&g, &guests[i]);
	}
	if (!rc)
		rc = print_all(&g);
	status = end(&g);
	lines_free(g.lines);
	free(g.fds);
	free(g.source);
	if (!rc)
		return status;
	if (rc != -EPIPE)
		fprintf(stderr, "hvtrace: cannot read %s of all: %s\n", file, strerror(-rc));
	return rc == -EPIPE ? EXIT_OK : EXIT_FAILED;
}

int get_all(const char *file)
{
	struct registry_guest *guests = NULL;
	int nr = registry_list(&guests), status = EXIT_FAILED;

	if (nr > 0)
		status = get_from(guests, nr, file);
	else if (nr < 0)
		fprintf(stderr, "hvtrace: the traces that run cannot be listed: %s\n",
			strerror(-nr));
	else
		fprintf(stderr,
			"hvtrace: no trace of this user runs: hvtrace attach starts some\n");
	free(guests);
	return status;
}
