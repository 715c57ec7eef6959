/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal-stream.h - a journal that comes in pieces, from whoever: nothing of it is handed on
 * before its sums and its numbers have been looked at.
 */
#ifndef HVTRACE_FRONTEND_DAT_JOURNAL_STREAM_H
#define HVTRACE_FRONTEND_DAT_JOURNAL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/journal.h"
#include "tracer/tracer.h"

/* Set put and arg; all else is zero. */
struct journal_stream {
	/*
	 * Bytes as they stand in a journal: the head of the file first, with r NULL, then one whole
	 * record at a time. What it returns that is not 0 ends the stream.
	 */
	int (*put)(void *arg, const struct journal_record *r, const void *bytes, size_t len);
	void *arg;
	/* What follows is journal-stream.c's. */
	struct journal_shape shape;
	bool begun; /* the head is there, and shape is known */
	uint32_t buffers;
	struct text part; /* what is not whole yet: at most one record, and what has come with it */
};

/* 0; -EBADMSG: that is no journal; -ENOMEM; or what put() has returned. */
int journal_stream_add(struct journal_stream *s, const void *bytes, size_t len);
/* All that has come was handed on, and there is a journal. */
bool journal_stream_is_whole(const struct journal_stream *s);
void journal_stream_free(struct journal_stream *s);

#endif
