// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * graph-calls.c - a guest program that makes the same system calls in the same order, again and
 * again, chosen so that the kernel goes the same ways for them each time: what two tracers show of
 * it can be compared call by call.
 *
 * usage: graph-calls ROUNDS
 *
 * Several at a time do not write to the same file: whose write comes first in a tick of the clock
 * changes the file's times, the other's does not. For the same reason file systems should be
 * mounted with noatime.
 *
 * It prints "graph-calls: pid PID", waits for a line of standard input, and makes the calls. Each
 * round begins with umask(2), which occurs nowhere else.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

/* syscall(2) throughout: the C library's functions may cache, or make another call instead. */
#define CALL(...) (tick(), syscall(__VA_ARGS__))

/* Allocated and touched before: no page fault comes in between. */
struct world {
	int pipe[2], zero, null, file;
	char buf[2 * PAGE];
	struct stat st;
	struct utsname name;
	struct iovec iov[2];
	pid_t pid;
};

/* By the vDSO, so without a call. */
static void tick(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_REALTIME_COARSE, &start);
	do {
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (now.tv_nsec == start.tv_nsec);
}

static bool files(struct world *w)
{
	long fd = CALL(SYS_openat, AT_FDCWD, "/init", O_RDONLY);
	bool ok = fd >= 0 && CALL(SYS_read, fd, w->buf, 64) == 64 &&
		  !CALL(SYS_lseek, fd, 0, SEEK_SET) && CALL(SYS_pread64, fd, w->buf, 64, 0) == 64 &&
		  !CALL(SYS_fstat, fd, &w->st);

	CALL(SYS_close, fd);
	return ok && !CALL(SYS_newfstatat, AT_FDCWD, "/bin/busybox", &w->st, 0) &&
	       CALL(SYS_newfstatat, AT_FDCWD, "/bin/none", &w->st, 0) < 0 &&
	       !CALL(SYS_access, "/bin/busybox", X_OK) &&
	       CALL(SYS_readlink, "/bin/sh", w->buf, PAGE) > 0 &&
	       CALL(SYS_getcwd, w->buf, PAGE) > 0 &&
	       CALL(SYS_pwrite64, w->file, w->buf, 64, 0) == 64 &&
	       CALL(SYS_writev, w->null, w->iov, 2) == 2 * 64 &&
	       CALL(SYS_read, w->zero, w->buf, PAGE) == PAGE;
}

static bool pipes(struct world *w)
{
	return CALL(SYS_write, w->pipe[1], w->buf, 64) == 64 &&
	       CALL(SYS_read, w->pipe[0], w->buf, 64) == 64;
}

static bool memory(void)
{
	char *end = (char *)CALL(SYS_brk, 0), *area;

	if ((char *)CALL(SYS_brk, end + PAGE) != end + PAGE || (char *)CALL(SYS_brk, end) != end)
		return false;
	area = (char *)CALL(SYS_mmap, NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	return !CALL(SYS_mprotect, area, PAGE, PROT_NONE) && !CALL(SYS_munmap, area, 4 * PAGE);
}

static bool others(struct world *w)
{
	struct timespec ts;
	long fd = CALL(SYS_dup, w->null);

	return fd >= 0 && !CALL(SYS_close, fd) && CALL(SYS_getppid) >= 0 && CALL(SYS_getuid) >= 0 &&
	       !CALL(SYS_uname, &w->name) && !CALL(SYS_clock_gettime, CLOCK_MONOTONIC, &ts) &&
	       CALL(SYS_fcntl, w->null, F_GETFL) >= 0 && !CALL(SYS_kill, w->pid, 0) &&
	       !CALL(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 8);
}

static bool make_world(struct world *w)
{
	char name[32];

	w->pid = getpid();
	w->null = open("/dev/null", O_WRONLY);
	w->zero = open("/dev/zero", O_RDONLY);
	snprintf(name, sizeof(name), "/graph-calls.%ld", (long)w->pid);
	w->file = open(name, O_RDWR | O_CREAT, 0600);
	for (size_t i = 0; i < 2; i++)
		w->iov[i] = (struct iovec){w->buf, 64};
	return w->null >= 0 && w->zero >= 0 && w->file >= 0 && !pipe(w->pipe);
}

int main(int argc, char **argv)
{
	long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	struct world w = {0};

	if (rounds <= 0) {
		fprintf(stderr, "usage: graph-calls ROUNDS\n");
		return 2;
	}
	if (!make_world(&w)) {
		perror("graph-calls");
		return 1;
	}
	printf("graph-calls: pid %ld\n", (long)w.pid);
	fflush(stdout);
	if (read(STDIN_FILENO, w.buf, 1) != 1)
		return 1;
	while (rounds-- > 0) {
		CALL(SYS_umask, 022);
		if (!files(&w) || !pipes(&w) || !memory() || !others(&w)) {
			fprintf(stderr, "graph-calls: a call failed\n");
			return 1;
		}
	}
	return 0;
}
