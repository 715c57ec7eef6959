/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep.h - the recordings on the disk: STATE/GUEST/RULE.TIME.dat, with the oldest removed first
 * where they are more than is allowed, or older.
 */
#ifndef HVTRACE_FRONTEND_SERVE_KEEP_H
#define HVTRACE_FRONTEND_SERVE_KEEP_H

#include <stddef.h>
#include <stdint.h>

#define KEEP_PATH_LEN 4096

/* What of a rule's recordings, or of all, is left. */
struct keep_limit {
	const char *rule; /* NULL: of all together */
	uint64_t bytes;	  /* 0: any */
	int64_t age_s;	  /* 0: any */
};

/* Why one was removed. */
enum keep_why { KEEP_FOR_DISK, KEEP_FOR_AGE, KEEP_WHYS };

/* Of those that a limit is about. */
struct keep_result {
	uint64_t bytes, files;	     /* that are there now */
	uint64_t removed[KEEP_WHYS]; /* files, by this call: also by another limit */
};

/* STATE/GUEST, which is made if it is not there, and the file for a recording that begins now. 0 or
 * -errno. */
int keep_name(char path[KEEP_PATH_LEN], const char *state, const char *guest, const char *rule);
/* The same of one in segments, each of which gets its time: STATE/GUEST/RULE.dat. */
int keep_base(char path[KEEP_PATH_LEN], const char *state, const char *guest, const char *rule);
/* The name of a folder or file made of one that anybody has chosen: nothing that leads elsewhere.
 */
void keep_safe_name(char *to, size_t size, const char *name);

/*
 * Remove what is more than the limits allow: one for all at least; result: one of each of them.
 * What is being recorded has another name's end, or is locked, and stays. 0 or -errno: what could
 * be removed is.
 */
int keep_within(const char *state, const struct keep_limit *limits, size_t nr,
		struct keep_result *result);

/*
 * Each recording that a recorder has left unfinished which was killed: tell(arg, path) for it, with
 * nobody else recording to it. 0 or -errno.
 */
int keep_find_unfinished(const char *state, void (*tell)(void *arg, const char *path), void *arg);

#endif
