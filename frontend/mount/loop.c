// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * loop.c - the threads that answer a mount's requests.
 *
 * The kernel queues the release of a file before close(2) returns, but does not wait for the
 * answer. Requests are taken from the queue by one thread at a time, and a release is done before
 * the next one is taken: a filter that was written and closed is in effect for the next open(2), an
 * instance whose last file is closed can be removed. FLUSH would not do: it comes for each
 * descriptor, as for the one that a shell's redirection closes before anything is written.
 */
#include "frontend/mount/loop.h"

#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "frontend/mount/fuse.h"
#include "vmm/thread.h"

#define IDLE_MAX 4

struct loop {
	struct fuse_session *se;
	int stop;		 /* becomes readable */
	pthread_mutex_t receive; /* held by who waits for a request */
	pthread_mutex_t lock;	 /* of what follows */
	pthread_cond_t gone;
	unsigned int threads, idle; /* idle: they wait for a request, or for their turn to */
};

static void *serve(void *arg);

static int add_thread(struct loop *l)
{
	pthread_t thread;
	int rc;

	pthread_mutex_lock(&l->lock);
	l->threads++;
	l->idle++;
	pthread_mutex_unlock(&l->lock);
	rc = thread_start(&thread, "files", NULL, serve, l);
	if (!rc) {
		pthread_detach(thread);
		return 0;
	}
	pthread_mutex_lock(&l->lock);
	l->threads--;
	l->idle--;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

/* The next request into buf. False: there will be none. */
static bool receive(struct loop *l, struct fuse_buf *buf)
{
	struct pollfd fds[] = {{fuse_session_fd(l->se), POLLIN, 0}, {l->stop, POLLIN, 0}};

	for (;;) {
		int n;

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			return false;
		n = fuse_session_receive_buf(l->se, buf);
		if (n > 0)
			return true;
		if (n != -EINTR && n != -EAGAIN)
			return false;
	}
}

static bool is_release(const struct fuse_buf *buf)
{
	return ((const struct fuse_in_header *)buf->mem)->opcode == FUSE_RELEASE;
}

/* The same, having done all releases that come before it. */
static bool receive_ordered(struct loop *l, struct fuse_buf *buf)
{
	bool some;

	pthread_mutex_lock(&l->receive);
	while ((some = receive(l, buf)) && is_release(buf))
		fuse_session_process_buf(l->se, buf);
	pthread_mutex_unlock(&l->receive);
	return some;
}

/* Its caller is busy now. True: nobody is left to wait for requests. */
static bool leave_idle(struct loop *l)
{
	bool last;

	pthread_mutex_lock(&l->lock);
	last = !--l->idle;
	pthread_mutex_unlock(&l->lock);
	return last;
}

/* False: there are enough of them. */
static bool enter_idle(struct loop *l)
{
	bool wanted;

	pthread_mutex_lock(&l->lock);
	wanted = l->idle < IDLE_MAX;
	l->idle += wanted;
	pthread_mutex_unlock(&l->lock);
	return wanted;
}

static void *serve(void *arg)
{
	struct loop *l = arg;
	struct fuse_buf buf = {0};

	for (;;) {
		if (!receive_ordered(l, &buf)) {
			leave_idle(l);
			break;
		}
		/* Without memory for one more the next request waits for this one. */
		if (leave_idle(l))
			add_thread(l);
		fuse_session_process_buf(l->se, &buf);
		if (!enter_idle(l))
			break;
	}
	free(buf.mem);
	pthread_mutex_lock(&l->lock);
	if (!--l->threads)
		pthread_cond_signal(&l->gone);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void free_loop(struct loop *l)
{
	pthread_cond_destroy(&l->gone);
	pthread_mutex_destroy(&l->lock);
	pthread_mutex_destroy(&l->receive);
	close(l->stop);
	free(l);
}

int loop_start(struct loop **loop, struct fuse_session *se)
{
	struct loop *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	l->se = se;
	l->stop = eventfd(0, EFD_CLOEXEC);
	if (l->stop < 0) {
		rc = -errno;
		free(l);
		return rc;
	}
	pthread_mutex_init(&l->receive, NULL);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->gone, NULL);
	rc = add_thread(l);
	if (rc) {
		free_loop(l);
		return rc;
	}
	*loop = l;
	return 0;
}

void loop_stop(struct loop *l)
{
	eventfd_write(l->stop, 1);
	pthread_mutex_lock(&l->lock);
	while (l->threads)
		pthread_cond_wait(&l->gone, &l->lock);
	pthread_mutex_unlock(&l->lock);
	free_loop(l);
}
