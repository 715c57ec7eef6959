// SPDX-License-Identifier: GPL-2.0-or-later
/* console.c - the guest's serial console on the terminal. */
#include "frontend/session/console.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "frontend/lib/output.h"
#include "vmm/thread.h"

void console_init(struct console *c, bool show)
{
	memset(c, 0, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
	c->show = show;
	c->stop_fd = -1;
}

void console_write(struct console *c, const char *text, size_t len)
{
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < len; i++)
		c->tail[c->len++ % sizeof(c->tail)] = text[i];
	if (c->show)
		output_control(stderr, STDERR_FILENO, text, len);
	pthread_mutex_unlock(&c->lock);
}

static void *console_input(void *arg)
{
	struct console *c = arg;
	struct pollfd fds[2] = {{STDIN_FILENO, POLLIN, 0}, {c->stop_fd, POLLIN, 0}};
	char buf[64];

	while (poll(fds, 2, -1) > 0 || errno == EINTR) {
		ssize_t n;

		if (fds[1].revents)
			break;
		if (!fds[0].revents)
			continue;
		n = read(STDIN_FILENO, buf, sizeof(buf));
		if (n <= 0)
			fds[0].fd = -1; /* nothing more will come; wait for the end */
		for (ssize_t at = 0; at < n;) {
			size_t took = machine_console_input(c->m, buf + at, (size_t)(n - at));

			at += (ssize_t)took;
			/* The guest's receive buffer is full: look again soon, or end. */
			if (!took && poll(&fds[1], 1, 10) > 0)
				return NULL;
		}
	}
	return NULL;
}

/* Keys go to the guest one by one, unechoed; Ctrl-C stays ours. */
static void console_raw(struct console *c)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &c->saved))
		return;
	raw = c->saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	c->raw = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

int console_feed(struct console *c, struct machine *m)
{
	sigset_t same;
	int ret;

	c->m = m;
	c->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (c->stop_fd < 0)
		return -errno;
	console_raw(c);
	/* In the background it is to be stopped, not to be told of an error. */
	pthread_sigmask(SIG_SETMASK, NULL, &same);
	ret = thread_start(&c->thread, "keys", &same, console_input, c);
	c->input = !ret;
	return ret;
}

void console_tail(struct console *c, FILE *out, unsigned int n)
{
	size_t size = sizeof(c->tail), from, at;

	pthread_mutex_lock(&c->lock);
	from = c->len > size ? c->len - size : 0;
	at = c->len;
	/* Back over n line ends, not counting one at the very end. */
	while (at > from) {
		if (c->tail[(at - 1) % size] == '\n' && at != c->len && !--n)
			break;
		at--;
	}
	for (; at < c->len; at++)
		if (c->tail[at % size] != '\r')
			fputc(c->tail[at % size], out);
	pthread_mutex_unlock(&c->lock);
}

void console_restore(const struct console *c)
{
	if (c->raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &c->saved);
}

void console_exit(struct console *c)
{
	if (c->input) {
		if (eventfd_write(c->stop_fd, 1))
			pthread_cancel(c->thread);
		pthread_join(c->thread, NULL);
	}
	console_restore(c);
	if (c->stop_fd >= 0)
		close(c->stop_fd);
	pthread_mutex_destroy(&c->lock);
}
