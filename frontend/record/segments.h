/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segments.h - a recording without end, as hvtrace record -o - writes it, cut into trace.dat files
 * that each can be read alone: what is known of the guest by then is in all of them.
 */
#ifndef HVTRACE_FRONTEND_RECORD_SEGMENTS_H
#define HVTRACE_FRONTEND_RECORD_SEGMENTS_H

#include "frontend/record/record.h"

struct segments;

/* The last one that was given. To be zeroed. */
struct segments_names {
	char when[32];
	unsigned int nr; /* of that second */
};

/*
 * FILE.20261129T134840Z.dat of FILE.dat; a second one of that second is
 * FILE.20261129T134840Z.2.dat. None that is there is given: clocks are set back, and a recording
 * begins again. 0 or -errno.
 */
int segments_name(struct segments_names *n, const char *output, time_t now,
		  char path[RECORD_PATH_MAX]);

struct segments_config {
	int64_t ms; /* of one file; what comes less often than that makes them longer */
	/* The name of the next file. 0 or -errno. */
	int (*name)(void *arg, char path[RECORD_PATH_MAX]);
	/* A file is whole and in its place, rc 0, or is still the journal. On a thread of its own,
	 * one after the other. */
	void (*done)(void *arg, const char *path, const struct record_result *result, int rc);
	void *arg;
};

/* NULL: no memory. */
struct segments *segments_new(const struct segments_config *cfg);
/*
 * What has come next, at this time. 0; -EBADMSG: that is no recording; or -errno of a file, with
 * what it is about in err. Once it has failed it fails again.
 */
int segments_add(struct segments *s, const void *bytes, size_t len, int64_t now_ms, char *err,
		 size_t errlen);
/* Nothing more comes: the last file is made, and waited for. 0, or what has kept it from that. */
int segments_finish(struct segments *s);
void segments_free(struct segments *s); /* NULL is allowed; waits as segments_finish() */

#endif
