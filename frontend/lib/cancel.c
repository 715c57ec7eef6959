// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cancel.c - see cancel.h
 *
 * The signals are blocked in all threads, so that no system call is cut short by them, and a thread
 * takes them from a descriptor: it gets to it whatever the others are stuck in.
 */
#include "frontend/lib/cancel.h"
#include "vmm/thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static int64_t monotonic_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void came(struct cancel *c, int signo)
{
	int64_t now = c->now_ms();

	if (!c->first_ms) {
		c->first_ms = now ? now : 1;
		atomic_store(&c->came, true);
		atomic_store(&c->signo, signo);
		eventfd_write(c->fd, 1); /* its counter is never full */
	} else if (now - c->first_ms >= CANCEL_ECHO_MS) {
		c->leave(c->arg, signo);
	}
}

static void *cancel_thread(void *arg)
{
	struct cancel *c = arg;
	struct pollfd fds[] = {{.fd = c->signals, .events = POLLIN},
			       {.fd = c->stop, .events = POLLIN}};
	struct signalfd_siginfo info;

	while (!fds[1].revents) {
		if (poll(fds, 2, -1) > 0 && fds[0].revents &&
		    read(c->signals, &info, sizeof(info)) == sizeof(info))
			came(c, (int)info.ssi_signo);
	}
	return NULL;
}

static int start_thread(struct cancel *c)
{
	int rc = thread_start(&c->thread, "signals", NULL, cancel_thread, c);

	c->started = !rc;
	return rc;
}

int cancel_start(struct cancel *c)
{
	sigset_t set;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (!c->now_ms)
		c->now_ms = monotonic_ms;
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->stop = eventfd(0, EFD_CLOEXEC);
	rc = c->signals < 0 || c->fd < 0 || c->stop < 0 ? -errno : start_thread(c);
	if (rc) {
		close(c->signals);
		close(c->fd);
		close(c->stop);
	}
	return rc;
}

void cancel_stop(struct cancel *c)
{
	if (!c->started)
		return;
	eventfd_write(c->stop, 1);
	pthread_join(c->thread, NULL);
	close(c->signals);
	close(c->fd);
	close(c->stop);
	c->started = false;
}

int cancel_open(struct cancel *c)
{
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c->fd < 0 ? -errno : 0;
}

void cancel_ask(struct cancel *c, int signo)
{
	int error = errno;

	atomic_store(&c->came, true);
	atomic_store(&c->signo, signo);
	eventfd_write(c->fd, 1); /* fails only where it is readable already */
	errno = error;
}

void cancel_close(struct cancel *c)
{
	close(c->fd);
}

int cancel_asked(const struct cancel *c)
{
	return atomic_load(&c->signo);
}

int cancel_take(struct cancel *c)
{
	int signo = atomic_exchange(&c->signo, 0);
	eventfd_t count;

	if (signo)
		eventfd_read(c->fd, &count);
	return signo;
}

bool cancel_came(const struct cancel *c)
{
	return atomic_load(&c->came);
}
