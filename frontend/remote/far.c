// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * far.c - the end that is where the guest runs: starts the command, hands on what it writes, and
 * ends it when nobody is at the other end any more. It waits for nothing but in poll().
 */
#include "frontend/remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frontend/dat/bytes.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/output.h"
#include "frontend/remote/protocol.h"
#include "frontend/remote/request.h"

/*
 * What a command has that is to let its guest go: the first signal asks for that, the second one
 * has it left at once, and the third leaves it to the process that keeps the guest.
 */
#define LEAVE_MS 10000

enum {
	FIRST_FILE = STDERR_FILENO + 1, /* of the command's */
	PIPES_MAX = 2 + REMOTE_FILES_MAX,
	HIGH_FD = FIRST_FILE + REMOTE_FILES_MAX, /* beyond what it will have */
};

/* What the command writes to, and what that is for the other end. */
struct far_pipe {
	int read, write;
	unsigned int frame;
};

struct far {
	struct text bytes; /* of the request, in which are the words of argv */
	struct request request;
	char **argv;
	struct far_pipe pipes[PIPES_MAX];
	size_t nr_pipes;
	pid_t pid;
	int pidfd;
	bool ended; /* the command has, with this status */
	uint8_t status;
	bool said; /* and that is on its way to the other end */
	bool gone; /* which nobody is at any more */
	int64_t heard_ms;
	unsigned int asked; /* how often it was asked to leave for that, */
	int64_t asked_ms;   /* and when the last time */
	size_t len, done;   /* what there is to be sent, and how much of that is sent */
	uint8_t out[REMOTE_FRAME_HEAD + REMOTE_FRAME_MAX];
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- the request -------------------------------------------------------------------------------
 */

/* False: it does not come, or not in time. */
static bool read_all(uint8_t *to, size_t len, int64_t deadline)
{
	while (len) {
		struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
		int64_t left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || poll(&in, 1, (int)left) <= 0)
			return false;
		n = read(STDIN_FILENO, to, len);
		if (n <= 0)
			return false;
		to += n;
		len -= (size_t)n;
	}
	return true;
}

static bool read_request(struct far *f)
{
	const int64_t deadline = now_ms() + REMOTE_SILENCE_MS;
	uint8_t head[REQUEST_HEAD];
	int64_t len;
	char *to;

	if (!read_all(head, sizeof(head), deadline))
		return false;
	len = request_length(head);
	to = len > 0 ? text_begin(&f->bytes, (size_t)len) : NULL;
	if (!to || !read_all((uint8_t *)to, (size_t)len, deadline))
		return false;
	return !request_parse((const uint8_t *)to, (size_t)len, &f->request, &f->argv);
}

/* --- the command -------------------------------------------------------------------------------
 */

static int open_pipe(struct far *f, unsigned int frame)
{
	struct far_pipe *p = &f->pipes[f->nr_pipes];
	int fds[2], high;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	high = fcntl(fds[1], F_DUPFD_CLOEXEC, HIGH_FD);
	close(fds[1]);
	*p = (struct far_pipe){fds[0], high, frame};
	f->nr_pipes++;
	fcntl(p->read, F_SETFL, O_NONBLOCK);
	return high < 0 ? -errno : 0;
}

/* What it has to say comes first. */
static int open_pipes(struct far *f)
{
	int rc = open_pipe(f, REMOTE_STDERR);

	if (!rc)
		rc = open_pipe(f, REMOTE_STDOUT);
	for (uint32_t i = 0; i < f->request.files && !rc; i++)
		rc = open_pipe(f, REMOTE_FILE + i);
	return rc;
}

static int fd_of(unsigned int frame)
{
	return frame == REMOTE_STDOUT	? STDOUT_FILENO
	       : frame == REMOTE_STDERR ? STDERR_FILENO
					: FIRST_FILE + (int)(frame - REMOTE_FILE);
}

_Noreturn static void be_command(const struct far *f, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0)
		_exit(EXIT_FAILED);
	for (size_t i = 0; i < f->nr_pipes; i++)
		if (dup2(f->pipes[i].write, fd_of(f->pipes[i].frame)) < 0)
			_exit(EXIT_FAILED);
	signal(SIGPIPE, SIG_DFL);
	execv("/proc/self/exe", f->argv);
	_exit(EXIT_FAILED);
}

static int start(struct far *f)
{
	static char name[] = "hvtrace";
	pid_t self = getpid();
	int rc = open_pipes(f);

	if (rc)
		return rc;
	f->argv[0] = name;
	if ((f->request.flags & REMOTE_UTF8) && !output_is_utf8())
		setenv("LC_ALL", "C.UTF-8", 1);
	f->pid = fork();
	if (!f->pid)
		be_command(f, self);
	rc = f->pid < 0 ? -errno : 0;
	for (size_t i = 0; i < f->nr_pipes; i++)
		close(f->pipes[i].write);
	f->pidfd = rc ? -1 : pidfd_open(f->pid, 0);
	return rc ? rc : f->pidfd < 0 ? -errno : 0;
}

/* --- nobody is there ---------------------------------------------------------------------------
 */

static void ask_to_leave(struct far *f)
{
	kill(f->pid, f->asked < 2 ? SIGTERM : SIGKILL);
	f->asked++;
	f->asked_ms = now_ms();
}

/* Whatever the command writes from now on is dropped. Should somebody be there, he is told why. */
static void leave(struct far *f, const char *why)
{
	fprintf(stderr, "%s\n", why);
	f->gone = true;
	f->len = f->done = 0;
	if (!f->asked && !f->ended)
		ask_to_leave(f);
}

static void look_at_time(struct far *f)
{
	if (!f->gone && now_ms() - f->heard_ms >= REMOTE_SILENCE_MS)
		leave(f, "nothing was heard for too long");
	else if (f->gone && !f->ended && now_ms() - f->asked_ms >= LEAVE_MS)
		ask_to_leave(f);
}

/* --- both ways ---------------------------------------------------------------------------------
 */

static void close_pipe(struct far_pipe *p)
{
	close(p->read);
	p->read = -1;
}

static void take_word(struct far *f, char word)
{
	switch (word) {
	case REMOTE_INTERRUPT:
	case REMOTE_TERMINATE:
		if (!f->ended)
			kill(f->pid, word == REMOTE_INTERRUPT ? SIGINT : SIGTERM);
		break;
	case REMOTE_UNREAD:
		for (size_t i = 0; i < f->nr_pipes; i++)
			if (f->pipes[i].frame == REMOTE_STDOUT && f->pipes[i].read >= 0)
				close_pipe(&f->pipes[i]);
		break;
	default:
		break;
	}
}

static void listen_to(struct far *f)
{
	char words[64];
	ssize_t n = read(STDIN_FILENO, words, sizeof(words));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		leave(f, "stdin is closed");
	f->heard_ms = now_ms();
	for (ssize_t i = 0; i < n; i++)
		take_word(f, words[i]);
}

static void put_frame(struct far *f, unsigned int frame, size_t len)
{
	f->out[0] = (uint8_t)frame;
	bytes_put32(f->out + 1, (uint32_t)len);
	f->len = REMOTE_FRAME_HEAD + len;
	f->done = 0;
}

static void send_out(struct far *f)
{
	ssize_t n = write(STDOUT_FILENO, f->out + f->done, f->len - f->done);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		leave(f, "stdout is closed");
	if (n < 0)
		return;
	f->done += (size_t)n;
	if (f->done == f->len)
		f->len = f->done = 0;
}

/* Of a command that has ended all is there: others may have its descriptors, too. */
static void hand_on(struct far *f, struct far_pipe *p)
{
	ssize_t n = read(p->read, f->out + REMOTE_FRAME_HEAD, REMOTE_FRAME_MAX);

	if (n > 0 && !f->gone)
		put_frame(f, p->frame, (size_t)n);
	else if (!n || (n < 0 && errno != EINTR && (errno != EAGAIN || f->ended)))
		close_pipe(p);
}

static void reap(struct far *f)
{
	int status;

	if (waitpid(f->pid, &status, WNOHANG) != f->pid)
		return;
	f->ended = true;
	f->status = (uint8_t)(WIFEXITED(status) ? WEXITSTATUS(status)
						: CANCEL_STATUS(WTERMSIG(status)));
}

/* One at a time is on its way. */
static void hand_on_next(struct far *f)
{
	for (size_t i = 0; i < f->nr_pipes && !f->len; i++)
		if (f->pipes[i].read >= 0)
			hand_on(f, &f->pipes[i]);
}

static bool has_open_pipe(const struct far *f)
{
	for (size_t i = 0; i < f->nr_pipes; i++)
		if (f->pipes[i].read >= 0)
			return true;
	return false;
}

static bool is_over(struct far *f)
{
	if (!f->ended || f->len || has_open_pipe(f))
		return false;
	if (f->said || f->gone)
		return true;
	f->out[REMOTE_FRAME_HEAD] = f->status;
	put_frame(f, REMOTE_STATUS, 1);
	f->said = true;
	return false;
}

static int timeout_of(const struct far *f)
{
	int64_t until = f->gone ? f->asked_ms + LEAVE_MS : f->heard_ms + REMOTE_SILENCE_MS;
	int64_t left = until - now_ms();

	if (f->ended && !f->len)
		return 0;
	return left > 0 ? (int)left : 0;
}

static void wait_and_work(struct far *f)
{
	struct pollfd fds[3 + PIPES_MAX] = {
		{.fd = f->gone ? -1 : STDIN_FILENO, .events = POLLIN},
		{.fd = f->gone ? -1 : STDOUT_FILENO, .events = f->len ? POLLOUT : 0},
		{.fd = f->ended ? -1 : f->pidfd, .events = POLLIN},
	};

	for (size_t i = 0; i < f->nr_pipes; i++)
		fds[3 + i] =
			(struct pollfd){.fd = f->len ? -1 : f->pipes[i].read, .events = POLLIN};
	if (poll(fds, 3 + f->nr_pipes, timeout_of(f)) < 0)
		return;
	if (fds[0].revents)
		listen_to(f);
	if (fds[1].revents && f->len)
		send_out(f);
	else if (!f->gone && (fds[1].revents & (POLLERR | POLLHUP)))
		leave(f, "stdout is closed");
	/* What it has written is there before it has ended. */
	if (fds[2].revents)
		reap(f);
	hand_on_next(f);
	look_at_time(f);
}

static int serve(struct far *f)
{
	int rc = start(f);

	if (rc) {
		fprintf(stderr, "hvtrace: cannot start the command: %s\n", strerror(-rc));
		return EXIT_FAILED;
	}
	fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
	f->heard_ms = now_ms();
	while (!is_over(f))
		wait_and_work(f);
	return EXIT_OK;
}

int remote_serve(int argc)
{
	struct far *f;
	int status = EXIT_FAILED;

	if (argc != 1 || isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)) {
		fprintf(stderr,
			"hvtrace: remote is what hvtrace attach --connect qemu+ssh://HOST/system "
			"starts on that host\n");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	f = calloc(1, sizeof(*f));
	if (!f)
		return EXIT_FAILED;
	if (dprintf(STDOUT_FILENO, REMOTE_HELLO "%d " HVTRACE_VERSION "\n", REMOTE_PROTOCOL) < 0)
		status = EXIT_FAILED;
	else if (!read_request(f))
		fprintf(stderr, "hvtrace: remote: no request has come that makes sense\n");
	else
		status = serve(f);
	free(f->argv);
	text_free(&f->bytes);
	free(f);
	return status;
}
