// SPDX-License-Identifier: GPL-2.0-or-later
/* thread.c - see thread.h */
#include "vmm/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct start {
	const char *kind, *starter;
	void *(*run)(void *arg);
	void *arg;
};

static _Thread_local const char *own_kind;
static void (*_Atomic on_begin)(const char *kind, const char *starter);

static void *begin(void *arg)
{
	const struct start s = *(struct start *)arg;
	void (*hook)(const char *kind, const char *starter);

	own_kind = s.kind;
	pthread_setname_np(pthread_self(), s.kind);
	hook = atomic_load(&on_begin);
	if (hook)
		hook(s.kind, s.starter);
	free(arg);
	return s.run(s.arg);
}

int thread_start(pthread_t *thread, const char *kind, const sigset_t *blocked,
		 void *(*run)(void *arg), void *arg)
{
	struct start *s = malloc(sizeof(*s));
	sigset_t all, old;
	int rc;

	if (!s)
		return -ENOMEM;
	*s = (struct start){kind, own_kind, run, arg};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, blocked ? blocked : &all, &old);
	rc = -pthread_create(thread, NULL, begin, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		free(s);
	return rc;
}

ON_ANY_THREAD const char *thread_kind(void)
{
	return own_kind;
}

void thread_on_begin(void (*hook)(const char *kind, const char *starter))
{
	atomic_store(&on_begin, hook);
}
