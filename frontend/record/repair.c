// SPDX-License-Identifier: GPL-2.0-or-later
/* repair.c - completes what a recorder has left that was killed, or had no room. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/dat-write.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal.h"
#include "frontend/record/record.h"

struct repair {
	const char *path, *to; /* what is read, and what is written, to be moved to: */
	const char *place;     /* NULL: it stays there */
	int in, out;
	const struct record_watch *watch;
	char *err;
	size_t errlen;
};

static int say(const struct repair *r, const char *what, const char *path, const char *why)
{
	snprintf(r->err, r->errlen, "%s %s: %s", what, path, why);
	return -1;
}

/* 0: it is to be repaired; 1: it needs not; -1. */
static int look(const struct repair *r)
{
	char head[sizeof(JOURNAL_MAGIC) - 1] = "";
	struct stat st;

	if (fstat(r->in, &st) || !S_ISREG(st.st_mode))
		return say(r, "cannot read", r->path, "it is no file");
	if (flock(r->in, LOCK_EX | LOCK_NB))
		return say(r, "cannot repair", r->path, "another hvtrace is at it");
	if (bytes_read(r->in, 0, head, sizeof(head)))
		head[0] = '\0';
	if (!memcmp(head, DAT_MAGIC, DAT_MAGIC_LEN))
		return 1;
	if (!journal_is_one(head, sizeof(head)))
		return say(r, "cannot repair", r->path, "it is no recording of hvtrace's");
	return 0;
}

static const char *why_not(int rc)
{
	switch (rc) {
	case -EINVAL:
		return "it is a recording of another version of hvtrace";
	case -ENODATA:
		return "its recorder was killed before it had recorded anything";
	case -EBADMSG:
		return "it is damaged: what it says makes no sense";
	default:
		return strerror(-rc);
	}
}

static int make(const struct repair *r, struct record_repaired *result)
{
	struct dat_written written;
	int rc = dat_write(r->in, true, r->out, r->watch->done, r->watch->arg, &written);

	if (rc)
		return say(r, "cannot repair", r->path, why_not(rc));
	*result = (struct record_repaired){written.size, written.bytes, written.torn};
	if (!r->place || !rename(r->to, r->place))
		return 0;
	return say(r, "cannot write", r->place, strerror(errno));
}

static bool is_same(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static int write_it(struct repair *r, struct record_repaired *result)
{
	int rc;

	r->out = open(r->to, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
	if (r->out < 0)
		return say(r, "cannot write", r->to, strerror(errno));
	if (is_same(r->in, r->out))
		rc = say(r, "cannot write", r->to, "that is the recording itself");
	else if (ftruncate(r->out, 0))
		rc = say(r, "cannot write", r->to, strerror(errno));
	else
		rc = make(r, result);
	if (rc && !is_same(r->in, r->out))
		unlink(r->to);
	close(r->out);
	return rc;
}

int record_repair(const char *path, const char *to, const struct record_watch *watch,
		  struct record_repaired *result, char *err, size_t errlen)
{
	struct repair r = {path, to, to ? NULL : path, -1, -1, watch, err, errlen};
	char part[RECORD_PATH_MAX];
	int rc;

	if (!to) {
		rc = record_part(path, part);
		if (rc)
			return say(&r, "cannot write", path, strerror(-rc));
		r.to = part;
	}
	r.in = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (r.in < 0)
		return say(&r, "cannot read", path, strerror(errno));
	rc = look(&r);
	if (!rc)
		rc = write_it(&r, result);
	close(r.in);
	return rc;
}
