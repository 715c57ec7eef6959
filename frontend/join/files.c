// SPDX-License-Identifier: GPL-2.0-or-later
/* files.c - a join of files by their names: opened, confined, and put in their place. */
#include "frontend/join/local.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/sandbox/sandbox.h"
#include "frontend/sandbox/target.h"
#include "guestsym/guestsym.h"

#define MEMORY_MAX (UINT64_C(4) << 30)

struct opening {
	const struct join_options *opt;
	int in[JOIN_FILES_MAX], journal;
	struct target target;
	char *err;
	size_t errlen;
};

static int say(const struct opening *o, const char *path, const char *why)
{
	snprintf(o->err, o->errlen, "%s: %s", path, why);
	return -1;
}

/* Opening it for writing would empty it before it is read. */
static bool is_output(const struct stat *in, const char *out)
{
	struct stat st;

	return !stat(out, &st) && st.st_dev == in->st_dev && st.st_ino == in->st_ino;
}

static int open_in(struct opening *o, size_t i)
{
	const char *path = o->opt->paths[i];
	struct stat st;

	o->in[i] = guestsym_open_regular(path, &st);
	if (o->in[i] == -EINVAL)
		return say(o, path, "it is not a regular file");
	if (o->in[i] < 0)
		return say(o, path, strerror(-o->in[i]));
	if (is_output(&st, o->opt->out))
		return say(o, o->opt->out, "it is one of the files that are read");
	return 0;
}

/* Network file systems, and some others, have files with names only. */
static int open_nameless(const char *folder)
{
	int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0)
		return fd;
	if (asprintf(&name, "%s/.hvtrace-XXXXXX", folder) < 0)
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

/* Where the file itself has room, and without a name: it goes with the process. */
static int open_journal(struct opening *o)
{
	char *copy = strdup(o->opt->out);

	o->journal = copy ? open_nameless(dirname(copy)) : -1;
	free(copy);
	return o->journal < 0 ? say(o, o->opt->out, strerror(errno)) : 0;
}

static int open_out(struct opening *o)
{
	int rc = target_open_file(&o->target, o->opt->out, NULL);

	if (rc)
		return say(o, o->opt->out, strerror(-rc));
	if (!o->target.is_beside)
		return say(
			o, o->opt->out,
			"it cannot be replaced: it has to be a file of yours in a folder that you "
			"may write to");
	rc = target_keep_rights(&o->target);
	return rc ? say(o, o->opt->out, strerror(-rc)) : open_journal(o);
}

static int open_all(struct opening *o)
{
	for (size_t i = 0; i < o->opt->nr; i++)
		if (open_in(o, i))
			return -1;
	if (open_out(o))
		return -1;
	if (!o->opt->no_sandbox && sandbox_enter(MEMORY_MAX, o->err, o->errlen))
		return -1;
	return 0;
}

static void close_in(const struct opening *o)
{
	for (size_t i = 0; i < o->opt->nr; i++)
		if (o->in[i] >= 0)
			close(o->in[i]);
	if (o->journal >= 0)
		close(o->journal);
}

int join_files(const struct join_options *opt, char *err, size_t errlen)
{
	struct opening o = {.opt = opt, .journal = -1, .err = err, .errlen = errlen};
	struct join_fds fds = {.in = o.in};
	int rc, closed;

	if (join_check(opt, err, errlen))
		return -1;
	for (size_t i = 0; i < JOIN_FILES_MAX; i++)
		o.in[i] = -1;
	rc = open_all(&o);
	if (!rc) {
		fds.journal = o.journal;
		fds.out = o.target.fd;
		rc = join_opened(opt, &fds, err, errlen) ? -1 : 0;
	}
	closed = target_close(&o.target, !rc);
	if (!rc && closed)
		rc = say(&o, opt->out, strerror(-closed));
	close_in(&o);
	return rc;
}
