// SPDX-License-Identifier: GPL-2.0-or-later
/* recording.c - see recording.h */
#include "frontend/cmd/recording.h"

#include "frontend/cmd/command.h"
#include "frontend/lib/process.h"
#include "frontend/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool make_place(struct recording *r)
{
	const char *dir = getenv("TMPDIR");
	int n = snprintf(r->made, sizeof(r->made), "%s/hvtrace-XXXXXX",
			 dir && *dir ? dir : "/var/tmp");
	size_t room = sizeof(r->made) - (size_t)n;

	if ((size_t)n >= sizeof(r->made) || room <= strlen("/trace.dat") || !mkdtemp(r->made)) {
		fprintf(stderr, "hvtrace: no file for the recording below %s: %s (TMPDIR)\n",
			dir && *dir ? dir : "/var/tmp", strerror(errno));
		return false;
	}
	snprintf(r->made + n, room, "/trace.dat");
	r->path = r->made;
	r->temporary = true;
	return true;
}

void recording_discard(struct recording *r)
{
	char part[RECORD_PATH_MAX];

	if (r->temporary) {
		unlink(r->made);
		/* Whatever a recorder has left that was killed. */
		if (!record_part(r->made, part))
			unlink(part);
		*strrchr(r->made, '/') = '\0';
		rmdir(r->made);
	}
	r->path = NULL;
}

struct apart {
	int (*run)(const void *arg, const char *path);
	const void *arg;
	const char *path;
};

static int run_apart(void *apart)
{
	const struct apart *a = apart;

	return a->run(a->arg, a->path);
}

int recording_apart(int (*run)(const void *arg, const char *path), const void *arg,
		    const char *path)
{
	struct apart apart = {run, arg, path};

	return process_run(run_apart, &apart);
}

int recording_make(struct recording *r, const char *keep,
		   int (*trace)(const void *arg, const char *path), const void *arg)
{
	int status;

	*r = (struct recording){.path = keep};
	if (!keep && !make_place(r))
		return EXIT_FAILED;
	status = recording_apart(trace, arg, r->path);
	/* A trace that has begun is worth looking at, however it has ended. */
	if (status && access(r->path, F_OK))
		recording_discard(r);
	return status;
}
