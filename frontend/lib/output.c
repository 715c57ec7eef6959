// SPDX-License-Identifier: GPL-2.0-or-later
/* output.c - see output.h */
#include "frontend/lib/output.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "frontend/lib/cancel.h"
#include "frontend/lib/color.h"
#include "frontend/lib/escape.h"
#include "frontend/lib/exit.h"

#define SINK_BUFFER (64 << 10)
#define PAINT_LEN   (64 << 10) /* longer lines have no colours */
#define RETRY_MS    10
#define CLEAR	    "\r\033[K" /* the line, on a terminal */

/* What a stream of ours writes to. */
struct sink {
	int fd;
	bool own;    /* is closed with it */
	bool placed; /* may be written at any place */
	size_t part; /* so much is written at a time: what does not block where that can be told */
	const struct cancel *cancel; /* NULL: it is not to be given up */
	void (*asked)(void *arg);    /* not NULL: nor by cancel, of which this is told */
	void *arg;
	const struct cancel *hurry; /* once it came nothing waits; NULL: it does */
	int patience_ms;   /* that one write may wait with hurry; -1: as long as it takes */
	bool late;	   /* the last one has waited for so long: none does until there is room */
	bool status;	   /* the line that it is in has output_status() in it */
	size_t lost;	   /* that were to be shown, since then */
	uint64_t *written; /* of what came, since the beginning; or NULL */
	bool terminal;
	struct escape escape;
	enum paint paint;
	bool at_once;	  /* what is no whole line yet is painted, and shown, too */
	bool in_line;	  /* the beginning of the line is shown already */
	struct text line; /* else what there is of it */
	int error;	  /* the first one, errno; of stdout: until output_end() has said it */
};

/* --- a stream --------------------------------------------------------------------------------- */

/* Of stdout and stderr, of which a process has one each. */
static struct {
	struct sink *out, *err;
} standard;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until when a write that begins now may wait for room. */
static int64_t sink_deadline(const struct sink *k)
{
	if (!k->hurry || k->patience_ms < 0)
		return INT64_MAX;
	return k->late ? 0 : now_ms() + k->patience_ms;
}

/* For poll(): 0 if nothing waits any more. */
static int sink_left_ms(const struct sink *k, int64_t deadline)
{
	int64_t left;

	if (cancel_came(k->hurry))
		return 0;
	if (deadline == INT64_MAX)
		return -1;
	left = deadline - now_ms();
	return left > 0 ? (int)left : 0;
}

static int sink_wait_hurry(const struct sink *k, int64_t deadline)
{
	for (;;) {
		int left = sink_left_ms(k, deadline);
		struct pollfd fds[] = {{.fd = k->fd, .events = POLLOUT},
				       {.fd = left ? k->hurry->fd : -1, .events = POLLIN}};

		if (poll(fds, 2, left) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return 0;
		if (!left)
			return -ECANCELED;
	}
}

/* There is room, or an error. */
static int sink_wait(const struct sink *k, int64_t deadline)
{
	if (k->hurry)
		return sink_wait_hurry(k, deadline);
	struct pollfd fds[] = {{.fd = k->fd, .events = POLLOUT},
			       {.fd = k->cancel ? k->cancel->fd : -1, .events = POLLIN}};

	while (!k->cancel || k->asked || !cancel_asked(k->cancel)) {
		if (poll(fds, 2, -1) < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		if (fds[1].revents && k->asked)
			k->asked(k->arg);
		else if (fds[0].revents && !fds[1].revents)
			return 0;
	}
	return -ECANCELED;
}

/* All of it as it is: 0 or -errno. */
static int sink_put_by(const struct sink *k, const char *buf, size_t len, int64_t deadline)
{
	size_t done = 0;

	while (done < len) {
		size_t part = len - done < k->part ? len - done : k->part;
		int rc = sink_wait(k, deadline);
		ssize_t n = rc ? -1 : write(k->fd, buf + done, part);

		if (n >= 0)
			done += (size_t)n;
		else if (rc || (errno != EAGAIN && errno != EINTR))
			return rc ? rc : -errno;
		else if (errno == EAGAIN && k->hurry && !sink_left_ms(k, deadline))
			return -ECANCELED;
		/* A terminal with little room may say that it has some, and take nothing. */
		else if (errno == EAGAIN)
			poll(NULL, 0, RETRY_MS);
	}
	return 0;
}

static int sink_put(struct sink *k, const char *buf, size_t len)
{
	int rc = sink_put_by(k, buf, len, sink_deadline(k));

	k->late = rc == -ECANCELED;
	return rc;
}

static bool sink_is_painted(const struct sink *k)
{
	return k->paint != PAINT_NOTHING && color_is_wanted(k->terminal);
}

/* Part of a line, or its end. */
static void sink_paint_piece(struct sink *k, const char *at, size_t len, bool whole,
			     struct text *to)
{
	text_add(&k->line, at, len);
	if (!whole && !k->at_once && k->line.len < PAINT_LEN)
		return;
	if (k->in_line || (!whole && !k->at_once))
		text_add(to, k->line.buf, k->line.len);
	else
		paint_line(k->paint, k->line.buf, k->line.len, to);
	if (whole)
		text_putc(to, '\n');
	to->failed |= k->line.failed;
	k->in_line = !whole;
	k->line.len = 0;
}

static void sink_paint(struct sink *k, const struct text *shown, struct text *to)
{
	const char *at = shown->buf, *end = shown->buf + shown->len;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));

		sink_paint_piece(k, at, (size_t)((eol ? eol : end) - at), eol, to);
		at = eol ? eol + 1 : end;
	}
}

/* What can be made sense of by a terminal: what it is not to obey, and colours for people. */
static int sink_put_shown(struct sink *k, const char *buf, size_t len)
{
	struct text shown = {0}, painted = {0};
	bool paint = sink_is_painted(k);
	const struct text *out = paint ? &painted : &shown;
	int rc;

	escape_add(&k->escape, &shown, buf, len);
	if (paint)
		sink_paint(k, &shown, &painted);
	rc = shown.failed || painted.failed ? -ENOMEM : sink_put(k, out->buf, out->len);
	text_free(&shown);
	text_free(&painted);
	return rc;
}

/* A last line that has no end. */
static int sink_put_rest(struct sink *k)
{
	struct text rest = {0};
	int rc;

	if (!k->in_line)
		paint_line(k->paint, k->line.buf, k->line.len, &rest);
	else
		text_add(&rest, k->line.buf, k->line.len);
	escape_end(&k->escape, &rest);
	rc = rest.failed ? -ENOMEM : sink_put(k, rest.buf, rest.len);
	text_free(&rest);
	text_free(&k->line);
	return rc;
}

/* Before what there may be room for again. */
static int sink_tell_lost(struct sink *k)
{
	char text[80];
	int len = snprintf(text, sizeof(text), "\nhvtrace: %zu line%s not shown: nothing took %s\n",
			   k->lost, k->lost == 1 ? " is" : "s are", k->lost == 1 ? "it" : "them");

	return sink_put(k, text, (size_t)len);
}

/* For fopencookie(3): 0 is an error. */
static ssize_t sink_write(void *cookie, const char *buf, size_t len)
{
	struct sink *k = cookie;
	int rc = k->lost ? sink_tell_lost(k) : 0;

	if (!rc && k->status)
		rc = sink_put(k, CLEAR, strlen(CLEAR));
	k->status = false;
	if (!rc) {
		k->lost = 0;
		rc = k->terminal || sink_is_painted(k) ? sink_put_shown(k, buf, len)
						       : sink_put(k, buf, len);
	}
	if (!rc && k->written)
		*k->written += len;
	if (!rc)
		return (ssize_t)len;
	k->lost++;
	if (!k->error)
		k->error = -rc;
	errno = -rc;
	return 0;
}

/* Only to the beginning, to write it all once more; or to any place. */
static int sink_seek(void *cookie, off64_t *at, int whence)
{
	struct sink *k = cookie;

	if (k->placed) {
		*at = lseek(k->fd, *at, whence);
		return *at < 0 ? -1 : 0;
	}
	if (*at || whence != SEEK_SET || lseek(k->fd, 0, SEEK_SET))
		return -1;
	k->error = 0;
	k->lost = 0;
	if (k->written)
		*k->written = 0;
	k->line.len = 0;
	k->in_line = false;
	return ftruncate(k->fd, 0) ? -1 : 0;
}

static int sink_close(void *cookie)
{
	struct sink *k = cookie;
	int rc = sink_put_rest(k);

	if (k->own && close(k->fd) && !rc)
		rc = -errno;
	if (k->own && k->error)
		rc = -k->error;
	free(k);
	if (rc)
		errno = -rc;
	return rc ? -1 : 0;
}

/* Of a descriptor that stays open, and is written to as it is. */
static struct sink sink_of(int fd)
{
	return (struct sink){.fd = fd, .part = SIZE_MAX, .terminal = isatty(fd)};
}

/*
 * Whether a write blocks belongs to all who have a pipe or terminal open: it is opened once more.
 * What cannot be, a socket, is written to in parts that it has room for when it has any.
 */
static void sink_unblock(struct sink *k, int fd)
{
	char path[32];
	struct stat st;

	k->part = SINK_BUFFER;
	k->fd = -1;
	if (fstat(fd, &st) || S_ISREG(st.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	k->fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (k->fd < 0)
		k->part = PIPE_BUF;
}

static int sink_use(struct sink *k, int fd)
{
	k->part = SINK_BUFFER;
	k->fd = -1;
	if (k->cancel)
		sink_unblock(k, fd);
	if (k->fd < 0)
		k->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	k->own = true;
	k->terminal = isatty(fd);
	return k->fd < 0 ? -errno : 0;
}

/*
 * A FIFO that nobody reads cannot be opened by one who does not wait in the kernel, and nothing
 * tells when that has changed: so it is tried again. -errno; ECANCELED: it was given up.
 */
static int open_path(const char *path, int flags, const struct cancel *cancel)
{
	struct pollfd asked = {.fd = cancel ? cancel->fd : -1, .events = POLLIN};
	struct stat st;

	flags |= O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | (cancel ? O_NONBLOCK : 0);
	for (;;) {
		int fd = open(path, flags, 0666);

		if (fd >= 0)
			return fd;
		if (errno != ENXIO || !cancel || stat(path, &st) || !S_ISFIFO(st.st_mode))
			return -errno;
		if (cancel_asked(cancel))
			return -ECANCELED;
		poll(&asked, 1, RETRY_MS);
	}
}

/* flags: O_TRUNC, or none. */
static int sink_open(struct sink *k, const char *path, int flags, const struct cancel *cancel)
{
	int fd, rc;

	if (!path) {
		/* fill_standard() */
		if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
			return -EBADF;
		k->paint = standard.out ? standard.out->paint : PAINT_NOTHING;
		return sink_use(k, STDOUT_FILENO);
	}
	fd = open_path(path, flags, cancel);
	if (fd < 0)
		return fd;
	rc = sink_use(k, fd);
	close(fd);
	return rc;
}

/*
 * NULL with errno; the sink is as it was then, else the stream's, *to. Whoever keeps the stream for
 * ever keeps that, too: LeakSanitizer does not look where its own fopencookie() has it.
 */
static FILE *stream_with(const struct sink *k, int mode, size_t buffer, struct sink **to)
{
	static const cookie_io_functions_t ops = {
		.write = sink_write, .seek = sink_seek, .close = sink_close};
	struct sink *own = malloc(sizeof(*own));
	FILE *f = NULL;

	if (!own)
		return NULL;
	*to = own;
	*own = *k;
	f = fopencookie(own, "w", ops);
	if (f)
		setvbuf(f, NULL, mode, buffer);
	else
		free(own);
	return f;
}

static FILE *stream_of(const struct sink *k, int mode, size_t buffer)
{
	struct sink *own;

	return stream_with(k, mode, buffer, &own);
}

/*
 * What is opened later must not get the place of a stream that is closed: it would be written to.
 * To what is put there instead nothing can be written, and of stdin nothing be read.
 */
static int fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		/* The lowest that is free: this one. */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags | O_NOCTTY) < 0)
			return -errno;
	}
	return 0;
}

int output_start(void)
{
	int rc = fill_standard();
	struct sink k = sink_of(STDOUT_FILENO);
	FILE *out = stream_with(&k, k.terminal ? _IOLBF : _IOFBF, BUFSIZ, &standard.out), *err;

	k = sink_of(STDERR_FILENO);
	k.paint = PAINT_MESSAGE;
	k.at_once = true;
	err = stream_with(&k, _IONBF, 0, &standard.err);
	if (rc || !out || !err)
		return rc ? rc : -ENOMEM;
	stdout = out;
	stderr = err;
	return 0;
}

void output_paint(enum paint as)
{
	if (standard.out)
		standard.out->paint = as;
}

void output_hurry(const struct cancel *cancel)
{
	struct sink *errors = standard.err;

	if (!errors)
		return;
	flockfile(stderr);
	if (errors->own)
		close(errors->fd);
	errors->hurry = cancel;
	errors->patience_ms = -1;
	errors->own = false;
	errors->fd = STDERR_FILENO;
	errors->part = SIZE_MAX;
	if (cancel) {
		sink_unblock(errors, STDERR_FILENO);
		errors->own = errors->fd >= 0;
		if (!errors->own)
			errors->fd = STDERR_FILENO;
	}
	funlockfile(stderr);
}

void output_patience(int ms)
{
	if (!standard.err)
		return;
	flockfile(stderr);
	standard.err->patience_ms = ms;
	funlockfile(stderr);
}

void output_last_word(const char *line)
{
	struct pollfd room = {.fd = standard.err ? standard.err->fd : STDERR_FILENO,
			      .events = POLLOUT};

	if (poll(&room, 1, 0) != 1 || write(room.fd, line, strlen(line)) < 0) {
		/* Then there is nobody to be told. */
	}
}

int output_control(FILE *stream, int fd, const char *text, size_t len)
{
	struct sink plain = sink_of(fd), *errors = standard.err;
	struct sink *k = stream == stderr && errors ? errors : &plain;
	int rc;

	flockfile(stream);
	fflush(stream);
	rc = sink_put(k, text, len);
	funlockfile(stream);
	return rc;
}

bool output_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void output_status(const char *line, size_t len)
{
	struct sink plain = sink_of(STDERR_FILENO);
	struct sink *k = standard.err ? standard.err : &plain;
	struct text t = {0};

	flockfile(stderr);
	if (len || k->status) {
		text_puts(&t, CLEAR);
		text_add(&t, line, len);
		if (!t.failed)
			sink_put(k, t.buf, t.len);
	}
	k->status = len;
	funlockfile(stderr);
	text_free(&t);
}

/* k: how it is written to. */
static FILE *open_stream(struct sink k, const char *path, int flags, const struct cancel *cancel)
{
	int rc = sink_open(&k, path, flags, cancel);
	FILE *f = rc ? NULL : stream_of(&k, _IOFBF, SINK_BUFFER);

	if (!f && !rc) {
		close(k.fd);
		rc = -ENOMEM;
	}
	if (!f)
		errno = -rc;
	return f;
}

FILE *output_open(const char *path, const struct cancel *cancel)
{
	return open_stream((struct sink){.cancel = cancel}, path, O_TRUNC, cancel);
}

FILE *output_open_counted(const char *path, const struct cancel *cancel, uint64_t *written)
{
	*written = 0;
	return open_stream((struct sink){.cancel = cancel, .written = written}, path, O_TRUNC,
			   cancel);
}

FILE *output_open_kept(const char *path, const struct cancel *cancel)
{
	return open_stream((struct sink){0}, path, 0, cancel);
}

FILE *output_open_as(const char *path, const struct output_as *as)
{
	const struct sink k = {
		.cancel = as->cancel, .asked = as->asked, .arg = as->arg, .written = as->written};

	*as->written = 0;
	return open_stream(k, path, as->kept ? 0 : O_TRUNC, as->cancel);
}

FILE *output_open_fd(int fd)
{
	const struct sink k = {.fd = fd, .own = true, .placed = true, .part = SINK_BUFFER};
	FILE *f = stream_of(&k, _IOFBF, SINK_BUFFER);

	if (!f) {
		close(fd);
		errno = ENOMEM;
	}
	return f;
}

int output_end(int status)
{
	struct sink *out = standard.out;
	int error;

	if (!out)
		return status;
	fflush(stdout);
	error = -sink_put_rest(out);
	error = out->error ? out->error : error;
	out->error = 0;
	if (!error || error == EPIPE)
		return status;
	fprintf(stderr, "hvtrace: cannot write to standard output: %s\n", strerror(error));
	return EXIT_FAILED;
}

int output_again(FILE *f)
{
	__fpurge(f);
	clearerr(f);
	return fseek(f, 0, SEEK_SET) ? -errno : 0;
}

/* --- a report --------------------------------------------------------------------------------- */

/* 0 or -errno. */
static int write_file(const struct text *text, const char *path)
{
	FILE *f = path ? output_open(path, NULL) : stdout;
	int rc = 0;

	if (!f)
		return -errno;
	errno = 0;
	if (fwrite(text->buf, 1, text->len, f) != text->len || fflush(f))
		rc = errno ? -errno : -EIO;
	if (path && fclose(f) && !rc)
		rc = -errno;
	return rc;
}

int output_write(struct text *text, const char *path)
{
	int rc;

	signal(SIGPIPE, SIG_IGN);
	rc = text->failed ? -ENOMEM : write_file(text, path);
	text_free(text);
	/* It is said here. */
	if (!path && standard.out)
		standard.out->error = 0;
	if (!rc || rc == -EPIPE)
		return EXIT_OK;
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", path ? path : "to standard output",
		strerror(-rc));
	return EXIT_FAILED;
}
