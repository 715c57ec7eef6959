/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digest.h - what commands of hvtrace have found, read from the JSON that they write for programs:
 * by json-c, of bounded length and depth.
 */
#ifndef HVTRACE_FRONTEND_SERVE_DIGEST_H
#define HVTRACE_FRONTEND_SERVE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/report/latency.h"

/* NULL, or what is missing on this host, in one line: nothing is read then. */
const char *digest_missing(void);

/* What --summary has of a recording. */
struct digest_summary {
	char end[32], reason[320], release[128];
	double seconds;
	uint64_t records, lost, stood_ns, longest_ns, bytes;
	unsigned int vcpus;
};

/* 0, or -errno: -EBADMSG where it is no summary. */
int digest_summary(struct digest_summary *s, const char *path);

/* What hvtrace ship --summary has. */
struct digest_shipped {
	uint64_t records, batches, bytes, missed, spool_batches, lost;
};

/* The same. */
int digest_shipped(struct digest_shipped *s, const char *path);

/* A row of hvtrace latency, wakeups or syscalls: its histogram, and what it is of. */
struct digest_row {
	char name[LATENCY_NAME_LEN];
	uint64_t bucket[LATENCY_REPORT_BUCKETS];
	uint64_t total_ns, max_ns, count, errors;
};

/* Told of each row, `all` of the one that is all of them. */
typedef void digest_row_fn(void *arg, const struct digest_row *row, bool all);

/* 0, or -errno: -EBADMSG where it is nothing of that kind. */
int digest_rows(const char *path, digest_row_fn *tell, void *arg);

#endif
