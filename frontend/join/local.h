/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what the files of frontend/join share: a join under way, and one of its files. */
#ifndef HVTRACE_FRONTEND_JOIN_LOCAL_H
#define HVTRACE_FRONTEND_JOIN_LOCAL_H

#include "frontend/join/join.h"

#include "frontend/dat/journal.h"
#include "frontend/join/clocks.h"
#include "frontend/join/ids.h"
#include "frontend/join/places.h"
#include "frontend/join/tasks.h"
#include "tracer/tracer.h"

#define JOIN_NAME_MAX 64 /* of a guest, with its end */

/* What is known of each file before any is joined. */
struct join_source {
	int fd;
	const char *path;
	char name[JOIN_NAME_MAX];
	unsigned int vcpus;
	struct join_clock clock;
	uint64_t bytes; /* of pages in it */
};

/* What the file that is made says of a guest; format.h of frontend/dat has what is written. */
struct join_part {
	char uname[256];
	bool has_trace_id;
	uint64_t trace_id;
	uint32_t buffer, nr_buffers;
	uint32_t stat, nr_stats;
	struct place_texts names;
	struct ids_list formats;
};

struct join {
	const struct join_options *opt;
	struct join_source *source; /* as many as there are files */
	struct join_part *part;
	struct journal *journal;
	unsigned int vcpus; /* of each buffer */
	const char *clock;  /* of all */
	uint32_t nr_buffers, nr_stats;
	struct ids ids;
	struct places places;
	struct join_tasks tasks;
	struct text header_event; /* of the first file */
	uint64_t bytes, bytes_done;
	struct join_result result;
	char *err;
	size_t errlen;
};

/* Whether it is as many files as one can have. 0, or -EINVAL with a line in err. */
int join_check(const struct join_options *opt, char *err, size_t errlen);

/* One line, behind the file's name. Gives -EINVAL. */
int join_fail(struct join *j, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The file, whose descriptor stays open. NULL, with a line said. */
struct dat *join_open(struct join *j, const struct join_source *s);

/* look.c: open each file once, and say what is known of it. 0, or -errno with a line said. */
int join_look(struct join *j, const int *fds);
/* guest.c: the records of one file, and what it says of them. */
int join_guest(struct join *j, size_t i);
/* describe.c: what is said once for all, into the journal. */
int join_describe(struct join *j);
/* Of whose what is, as it stands at the end of the file. */
void join_describe_parts(const struct join *j, struct text *to);

#endif
