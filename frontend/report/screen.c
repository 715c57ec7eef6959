// SPDX-License-Identifier: GPL-2.0-or-later
/* screen.c - see screen.h */
#include "frontend/report/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "frontend/lib/color.h"
#include "frontend/lib/escape.h"
#include "frontend/lib/paint.h"

/* The alternate screen, and no cursor; and back. */
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"

struct screen {
	struct termios before;
	sigset_t mask_before;
	int signals;
};

static void put(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

static int take_signals(struct screen *s)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&set, taken[i]);
	if (sigprocmask(SIG_BLOCK, &set, &s->mask_before))
		return -errno;
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals >= 0)
		return 0;
	sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
	return -errno;
}

/* Keys come at once and are not shown. To be stopped (^Z) would leave the screen as it is. */
static int take_keys(struct screen *s)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &s->before))
		return -errno;
	raw = s->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	return tcsetattr(STDIN_FILENO, TCSANOW, &raw) ? -errno : 0;
}

struct screen *screen_open(void)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (!take_signals(s)) {
		if (!take_keys(s)) {
			put(ENTER, sizeof(ENTER) - 1);
			return s;
		}
		close(s->signals);
		sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
	}
	free(s);
	return NULL;
}

static void drop_signals(struct screen *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) > 0)
		;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	put(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
	drop_signals(s);
	close(s->signals);
	sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
	free(s);
}

void screen_size(unsigned int *rows, unsigned int *columns)
{
	struct winsize size;
	bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;

	*rows = known ? size.ws_row : 24;
	*columns = known ? size.ws_col : 80;
}

void screen_draw(const struct text *text, unsigned int heading)
{
	struct escape escape = {0};
	struct text out = {0}, shown = {0};
	enum paint as = color_is_wanted(true) ? PAINT_CALLS : PAINT_NOTHING;
	const char *line = text->buf, *end = text->buf + text->len;

	text_puts(&out, "\033[H");
	for (unsigned int n = 0; line < end; n++) {
		const char *eol = memchr(line, '\n', (size_t)(end - line));

		if (!eol)
			break;
		/* No line end behind the last one, which would scroll. */
		text_puts(&out, n ? "\r\n" : "");
		text_puts(&out, n == heading ? "\033[7m" : "");
		shown.len = 0;
		escape_add(&escape, &shown, line, (size_t)(eol - line));
		escape_end(&escape, &shown);
		paint_line(n > heading ? as : PAINT_NOTHING, shown.buf, shown.len, &out);
		text_puts(&out, n == heading ? "\033[K\033[0m" : "\033[K");
		line = eol + 1;
	}
	text_puts(&out, "\033[J");
	put(out.buf, out.len);
	text_free(&out);
	text_free(&shown);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* 1: a new size, 0: nothing, -1: the end. */
static int next_signal(struct screen *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	return info.ssi_signo == SIGWINCH ? 1 : -1;
}

static bool is_quit_key(void)
{
	char c;
	ssize_t n = read(STDIN_FILENO, &c, 1);

	return n == 0 || (n < 0 && errno != EINTR) || (n == 1 && (c == 'q' || c == 'Q'));
}

bool screen_wait(struct screen *s, uint64_t ms)
{
	uint64_t until = now_ms() + ms;

	for (;;) {
		struct pollfd fds[] = {{s->signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
		uint64_t now = now_ms(), left = now < until ? until - now : 0;
		int signal, n = poll(fds, 2, left > 60000 ? 60000 : (int)left);

		if (n < 0 && errno != EINTR)
			return false;
		signal = n > 0 && fds[0].revents ? next_signal(s) : 0;
		if (signal < 0 || (n > 0 && fds[1].revents && is_quit_key()))
			return false;
		if (signal > 0 || now_ms() >= until)
			return true;
	}
}
