// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach-segments.c - a recording in files that follow each other: a process traces the guest and
 * writes to a pipe, and what comes out of that is cut here.
 */
#include "frontend/cmd/guests.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"
#include "frontend/record/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIPE_SIZE (1 << 20)
#define CHUNK	  (256 << 10)

struct cutter {
	const struct attach_options *opt;
	struct segments_names names;
	atomic_bool failed; /* told by the thread that packs, too */
	pid_t child;
	int signo; /* that has killed it; 0: none has */
	int from;  /* what it records */
	struct segments *segments;
};

/* --- files --------------------------------------------------------------------------------------
 */

static int name_file(void *arg, char path[RECORD_PATH_MAX])
{
	struct cutter *c = arg;

	return segments_name(&c->names, c->opt->session.output, time(NULL), path);
}

/* Programs read the names. */
static void tell_file(void *arg, const char *path, const struct record_result *result, int rc)
{
	char size[RECORD_SIZE_LEN], bytes[RECORD_SIZE_LEN];
	struct cutter *c = arg;

	if (rc || result->lost) {
		fprintf(stderr, "hvtrace: %s is not %s: %s%s%s\n", path, rc ? "finished" : "whole",
			strerror(rc ? -rc : -result->lost),
			rc ? "; what is recorded is there: hvtrace repair " : "", rc ? path : "");
		c->failed = true;
	}
	if (rc)
		return;
	printf("%s\n", path);
	fflush(stdout);
	if (!c->opt->session.unheard)
		fprintf(stderr, "hvtrace: %s: %s, %s of records\n", path,
			record_size(result->size, size), record_size(result->bytes, bytes));
}

/* --- the process that traces --------------------------------------------------------------------
 */

static _Noreturn void be_tracer(const struct cutter *c, int to, pid_t parent,
				const sigset_t *signals)
{
	struct attach_options opt = *c->opt;
	int status = EXIT_FAILED;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* A terminal's Ctrl-C comes from who starts this alone: twice it would mean at once. */
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN);
	opt.session.record = true;
	opt.session.output = "-";
	if (getppid() == parent && dup2(to, STDOUT_FILENO) >= 0) {
		close(to);
		sigprocmask(SIG_SETMASK, signals, NULL);
		status = attach_guest(&opt);
	}
	fflush(stderr);
	_exit(status);
}

static int start_tracer(struct cutter *c, const sigset_t *signals)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE);
	fflush(NULL);
	c->child = fork();
	if (!c->child) {
		close(fds[0]);
		be_tracer(c, fds[1], parent, signals);
	}
	close(fds[1]);
	c->from = fds[0];
	return c->child < 0 ? -errno : 0;
}

/* --- what comes ---------------------------------------------------------------------------------
 */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* 1: there is more to come. Who traces ends when nobody takes what it writes. */
static int take(struct cutter *c, char *chunk)
{
	ssize_t n = read(c->from, chunk, CHUNK);
	char err[512];

	if (n < 0)
		return errno == EINTR;
	if (!n)
		return 0;
	if (!segments_add(c->segments, chunk, (size_t)n, now_ms(), err, sizeof(err)))
		return 1;
	fprintf(stderr, "hvtrace: the recording ends: %s\n", err);
	c->failed = true;
	return 0;
}

static void pass_on(const struct cutter *c, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) == sizeof(info))
		kill(c->child, (int)info.ssi_signo);
}

static void take_all(struct cutter *c, int signals)
{
	struct pollfd fds[] = {{.fd = c->from, .events = POLLIN},
			       {.fd = signals, .events = POLLIN}};
	char *chunk = malloc(CHUNK);
	int more = chunk != NULL;

	while (more) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			pass_on(c, signals);
		if (fds[0].revents)
			more = take(c, chunk);
	}
	free(chunk);
	close(c->from);
}

static int status_of(struct cutter *c, int signals)
{
	struct pollfd fd = {.fd = signals, .events = POLLIN};
	int status;

	/* It may still be about to let the guest go. */
	while (!waitpid(c->child, &status, WNOHANG))
		if (poll(&fd, 1, 50) > 0)
			pass_on(c, signals);
	c->signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (c->signo)
		return CANCEL_STATUS(c->signo);
	return WEXITSTATUS(status) ? WEXITSTATUS(status) : c->failed ? EXIT_FAILED : EXIT_OK;
}

/*
 * Who has started this process is to know that the guest was not let go: of many guests it is
 * recovered then.
 */
static void end_as_tracer(int signo)
{
	const struct rlimit no_core = {0, 0};
	sigset_t set;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &no_core); /* which the other one has written */
	signal(signo, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signo);
}

int attach_segments(const struct attach_options *opt)
{
	struct cutter c = {.opt = opt, .from = -1};
	const struct segments_config cfg = {
		.ms = (int64_t)opt->segment_ms, .name = name_file, .done = tell_file, .arg = &c};
	sigset_t set, before;
	int signals, rc, status = EXIT_FAILED;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	c.segments = segments_new(&cfg);
	rc = signals < 0 ? -errno : !c.segments ? -ENOMEM : start_tracer(&c, &before);
	if (rc) {
		fprintf(stderr, "hvtrace: cannot start a process: %s\n", strerror(-rc));
	} else {
		take_all(&c, signals);
		if (segments_finish(c.segments))
			c.failed = true;
		status = status_of(&c, signals);
	}
	segments_free(c.segments);
	close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (c.signo)
		end_as_tracer(c.signo);
	return status;
}
