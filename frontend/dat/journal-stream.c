// SPDX-License-Identifier: GPL-2.0-or-later
/* journal-stream.c - see journal-stream.h */
#include "frontend/dat/journal-stream.h"

#include <errno.h>
#include <string.h>

#include "frontend/dat/dat.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal-form.h"

/* As far as one record tells; the rest is for who makes a trace.dat of it. */
static bool makes_sense(struct journal_stream *s, const struct journal_record *r)
{
	switch (r->kind) {
	case JOURNAL_SECTION:
		return r->a && r->a <= DAT_OPTION_BUFFER_TEXT && r->b < JOURNAL_PARTS_MAX;
	case JOURNAL_OPTION:
		return r->a && r->a <= DAT_OPTION_BUFFER_TEXT;
	case JOURNAL_BUFFER:
		if (r->a > s->buffers || r->a >= JOURNAL_BUFFERS_MAX)
			return false;
		s->buffers += r->a == s->buffers;
		return true;
	case JOURNAL_PAGES:
		return r->a < s->buffers && r->b < s->shape.vcpus && r->size &&
		       r->size % DAT_PAGE_SIZE == 0;
	}
	return false;
}

/* How many bytes are used up, 0: more are needed; or as journal_stream_add(). */
static int64_t take_head(struct journal_stream *s, const uint8_t *at, size_t len)
{
	int rc;

	if (len < JOURNAL_HEAD_SIZE)
		return 0;
	if (!journal_parse_head(at, &s->shape))
		return -EBADMSG;
	s->begun = true;
	rc = s->put(s->arg, NULL, at, JOURNAL_HEAD_SIZE);
	return rc ? rc : JOURNAL_HEAD_SIZE;
}

static int64_t take_record(struct journal_stream *s, const uint8_t *at, size_t len)
{
	struct journal_record r;
	int rc;

	if (len < JOURNAL_RECORD_SIZE)
		return 0;
	if (!journal_parse_record(&s->shape, at, &r))
		return -EBADMSG;
	if (len - JOURNAL_RECORD_SIZE < r.stored)
		return 0;
	if (journal_sum(at + JOURNAL_RECORD_SIZE, r.stored) != r.sum || !makes_sense(s, &r))
		return -EBADMSG;
	rc = s->put(s->arg, &r, at, JOURNAL_RECORD_SIZE + (size_t)r.stored);
	return rc ? rc : (int64_t)JOURNAL_RECORD_SIZE + r.stored;
}

int journal_stream_add(struct journal_stream *s, const void *bytes, size_t len)
{
	size_t done = 0;
	int64_t n;

	text_add(&s->part, bytes, len);
	if (s->part.failed)
		return -ENOMEM;
	do {
		const uint8_t *at = (const uint8_t *)s->part.buf + done;
		size_t left = s->part.len - done;

		n = s->begun ? take_record(s, at, left) : take_head(s, at, left);
		if (n > 0)
			done += (size_t)n;
	} while (n > 0);
	if (done)
		memmove(s->part.buf, s->part.buf + done, s->part.len - done);
	s->part.len -= done;
	return (int)n;
}

bool journal_stream_is_whole(const struct journal_stream *s)
{
	return s->begun && !s->part.len;
}

void journal_stream_free(struct journal_stream *s)
{
	text_free(&s->part);
}
