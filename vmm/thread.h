/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread.h - starts threads, each of a kind: what it is there for.
 *
 * The kind is a word, which is the thread's name too (ps -L); whoever takes rights away from
 * threads goes by it, and is told of each new one, so that who starts a thread need not know of
 * that.
 */
#ifndef HVTRACE_VMM_THREAD_H
#define HVTRACE_VMM_THREAD_H

#include <pthread.h>
#include <signal.h>

/*
 * Of a function that runs on threads that a library has started, too, or before anything of ours
 * does on one: ThreadSanitizer's own is such a thread, of which it knows nothing.
 */
#if defined(__SANITIZE_THREAD__)
#define ON_ANY_THREAD __attribute__((no_sanitize("thread")))
#else
#define ON_ANY_THREAD
#endif

/*
 * As pthread_create(3), with the signals of *blocked blocked from the beginning; NULL: with all, as
 * signals are for the command's own threads. kind is a string literal of 15 bytes at most. 0 or
 * -errno.
 */
int thread_start(pthread_t *thread, const char *kind, const sigset_t *blocked,
		 void *(*run)(void *arg), void *arg);

/* Of the calling thread; NULL: another one than thread_start() has started it. A signal handler may
 * ask. */
const char *thread_kind(void);

/*
 * From now on each thread that is started calls hook() before anything else, with its kind and
 * that of the thread that has started it (as of thread_kind()); NULL: no more. Of the process, as
 * what it is there for is.
 */
void thread_on_begin(void (*hook)(const char *kind, const char *starter));

#endif
