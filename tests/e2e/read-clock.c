// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read-clock.c - a guest program that opens a directory and says between which times that was.
 *
 * usage: read-clock ID: of clock_gettime(2). Prints "read-clock: BEFORE AFTER", in nanoseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t id)
{
	struct timespec ts = {0};

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	clockid_t id = argc == 2 ? (clockid_t)strtol(argv[1], NULL, 10) : CLOCK_MONOTONIC;
	long long before, after;
	long fd;

	now(id); /* what is read for the first time takes longer */
	before = now(id);
	fd = syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
	after = now(id);
	printf("read-clock: %lld %lld\n", before, after);
	return fd < 0;
}
