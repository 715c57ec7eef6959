/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - the parts of sandbox_enter(). */
#ifndef HVTRACE_FRONTEND_SANDBOX_LOCAL_H
#define HVTRACE_FRONTEND_SANDBOX_LOCAL_H

/*
 * Sanitizers and gcov open files, look at threads and start a process of their own, at the end at
 * the latest: their builds keep what they need for that.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(HVTRACE_COVERAGE)
#define SANDBOX_LOOSE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANDBOX_LOOSE 1
#endif
#endif
#ifndef SANDBOX_LOOSE
#define SANDBOX_LOOSE 0
#endif

/* calls.c: only the calls that it lists, in all threads. 0 or -errno. */
int calls_confine(void);

/*
 * landlock.c: a set of rules that allows no file and no connection, as a descriptor, as far as this
 * kernel knows them. -EOPNOTSUPP: it knows none, or they are switched off; or another -errno.
 */
int landlock_nothing(void);
/* The calling thread follows it from now on. 0 or -errno. Makes system calls only. */
int landlock_follow(int rules);

/*
 * threads.c: call act() in each thread of the process, in the others in a signal handler: it makes
 * system calls only. 0, what the first one that failed gave, or -ETIMEDOUT for a thread that does
 * not come.
 */
int threads_each(int (*act)(void *arg), void *arg);

#endif
