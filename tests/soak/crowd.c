// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowd.c - 64 processes that open, read, write and poll all files of a mounted trace, make and
 * remove instances, and are killed, one every now and then. What they read has to make sense: whole
 * lines, known errors, files that never change, and marks that say what they have to be.
 *
 * usage: crowd DIR SECONDS
 */
#include "tests/seed.h"
#include "tests/soak/crowd.h"

#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROCESSES = 64,
	WAITING = 4,	       /* of these, for what may never come; they are killed in the end */
	PATIENCE_SECONDS = 60, /* for the others to end */
};

static void take_part(struct member *m)
{
	while (!atomic_load(&m->shared->end))
		do_something(m);
	_exit(0);
}

static pid_t start_member(struct shared *shared, const char *dir, unsigned int place,
			  unsigned int number)
{
	struct member m = {
		.shared = shared,
		.dir = dir,
		.random = (test_seed() + number) * UINT64_C(0x9e3779b97f4a7c15),
		.number = number,
	};
	pid_t pid = fork();

	if (pid)
		return pid;
	if (place < WAITING)
		wait_for_more(&m);
	take_part(&m);
	_exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The exit status is that of one who ended by itself: nobody does before the end unless it is
 * wrong. */
static bool ended_well(pid_t pid, int flags, bool *gone)
{
	int status = 0;

	*gone = waitpid(pid, &status, flags) == pid;
	return !*gone || WIFSIGNALED(status) || WEXITSTATUS(status) == 0;
}

static bool kill_member(pid_t pid)
{
	bool gone;

	kill(pid, SIGKILL);
	return ended_well(pid, 0, &gone);
}

/* For a time, with one killed and replaced ten times a second. False: something is wrong. */
static bool run(struct shared *shared, const char *dir, double seconds, pid_t pids[PROCESSES],
		unsigned int *started)
{
	double end = now() + seconds;
	bool gone;

	for (unsigned int i = 0; i < PROCESSES; i++)
		pids[i] = start_member(shared, dir, i, ++*started);
	while (now() < end) {
		unsigned int victim = *started * 7 % PROCESSES;

		poll(NULL, 0, 100);
		for (unsigned int i = 0; i < PROCESSES; i++) {
			if (ended_well(pids[i], WNOHANG, &gone) && !gone)
				continue;
			pids[i] = 0;
			return false;
		}
		if (!kill_member(pids[victim]))
			return false;
		pids[victim] = start_member(shared, dir, victim, ++*started);
	}
	return true;
}

/* False: some were wrong, or do not come to an end. */
static bool wait_for_all(pid_t pids[PROCESSES])
{
	double end = now() + PATIENCE_SECONDS;
	unsigned int left = PROCESSES;
	bool well = true;

	for (unsigned int i = 0; i < WAITING; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	while (left && now() < end) {
		left = 0;
		poll(NULL, 0, 20);
		for (unsigned int i = 0; i < PROCESSES; i++) {
			bool gone = false;

			if (pids[i] && !ended_well(pids[i], WNOHANG, &gone))
				well = false;
			if (gone)
				pids[i] = 0;
			left += pids[i] != 0;
		}
	}
	for (unsigned int i = 0; i < PROCESSES; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	if (left)
		printf("# %u of %d do not come to an end\n", left, PROCESSES);
	return well && !left;
}

static struct shared *walked; /* nftw() passes nothing on */
static size_t walked_prefix;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct file *f = &walked->files[walked->nr_files];

	(void)ftw;
	if (type != FTW_F || walked->nr_files == FILES_MAX)
		return 0;
	if (snprintf(f->path, sizeof(f->path), "%s", path + walked_prefix) >= (int)sizeof(f->path))
		return 0;
	f->mode = st->st_mode;
	walked->nr_files++;
	return 0;
}

int main(int argc, char **argv)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
	pid_t pids[PROCESSES] = {0};
	unsigned int started = 0;
	bool well;

	if (seconds <= 0 || shared == MAP_FAILED) {
		fprintf(stderr, "usage: crowd DIR SECONDS\n");
		return 2;
	}
	walked = shared;
	walked_prefix = strlen(argv[1]) + 1;
	if (nftw(argv[1], add_file, 16, FTW_PHYS) || shared->nr_files < 100) {
		fprintf(stderr, "crowd: %s holds no trace\n", argv[1]);
		return 2;
	}
	well = run(shared, argv[1], seconds, pids, &started);
	atomic_store(&shared->end, true);
	well = wait_for_all(pids) && well;
	printf("# %u files, %u processes, %u killed: %" PRIu64 " reads, %" PRIu64 " MB, %" PRIu64
	       " lines, %" PRIu64 " pages, %" PRIu64 " marks, %" PRIu64 " writes, %" PRIu64
	       " busy\n",
	       shared->nr_files, PROCESSES, started - PROCESSES, shared->reads, shared->bytes >> 20,
	       shared->lines, shared->pages, shared->marks, shared->writes, shared->busy);
	return !well;
}
