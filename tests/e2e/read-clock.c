// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read-clock.c - a guest program that opens a directory and says between which times that was.
 *
 * usage: read-clock ID: of clock_gettime(2). Prints "read-clock: BEFORE AFTER", in nanoseconds.
 *        read-clock MARKER: a trace_marker of the guest's own, which gets "before" and "after".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t id)
{
	struct timespec ts = {0};

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static long open_directory(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
}

static int mark(const char *marker)
{
	static const char before[] = "before", after[] = "after";
	int fd = open(marker, O_WRONLY);
	long dir;

	if (fd < 0 || write(fd, before, strlen(before)) < 0)
		return 1;
	dir = open_directory();
	return write(fd, after, strlen(after)) < 0 || dir < 0;
}

int main(int argc, char **argv)
{
	clockid_t id = argc == 2 ? (clockid_t)strtol(argv[1], NULL, 10) : CLOCK_MONOTONIC;
	long long before, after;
	long fd;

	if (argc == 2 && *argv[1] == '/')
		return mark(argv[1]);
	now(id); /* what is read for the first time takes longer */
	before = now(id);
	fd = open_directory();
	after = now(id);
	printf("read-clock: %lld %lld\n", before, after);
	return fd < 0;
}
