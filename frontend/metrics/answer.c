// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * answer.c - see answer.h
 *
 * To print all metrics takes a while, and keeps out who changes them. So a text that took that
 * long is given to all who ask within some time, and who asks over and over has only a small part
 * of the host's time.
 */
#include "frontend/metrics/answer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So many times as long as it took to print. */
#define FRESH_FACTOR 20

static const struct path {
	const char *path, *type, *text; /* text NULL: the metrics */
} paths[] = {
	{"/", "text/html; charset=utf-8",
	 "<!DOCTYPE html>\n<html lang=\"en\"><title>hvtrace</title>\n<h1>hvtrace</h1>\n"
	 "<p><a href=\"/metrics\">/metrics</a>: for Prometheus\n"
	 "<p><a href=\"/-/healthy\">/-/healthy</a>: whether it answers\n</html>\n"},
	{"/metrics", NULL, NULL},
	{"/-/healthy", "text/plain; charset=utf-8", "hvtrace is healthy\n"},
};

static const struct path not_here = {NULL, "text/plain; charset=utf-8",
				     "there are /metrics and /-/healthy\n"};
static const struct path not_so = {NULL, "text/plain; charset=utf-8", "only GET and HEAD\n"};

static const char *const format_types[] = {
	[METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- the metrics ----------------------------------------------------------------------------- */

/* A text, and whose it is. */
struct printed {
	struct answers *answers;
	struct text text;
};

static void free_printed(void *arg)
{
	struct printed *p = arg;

	p->answers->texts--;
	text_free(&p->text);
	free(p);
}

/* One connection is one request: it is over when it is answered. */
static bool set_headers(const struct answers *a, struct MHD_Response *r, const char *type)
{
	return a->http->MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	       a->http->MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES;
}

/* NULL: no memory. */
static struct MHD_Response *print(struct answers *a, enum metrics_format format)
{
	struct printed *p = calloc(1, sizeof(*p));
	struct MHD_Response *r = NULL;

	if (!p)
		return NULL;
	p->answers = a;
	a->texts++;
	metrics_print(a->metrics, format, &p->text);
	if (!p->text.failed)
		r = a->http->MHD_create_response_from_buffer_with_free_callback_cls(
			p->text.len, p->text.buf, free_printed, p);
	if (!r) {
		free_printed(p);
	} else if (!set_headers(a, r, format_types[format])) {
		a->http->MHD_destroy_response(r);
		r = NULL;
	}
	return r;
}

/* What is there of a format, anew if that is not too often. NULL: no memory. */
static struct MHD_Response *metrics_of(struct answers *a, enum metrics_format format)
{
	uint64_t begin = now_ns();
	struct MHD_Response *r;

	if (a->last[format] && (begin < a->fresh_ns[format] || a->texts >= ANSWER_TEXTS_MAX))
		return a->last[format];
	if (a->last[format])
		a->http->MHD_destroy_response(a->last[format]);
	a->last[format] = r = print(a, format);
	a->fresh_ns[format] = now_ns() + FRESH_FACTOR * (now_ns() - begin);
	return r;
}

static enum MHD_Result answer_metrics(struct answers *a, struct MHD_Connection *c)
{
	const char *accept =
		a->http->MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct MHD_Response *r = metrics_of(a, answer_format(accept));

	return r ? a->http->MHD_queue_response(c, MHD_HTTP_OK, r) : MHD_NO;
}

/* --- all else -------------------------------------------------------------------------------- */

static enum MHD_Result answer_text(struct answers *a, struct MHD_Connection *c, unsigned int status,
				   const struct path *p)
{
	enum MHD_Result result = MHD_NO;
	/* It is only read. */
	struct MHD_Response *r = a->http->MHD_create_response_from_buffer(
		strlen(p->text), (void *)(uintptr_t)p->text, MHD_RESPMEM_PERSISTENT);

	if (!r)
		return MHD_NO;
	if (set_headers(a, r, p->type) &&
	    (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     a->http->MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES))
		result = a->http->MHD_queue_response(c, status, r);
	a->http->MHD_destroy_response(r);
	return result;
}

enum MHD_Result answer(struct answers *a, struct MHD_Connection *c, const char *url,
		       const char *method)
{
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(a, c, MHD_HTTP_METHOD_NOT_ALLOWED, &not_so);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (strcmp(url, paths[i].path) != 0)
			continue;
		return paths[i].text ? answer_text(a, c, MHD_HTTP_OK, &paths[i])
				     : answer_metrics(a, c);
	}
	return answer_text(a, c, MHD_HTTP_NOT_FOUND, &not_here);
}

void answers_exit(struct answers *a)
{
	for (unsigned int f = 0; f < 2; f++)
		if (a->last[f])
			a->http->MHD_destroy_response(a->last[f]);
}
