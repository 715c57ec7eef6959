// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * segments.c - see segments.h
 *
 * A journal says again what has changed, and pages are whole: so it can be cut between any two
 * records, once what was said before is said again in the next file. Files are packed on a thread,
 * meanwhile what comes goes to the next one.
 */
#include "frontend/record/segments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/dat/journal-stream.h"
#include "frontend/record/incoming.h"
#include "vmm/thread.h"

#define SAID_MAX (UINT64_C(256) << 20) /* bytes that are said again in each file */

/* Of a record that is not one of pages: the latest. */
struct again {
	enum journal_kind kind;
	uint32_t a, b;
	void *bytes;
	size_t len;
};

struct segment {
	char path[RECORD_PATH_MAX];
	struct incoming *in;
};

struct segments {
	struct segments_config cfg;
	struct journal_stream stream;
	void *head; /* of the journal */
	size_t head_len;
	struct again *said;
	size_t nr_said, room;
	uint64_t said_bytes;
	struct segment *now;	/* that is recorded to */
	struct segment *packed; /* by the thread, if there is one */
	pthread_t packer;
	bool paged;		  /* `now` has pages, */
	int64_t now_ms, until_ms; /* and ends then */
	int error;
	char err[512];
};

/* --- files --------------------------------------------------------------------------------------
 */

/* It, or what it is to be put together from. */
static bool is_there(const char *path)
{
	char part[RECORD_PATH_MAX];
	struct stat st;

	return !lstat(path, &st) || (!record_part(path, part) && !lstat(part, &st));
}

int segments_name(struct segments_names *n, const char *output, time_t now,
		  char path[RECORD_PATH_MAX])
{
	size_t len = strlen(output);
	char when[32], nr[16];
	struct tm tm;

	if (len > 4 && !strcmp(output + len - 4, ".dat"))
		len -= 4;
	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	if (strcmp(when, n->when) != 0)
		n->nr = 0;
	memcpy(n->when, when, sizeof(when));
	do {
		snprintf(nr, sizeof(nr), ".%u", ++n->nr);
		if (snprintf(path, RECORD_PATH_MAX, "%.*s.%s%s.dat", (int)len, output, when,
			     n->nr > 1 ? nr : "") >= RECORD_PATH_MAX)
			return -ENAMETOOLONG;
	} while (is_there(path));
	return 0;
}

static void close_segment(struct segment *seg)
{
	if (seg)
		incoming_close(seg->in);
	free(seg);
}

static void *pack(void *arg)
{
	const struct record_watch nobody = {NULL, NULL};
	struct segments *s = arg;
	struct record_result result;
	int rc = incoming_finish(s->packed->in, &nobody, &result);

	if (!rc)
		rc = record_place(s->packed->path);
	s->cfg.done(s->cfg.arg, s->packed->path, &result, rc);
	return NULL;
}

static void wait_for_packer(struct segments *s)
{
	if (!s->packed)
		return;
	pthread_join(s->packer, NULL);
	close_segment(s->packed);
	s->packed = NULL;
}

/* The one before is waited for: whoever writes faster than is packed waits, too. */
static int end_segment(struct segments *s)
{
	int rc;

	wait_for_packer(s);
	if (!s->now)
		return 0;
	s->packed = s->now;
	s->now = NULL;
	rc = thread_start(&s->packer, "packer", NULL, pack, s);
	if (!rc)
		return 0;
	close_segment(s->packed);
	s->packed = NULL;
	return rc;
}

static int say_again(struct segments *s)
{
	int rc = incoming_add(s->now->in, s->head, s->head_len);

	for (size_t i = 0; i < s->nr_said && !rc; i++)
		rc = incoming_add(s->now->in, s->said[i].bytes, s->said[i].len);
	return rc;
}

static int begin_segment(struct segments *s)
{
	int rc;

	s->now = calloc(1, sizeof(*s->now));
	if (!s->now)
		return -ENOMEM;
	rc = s->cfg.name(s->cfg.arg, s->now->path);
	if (!rc) {
		s->now->in = incoming_open(s->now->path, s->err, sizeof(s->err));
		rc = s->now->in ? say_again(s) : -EIO;
	}
	s->paged = false;
	if (!rc)
		return 0;
	if (!*s->err)
		snprintf(s->err, sizeof(s->err), "cannot write %.400s: %s", s->now->path,
			 strerror(-rc));
	close_segment(s->now);
	s->now = NULL;
	return rc;
}

/* --- what is said again -------------------------------------------------------------------------
 */

static struct again *find_said(struct segments *s, const struct journal_record *r)
{
	struct again *more;

	for (size_t i = 0; i < s->nr_said; i++)
		if (s->said[i].kind == r->kind && s->said[i].a == r->a && s->said[i].b == r->b)
			return &s->said[i];
	if (s->nr_said == s->room) {
		more = reallocarray(s->said, s->room ? 2 * s->room : 64, sizeof(*more));
		if (!more)
			return NULL;
		s->said = more;
		s->room = s->room ? 2 * s->room : 64;
	}
	s->said[s->nr_said] = (struct again){.kind = r->kind, .a = r->a, .b = r->b};
	return &s->said[s->nr_said++];
}

static int remember(struct segments *s, const struct journal_record *r, const void *bytes,
		    size_t len)
{
	struct again *said = find_said(s, r);
	void *copy = malloc(len);

	if (!said || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, bytes, len);
	free(said->bytes);
	s->said_bytes += len - said->len;
	said->bytes = copy;
	said->len = len;
	return s->said_bytes > SAID_MAX ? -EFBIG : 0;
}

static int take_head(struct segments *s, const void *bytes, size_t len)
{
	s->head = malloc(len);
	if (!s->head)
		return -ENOMEM;
	memcpy(s->head, bytes, len);
	s->head_len = len;
	return begin_segment(s);
}

/* A file begins with pages: what is said between two is in the one before, and said again. */
static int put(void *arg, const struct journal_record *r, const void *bytes, size_t len)
{
	struct segments *s = arg;
	int rc = 0;

	if (!r)
		return take_head(s, bytes, len);
	if (r->kind != JOURNAL_PAGES)
		rc = remember(s, r, bytes, len);
	else if (s->paged && s->now_ms >= s->until_ms)
		rc = end_segment(s);
	if (!rc && !s->now)
		rc = begin_segment(s);
	if (r->kind == JOURNAL_PAGES && !s->paged) {
		s->paged = true;
		s->until_ms = s->now_ms + s->cfg.ms;
	}
	return rc ? rc : incoming_add(s->now->in, bytes, len);
}

/* --- all ----------------------------------------------------------------------------------------
 */

struct segments *segments_new(const struct segments_config *cfg)
{
	struct segments *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->cfg = *cfg;
	s->stream = (struct journal_stream){.put = put, .arg = s};
	return s;
}

int segments_add(struct segments *s, const void *bytes, size_t len, int64_t now_ms, char *err,
		 size_t errlen)
{
	s->now_ms = now_ms;
	if (!s->error)
		s->error = journal_stream_add(&s->stream, bytes, len);
	if (!s->error)
		return 0;
	if (s->error == -EBADMSG)
		snprintf(err, errlen, "what is recorded makes no sense");
	else
		snprintf(err, errlen, "%s", *s->err ? s->err : strerror(-s->error));
	return s->error;
}

int segments_finish(struct segments *s)
{
	int rc = end_segment(s);

	wait_for_packer(s);
	return rc ? rc : s->error;
}

void segments_free(struct segments *s)
{
	if (!s)
		return;
	segments_finish(s);
	for (size_t i = 0; i < s->nr_said; i++)
		free(s->said[i].bytes);
	free(s->said);
	free(s->head);
	journal_stream_free(&s->stream);
	free(s);
}
