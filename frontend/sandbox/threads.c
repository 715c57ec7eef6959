// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - has all threads of the process do something to themselves.
 *
 * Capabilities and Landlock's rules are a thread's own, and threads of libraries (libvirt, libfuse)
 * know nothing of us. The C library does the same for setuid(2), by a signal that none of its
 * functions block: that one is borrowed for a moment, as a thread that serves files blocks all
 * others. Nobody calls setuid(2) meanwhile.
 */
#include "frontend/sandbox/local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL	    33 /* SIGSETXID of nptl/nptlP.h (glibc) */
#define THREADS_MAX 4096
#define TICK_NS	    100000
#define TICKS_MAX   100000 /* 10 s */

#define PF_USER_WORKER	  0x4000 /* include/linux/sched.h, since 6.4 */
#define FLAGS_BEHIND_NAME 7	 /* the words that /proc/PID/stat has up to them */

/* As rt_sigaction(2) takes it: sigaction(3) refuses this signal. */
struct kernel_sigaction {
	void (*handler)(int signo);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define SA_KERNEL_RESTORER 0x04000000ul

/* Of the one call that is under way: a signal handler gets no argument. */
static struct {
	int (*act)(void *arg);
	void *arg;
	atomic_int result; /* of the first that failed */
	atomic_uint done;  /* threads that have acted */
} call;

/* rt_sigreturn(2) */
void sandbox_restorer(void);
__asm__(".text\n"
	".globl sandbox_restorer\n"
	".hidden sandbox_restorer\n"
	".type sandbox_restorer, @function\n"
	"sandbox_restorer:\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	".size sandbox_restorer, . - sandbox_restorer\n");

/* The sanitizer does not know that this is a handler, either. */
ON_ANY_THREAD static void act_here(void)
{
	int error = errno, none = 0, rc = call.act(call.arg);

	if (rc)
		atomic_compare_exchange_strong(&call.result, &none, rc);
	atomic_fetch_add(&call.done, 1);
	errno = error;
}

ON_ANY_THREAD static void on_signal(int signo)
{
	(void)signo;
	act_here();
}

static int set_handler(const struct kernel_sigaction *new, struct kernel_sigaction *old)
{
	return syscall(SYS_rt_sigaction, SIGNAL, new, old, sizeof(new->mask)) ? -errno : 0;
}

/* Have thread tid act, and wait until it has. One that ends meanwhile needs not. */
static int act_there(pid_t tid)
{
	const struct timespec tick = {0, TICK_NS};
	unsigned int before = atomic_load(&call.done);

	if (syscall(SYS_tgkill, getpid(), tid, SIGNAL))
		return errno == ESRCH ? 0 : -errno;
	for (unsigned int i = 0; i < TICKS_MAX; i++) {
		if (atomic_load(&call.done) != before)
			return 0;
		if (syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH)
			return 0;
		nanosleep(&tick, NULL);
	}
	return -ETIMEDOUT;
}

struct tids {
	pid_t v[THREADS_MAX];
	unsigned int n;
};

static bool is_new(const struct tids *t, pid_t tid)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (t->v[i] == tid)
			return false;
	return true;
}

/*
 * A worker of the kernel's, as KVM has one since 6.14: it is listed among our threads, executes
 * nothing of ours and takes no signal. Its flags tell it (the ninth number of proc(5)'s stat,
 * behind a name with anything in it). That it blocks all signals does not: the C library's threads
 * do so themselves while they begin.
 */
static bool is_kernel_worker(DIR *tasks, pid_t tid)
{
	char path[32], stat[1024], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%d/stat", (int)tid);
	fd = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false; /* it has ended */
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	stat[n > 0 ? n : 0] = '\0';
	at = strrchr(stat, ')');
	for (int i = 0; i < FLAGS_BEHIND_NAME && at; i++)
		at = strchr(at + 1, ' ');
	return at && strtoul(at, NULL, 10) & PF_USER_WORKER;
}

/* Those that have not acted yet do: how many they were, or -errno. */
static int pass(struct tids *t)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	int rc = 0, n = 0;

	if (!dir)
		return -errno;
	while (!rc && (e = readdir(dir))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid <= 0 || !is_new(t, tid))
			continue;
		if (t->n == THREADS_MAX)
			rc = -EAGAIN;
		else if (!is_kernel_worker(dir, tid))
			rc = act_there(tid);
		t->v[t->n++ % THREADS_MAX] = tid;
		n++;
	}
	closedir(dir);
	return rc ? rc : n;
}

/* A thread that was started by one that had not acted yet is seen in another pass. */
static int act_in_others(void)
{
	struct tids *t = malloc(sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	t->v[0] = gettid();
	t->n = 1;
	do
		rc = pass(t);
	while (rc > 0);
	free(t);
	return rc;
}

int threads_each(int (*act)(void *arg), void *arg)
{
	const struct kernel_sigaction ours = {
		.handler = on_signal,
		.flags = SA_RESTART | SA_KERNEL_RESTORER,
		.restorer = sandbox_restorer,
		.mask = UINT64_MAX,
	};
	struct kernel_sigaction old;
	int rc;

	call.act = act;
	call.arg = arg;
	atomic_store(&call.result, 0);
	rc = set_handler(&ours, &old);
	if (rc)
		return rc;
	rc = act_in_others();
	set_handler(&old, NULL);
	/* Last, as it may not look at the list of threads any more then. */
	if (!rc)
		act_here();
	return rc ? rc : atomic_load(&call.result);
}
