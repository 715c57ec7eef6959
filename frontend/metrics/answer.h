/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer.h - what is answered to a request. All from one thread. */
#ifndef HVTRACE_FRONTEND_METRICS_ANSWER_H
#define HVTRACE_FRONTEND_METRICS_ANSWER_H

#include <stdbool.h>

#include "frontend/metrics/http-library.h"
#include "frontend/metrics/metrics.h"

/*
 * So many texts of all metrics may be there at once, as slow peers take them: further ones get the
 * last of these.
 */
#define ANSWER_TEXTS_MAX 8

/* A text of all metrics, in one of the forms that there are. */
struct answer_form {
	struct MHD_Response *last; /* NULL: none has been asked for */
	uint64_t fresh_ns;	   /* until then it is new enough (CLOCK_MONOTONIC) */
};

struct answers {
	const struct http_library *http;
	struct metrics *metrics;
	struct answer_form form[2][2]; /* by format, and whether it is packed */
	unsigned int texts;	       /* that are there */
};

/* Queue the answer. MHD_NO: the connection is closed without one. */
enum MHD_Result answer(struct answers *a, struct MHD_Connection *c, const char *url,
		       const char *method);
/* Before the library's daemon is stopped. */
void answers_exit(struct answers *a);

/* Which format a header Accept asks for; NULL: there is none. It may be anything. */
enum metrics_format answer_format(const char *accept);
/* Whether a header Accept-Encoding takes gzip; the same. */
bool answer_may_pack(const char *accept);

#endif
