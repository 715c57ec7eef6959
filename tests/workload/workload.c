// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload.c - a guest program that makes system calls as often as it is told, and no others of
 * the kinds it knows, so that what a trace shows of it can be compared with what it did.
 *
 * usage: workload [CALL COUNT]...
 *
 * Prints "workload: pid PID" and "workload: CALL COUNT" for each pair, in the order given, all in
 * one write(2). One CALL makes each system call that its table row names once.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGS 65 /* 32 lines of at most 64 characters */

/* syscall(2) throughout: the C library's functions may cache, or make another call instead. */

static long call_getppid(void)
{
	return syscall(SYS_getppid);
}

static long call_getpid(void)
{
	return syscall(SYS_getpid);
}

static long call_getuid(void)
{
	return syscall(SYS_getuid);
}

static long call_openat(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);

	return fd < 0 ? fd : syscall(SYS_close, fd);
}

static long call_stat(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, AT_FDCWD, "/", &st, 0);
}

static long call_access(void)
{
	return syscall(SYS_access, "/", F_OK);
}

static long call_uname(void)
{
	struct utsname name;

	return syscall(SYS_uname, &name);
}

static long call_getcwd(void)
{
	char path[64];

	return syscall(SYS_getcwd, path, sizeof(path));
}

static long call_umask(void)
{
	return syscall(SYS_umask, 022);
}

static long call_lseek(void)
{
	/* Fails with ESPIPE on a console, having been called all the same. */
	syscall(SYS_lseek, STDOUT_FILENO, 0, SEEK_CUR);
	return 0;
}

static long call_getpgid(void)
{
	return syscall(SYS_getpgid, 0);
}

static long call_yield(void)
{
	return syscall(SYS_sched_yield);
}

/* One that sleeps then is among those that wakeup_rt waits for. */
static long call_setscheduler(void)
{
	const struct sched_param fifo = {.sched_priority = 50};

	return syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &fifo);
}

/* One that sleeps then is more urgent than most that wake it up: wakeup waits for it. */
static long call_setpriority(void)
{
	return syscall(SYS_setpriority, PRIO_PROCESS, 0, -10);
}

/* One that sleeps then is among those that wakeup_dl waits for: 1 ms of each 4. */
static long call_setattr(void)
{
	/* struct sched_attr, which the C library did not have for long */
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {
		.size = sizeof(attr),
		.policy = 6, /* SCHED_DEADLINE */
		.runtime = 1000000,
		.deadline = 4000000,
		.period = 4000000,
	};

	return syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* A user who is not root, from then on. */
static long call_setuid(void)
{
	return syscall(SYS_setuid, 1000);
}

static long call_nanosleep(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	return syscall(SYS_nanosleep, &ms, NULL);
}

/* "openat" is __x64_sys_openat and __x64_sys_close, "stat" newfstatat, "uname" newuname. */
static const struct call {
	const char *name;
	long (*fn)(void);
} calls[] = {
	{"getppid", call_getppid},
	{"getpid", call_getpid},
	{"getuid", call_getuid},
	{"openat", call_openat},
	{"stat", call_stat},
	{"access", call_access},
	{"uname", call_uname},
	{"getcwd", call_getcwd},
	{"umask", call_umask},
	{"lseek", call_lseek},
	{"getpgid", call_getpgid},
	{"sched_yield", call_yield},
	{"sched_setscheduler", call_setscheduler},
	{"setpriority", call_setpriority},
	{"sched_setattr", call_setattr},
	{"setuid", call_setuid},
	{"nanosleep", call_nanosleep},
};

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return NULL;
}

/* Make the call count times; returns how many succeeded. */
static unsigned long run_call(const struct call *call, unsigned long count)
{
	unsigned long done = 0;

	for (unsigned long i = 0; i < count; i++)
		if (call->fn() >= 0)
			done++;
	return done;
}

/* Do what argv says and report it: 0, or 1 when the report cannot be written. */
static int run_calls(char **argv)
{
	char out[4096];
	/* Of a process with one thread it is the pid, but getpid is one of the calls. */
	int len = snprintf(out, sizeof(out), "workload: pid %ld\n", syscall(SYS_gettid));

	for (; argv[0]; argv += 2)
		len += snprintf(out + len, sizeof(out) - (size_t)len, "workload: %s %lu\n", argv[0],
				run_call(find_call(argv[0]), strtoul(argv[1], NULL, 10)));
	return write(STDOUT_FILENO, out, (size_t)len) == len ? 0 : 1;
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	if (argc % 2 == 0 || argc > MAX_ARGS) {
		fprintf(stderr, "usage: workload [CALL COUNT]...\n");
		return 2;
	}
	for (int i = 1; i < argc; i += 2) {
		if (!find_call(argv[i])) {
			fprintf(stderr, "workload: unknown call %s\n", argv[i]);
			return 2;
		}
	}
	/*
	 * In a process that has never done anything else: between fork() and execve() this one was
	 * the shell, which makes calls of its own.
	 */
	child = fork();
	if (!child)
		return run_calls(argv + 1);
	return child > 0 && waitpid(child, &status, 0) == child && !status ? 0 : 1;
}
