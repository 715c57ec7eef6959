// SPDX-License-Identifier: GPL-2.0-or-later
/* saving.c - see saving.h */
#include "frontend/session/saving.h"
#include "frontend/lib/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a guest has in its memory is nobody else's. */
#define MODE 0600

int saving_open(struct saving *v, struct session *s, const char *path)
{
	struct stat st;
	int error;

	*v = (struct saving){.path = path, .fd = -1};
	if (!path)
		return 0;
	v->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, MODE);
	error = v->fd < 0 || fstat(v->fd, &st) ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
	if (!error)
		return 0;
	snprintf(s->err, sizeof(s->err), "cannot write the snapshot %s: %s", path,
		 error == EINVAL ? "not a regular file" : strerror(error));
	return -1;
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

int saving_do(struct saving *v, struct session *s)
{
	const struct machine_save save = {
		.fd = v->fd,
		.kernel_path = s->kernel_path,
		.kernel_id = guestsym_build_id(s->gs),
	};
	struct timespec start;
	char err[256];
	struct stat st = {0};

	if (!v->path)
		return EXIT_OK;
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (machine_save(s->m, &save, err, sizeof(err))) {
		fprintf(stderr, "hvtrace: %s: %s\n", v->path, err);
		return EXIT_FAILED;
	}
	fstat(v->fd, &st);
	fprintf(stderr, "hvtrace: saved to %s: %lld MB in %.1f s (hvtrace snapshot restore %s)\n",
		v->path, (long long)st.st_blocks * 512 >> 20, seconds_since(&start), v->path);
	return EXIT_OK;
}

void saving_close(struct saving *v)
{
	if (v->path && v->fd >= 0)
		close(v->fd);
}
