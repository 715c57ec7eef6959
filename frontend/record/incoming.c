// SPDX-License-Identifier: GPL-2.0-or-later
/* incoming.c - see incoming.h */
#include "frontend/record/incoming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/dat-write.h"
#include "frontend/dat/journal-stream.h"
#include "frontend/record/files.h"
#include "frontend/record/room.h"

struct incoming {
	const char *path;
	struct record_files files;
	struct room room;
	struct journal_stream stream;
	uint64_t size; /* of the journal */
	int error;     /* the first one */
};

static int begin(struct incoming *in)
{
	room_init(&in->room, in->files.part);
	if (ftruncate(in->files.journal, 0) || ftruncate(in->files.part, 0))
		return -errno;
	return 0;
}

/* All of it, or nothing. */
static int put(void *arg, const struct journal_record *r, const void *bytes, size_t len)
{
	struct incoming *in = arg;
	int rc = r ? 0 : begin(in);

	if (!rc)
		rc = room_keep(&in->room, in->size + len);
	if (!rc)
		rc = bytes_write(in->files.journal, in->size, bytes, len);
	if (!rc) {
		in->size += len;
		in->files.journal_is_new = in->files.part_is_new = false;
	} else if (in->size && ftruncate(in->files.journal, (off_t)in->size)) {
		return rc; /* then its end is torn, as that of one who was killed */
	}
	return rc;
}

struct incoming *incoming_open(const char *path, char *err, size_t errlen)
{
	struct incoming *in = calloc(1, sizeof(*in));

	if (!in) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	in->path = path;
	in->stream = (struct journal_stream){.put = put, .arg = in};
	if (!record_files_open(&in->files, path, err, errlen))
		return in;
	incoming_close(in);
	return NULL;
}

int incoming_add(struct incoming *in, const void *bytes, size_t len)
{
	if (!in->error)
		in->error = journal_stream_add(&in->stream, bytes, len);
	return in->error;
}

bool incoming_has_begun(const struct incoming *in)
{
	return in->size;
}

bool incoming_is_whole(const struct incoming *in)
{
	return journal_stream_is_whole(&in->stream);
}

int incoming_finish(struct incoming *in, const struct record_watch *watch,
		    struct record_result *result)
{
	struct dat_written written;
	int rc;

	*result = (struct record_result){0};
	if (!in->size)
		return in->error ? in->error : -ENODATA;
	/* The sums were right when it came. */
	rc = dat_write(in->files.journal, false, in->files.part, watch->done, watch->arg, &written);
	*result = (struct record_result){written.size, written.bytes, in->error};
	return rc;
}

void incoming_close(struct incoming *in)
{
	if (!in)
		return;
	record_files_close(&in->files, in->path);
	journal_stream_free(&in->stream);
	free(in);
}
