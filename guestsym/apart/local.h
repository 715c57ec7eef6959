/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what the files of apart/ share. */
#ifndef HVTRACE_GUESTSYM_APART_LOCAL_H
#define HVTRACE_GUESTSYM_APART_LOCAL_H

#include "guestsym/apart/apart.h"

#include <stdint.h>

/* Sanitizers and gcov map, open and look at what they like. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(HVTRACE_COVERAGE)
#define APART_LOOSE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define APART_LOOSE 1
#endif
#endif
#ifndef APART_LOOSE
#define APART_LOOSE 0
#endif

/*
 * Between hvtrace and its server, in packets. A request has the descriptors with it that `has`
 * says. CANCEL ends the job that is under way; it has no answer of its own.
 */
#define CANCEL UINT32_MAX

struct request {
	uint32_t job;
	uint32_t has; /* a bit for each of the descriptors */
};

/* ENDED: err is the job's. */
enum outcome { ENDED, DIED, TIMED_OUT, CANCELLED };

struct answer {
	uint32_t outcome; /* enum outcome */
	int32_t err;	  /* -errno, or of DIED the signal */
	char why[APART_TEXT];
};

/* serve.c: in the process that apart_start() makes; until nobody is at the other end of sock. */
_Noreturn void serve(int sock, const struct apart_job *jobs, size_t n,
		     const struct apart_limits *limits);

/* confine.c: what the server keeps, and of that what a job keeps. 0 or -errno. */
int confine_server(void);
/* mapped: bytes of the server's address space. */
int confine_job(const int fds[APART_FDS], const struct apart_limits *limits, uint64_t mapped);

#endif
