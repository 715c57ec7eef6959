// SPDX-License-Identifier: GPL-2.0-or-later
/* folder.c - see folder.h */
#include "frontend/serve/folder.h"

#include "frontend/lib/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS	     ".rounds"
#define FOLDER_DEPTH 2

static int make(struct round *r, const char *state)
{
	char name[160], path[KEEP_PATH_LEN];
	int len;

	len = snprintf(path, sizeof(path), "%s/" ROUNDS, state);
	if (len < (int)sizeof(path) && mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	keep_safe_name(name, sizeof(name), *r->uuid ? r->uuid : r->name);
	len = snprintf(path, sizeof(path), "%s/" ROUNDS "/%s.%zu.XXXXXX", state, name, r->rule);
	if (len >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (!mkdtemp(path))
		return -errno;
	/* It is there, and goes with the round. */
	memcpy(r->folder, path, sizeof(r->folder));
	return 0;
}

/* What is not kept goes with the folder. */
static int name_recording(struct round *r, const char *state)
{
	const struct config_rule *rule = round_rule(r);

	if (rule->keep)
		return (r->segments ? keep_base : keep_name)(r->recording, state, r->name,
							     rule->name);
	if (snprintf(r->recording, sizeof(r->recording), "%s/trace.dat", r->folder) >=
	    (int)sizeof(r->recording))
		return -ENAMETOOLONG;
	return 0;
}

int folder_make(struct round *r, const char *state)
{
	int rc = make(r, state);

	if (rc)
		return rc;
	snprintf(r->summary, sizeof(r->summary), "%s/summary.json", r->folder);
	snprintf(r->rows_path, sizeof(r->rows_path), "%s/rows.json", r->folder);
	return name_recording(r, state);
}

static void empty(const char *path, int depth)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	tree_empty(fd, depth);
	close(fd);
}

void folder_remove(const struct round *r)
{
	if (!*r->folder)
		return;
	empty(r->folder, FOLDER_DEPTH);
	rmdir(r->folder);
}

void folder_sweep(const char *state)
{
	char path[KEEP_PATH_LEN];

	if (snprintf(path, sizeof(path), "%s/" ROUNDS, state) < (int)sizeof(path))
		empty(path, FOLDER_DEPTH + 1);
}
