/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - the parts of sandbox_enter(). */
#ifndef HVTRACE_FRONTEND_SANDBOX_LOCAL_H
#define HVTRACE_FRONTEND_SANDBOX_LOCAL_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#include "vmm/thread.h"

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

/*
 * calls.c: groups of system calls, but for those that every thread may make.
 */
enum {
	CALLS_MEMORY = 1 << 0,	   /* at a place in a file: QEMU's memory, numbers of /proc */
	CALLS_TALK = 1 << 1,	   /* by sockets that are connected */
	CALLS_LISTEN = 1 << 2,	   /* who connects to those that listen */
	CALLS_PIPES = 1 << 3,	   /* as libfuse takes what it answers with */
	CALLS_THREADS = 1 << 4,	   /* start some */
	CALLS_OUTPUT = 1 << 5,	   /* files that are written */
	CALLS_LIBRARY = 1 << 6,	   /* descriptors for waiting, as libvirt makes them */
	CALLS_CHILDREN = 1 << 7,   /* wait for processes */
	CALLS_TERMINAL = 1 << 8,   /* how it takes keys */
	CALLS_VCPU = 1 << 9,	   /* run one */
	CALLS_INTERRUPT = 1 << 10, /* raise one in a guest of our own */
	CALLS_PARSE = 1 << 11,	   /* have another process do it */
	CALLS_MACHINE = 1 << 12,   /* its registers and memory */
	CALLS_FOLDER = 1 << 13,	   /* make files, of which Landlock says where */
	CALLS_SAVE = 1 << 14,	   /* all that a machine is, for a snapshot */
	CALLS_SHARE = 1 << 15,	   /* hand descriptors to who serves a guest's queues, and end it */
	CALLS_REBOOT = 1 << 16,	   /* have a machine of our own begin anew */
	CALLS_ANSWER = 1 << 17,	   /* as libmicrohttpd does */
	CALLS_END = 1 << 18,	   /* behind the last */
};

/* Compile the list that allows the groups of these bits. 0 or -errno. The memory is not given back.
 */
int calls_make(struct sock_fprog *program, unsigned int bits);
/* The calling thread follows it from now on. 0 or -errno. Makes system calls only. */
int calls_follow(const struct sock_fprog *program);
/* Does the calling thread follow one? Makes system calls only. */
bool calls_in_force(void);

/* kinds.c: what a kind of threads may call, and which others it starts. */
struct kind_row {
	const char *name;
	unsigned int calls;
	const char *starts[4];
};

/* NULL behind the last. */
const struct kind_row *kinds_row(size_t i);
/* Compile all lists; folder: files may be made in one. 0 or -errno. */
int kinds_make(bool folder);
/*
 * The calling thread follows the list of all, and that of its kind; NULL: another one has started
 * it than hvtrace, so it has only the first. 0 or -errno. Makes system calls only.
 */
int kinds_follow_all(const char *kind);
/* For thread_on_begin(). */
void kinds_begin(const char *kind, const char *starter);

/*
 * landlock.c: a set of rules that allows no file and no connection, as a descriptor, as far as this
 * kernel knows them; but to make files and write them in this folder, if it is not -1.
 * -EOPNOTSUPP: it knows none, or they are switched off; or another -errno.
 */
int landlock_only(int folder);
/* The calling thread follows it from now on. 0 or -errno. Makes system calls only. */
int landlock_follow(int rules);

/*
 * threads.c: call act() in each thread of the process, in the others in a signal handler: it makes
 * system calls only. 0, what the first one that failed gave, or -ETIMEDOUT for a thread that does
 * not come.
 */
int threads_each(int (*act)(void *arg), void *arg);

#endif
