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

static int open_target(struct saving *v, const struct cancel *cancel)
{
	struct stat st;
	int rc;

	if (!stat(v->path, &st) && !S_ISREG(st.st_mode))
		return -EINVAL;
	v->is_open = true;
	rc = target_open_file(&v->target, v->path, cancel);
	if (rc)
		return rc;
	v->fd = open(v->target.is_beside ? v->target.part : v->path, O_WRONLY | O_CLOEXEC);
	if (v->fd < 0 || fstat(v->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((v->target.is_beside || !st.st_size) && fchmod(v->fd, MODE))
		return -errno;
	return target_keep_rights(&v->target);
}

int saving_open(struct saving *v, struct session *s, const char *path)
{
	int rc;

	*v = (struct saving){.path = path, .fd = -1};
	rc = path ? open_target(v, &s->cancel) : 0;
	if (!rc)
		return 0;
	snprintf(s->err, sizeof(s->err), "cannot write the snapshot %s: %s", path,
		 rc == -EINVAL ? "not a regular file" : strerror(-rc));
	return -1;
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Whatever goes wrong, what was at the path is there; of what cannot be replaced (a link), as long
 * as nothing was written. */
static int write_all(struct saving *v, struct session *s, struct stat *st, char *err, size_t errlen)
{
	const struct machine_save save = {
		.fd = v->fd,
		.kernel_path = s->kernel_path,
		.kernel_id = guestsym_build_id(s->gs),
	};
	int rc = machine_save(s->m, &save, err, errlen);

	if (rc)
		return rc;
	fstat(v->fd, st);
	v->is_open = false;
	rc = target_close(&v->target, true);
	if (rc)
		snprintf(err, errlen, "it cannot be put in its place: %s", strerror(-rc));
	return rc;
}

int saving_do(struct saving *v, struct session *s)
{
	struct timespec start;
	char err[256];
	struct stat st = {0};

	if (!v->path)
		return EXIT_OK;
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (write_all(v, s, &st, err, sizeof(err))) {
		fprintf(stderr, "hvtrace: %s: %s\n", v->path, err);
		return EXIT_FAILED;
	}
	fprintf(stderr, "hvtrace: saved to %s: %lld MB in %.1f s (hvtrace snapshot restore %s)\n",
		v->path, (long long)st.st_blocks * 512 >> 20, seconds_since(&start), v->path);
	return EXIT_OK;
}

void saving_close(struct saving *v)
{
	if (v->is_open)
		target_close(&v->target, false);
	if (v->path && v->fd >= 0)
		close(v->fd);
}
