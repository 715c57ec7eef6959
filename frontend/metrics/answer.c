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

#include "frontend/metrics/gzip.h"

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

static bool set_header(const struct answers *a, struct MHD_Response *r, const char *name,
		       const char *value)
{
	return a->http->MHD_add_response_header(r, name, value) == MHD_YES;
}

/* One connection is one request: it is over when it is answered. */
static bool set_headers(const struct answers *a, struct MHD_Response *r, const char *type)
{
	return set_header(a, r, MHD_HTTP_HEADER_CONTENT_TYPE, type) &&
	       set_header(a, r, MHD_HTTP_HEADER_CONNECTION, "close");
}

static bool set_form(const struct answers *a, struct MHD_Response *r, enum metrics_format format,
		     bool packed)
{
	return set_headers(a, r, format_types[format]) &&
	       set_header(a, r, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding") &&
	       (!packed || set_header(a, r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip"));
}

/* NULL: no memory. */
static struct MHD_Response *print(struct answers *a, enum metrics_format format, bool packed)
{
	struct printed *p = calloc(1, sizeof(*p));
	struct MHD_Response *r = NULL;

	if (!p)
		return NULL;
	p->answers = a;
	a->texts++;
	metrics_print(a->metrics, format, &p->text);
	if (packed && !p->text.failed)
		gzip_text(&p->text);
	if (!p->text.failed)
		r = a->http->MHD_create_response_from_buffer_with_free_callback_cls(
			p->text.len, p->text.buf, free_printed, p);
	if (!r) {
		free_printed(p);
	} else if (!set_form(a, r, format, packed)) {
		a->http->MHD_destroy_response(r);
		r = NULL;
	}
	return r;
}

/* What is there of a form, anew if that is not too often. NULL: no memory. */
static struct MHD_Response *metrics_in(struct answers *a, enum metrics_format format, bool packed)
{
	struct answer_form *f = &a->form[format][packed];
	uint64_t begin = now_ns();

	if (f->last && (begin < f->fresh_ns || a->texts >= ANSWER_TEXTS_MAX))
		return f->last;
	if (f->last)
		a->http->MHD_destroy_response(f->last);
	f->last = print(a, format, packed);
	f->fresh_ns = now_ns() + FRESH_FACTOR * (now_ns() - begin);
	return f->last;
}

static const char *header_of(const struct answers *a, struct MHD_Connection *c, const char *name)
{
	return a->http->MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result answer_metrics(struct answers *a, struct MHD_Connection *c)
{
	struct MHD_Response *r =
		metrics_in(a, answer_format(header_of(a, c, MHD_HTTP_HEADER_ACCEPT)),
			   answer_may_pack(header_of(a, c, MHD_HTTP_HEADER_ACCEPT_ENCODING)));

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
	if (set_headers(a, r, p->type) && (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
					   set_header(a, r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD")))
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
	for (unsigned int format = 0; format < 2; format++)
		for (unsigned int packed = 0; packed < 2; packed++)
			if (a->form[format][packed].last)
				a->http->MHD_destroy_response(a->form[format][packed].last);
}
