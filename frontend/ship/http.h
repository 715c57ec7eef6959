/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.h - requests to HTTP servers, several at a time, by libcurl, in one thread. A server may be
 * anybody's: what it answers is bounded, and so is how long it takes.
 */
#ifndef HVTRACE_FRONTEND_SHIP_HTTP_H
#define HVTRACE_FRONTEND_SHIP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of an answer that is looked at as a text. */
#define HTTP_TEXT_MAX 4096

struct http_part {
	const void *bytes;
	size_t len;
};

/* What is posted. All stays until its end, but url, user and password. */
struct http_request {
	const char *url;
	const char *user, *password; /* NULL: none; without control characters */
	struct http_part part[2];    /* one behind the other */
	size_t answer_max;	     /* bytes; what is more is a failure */
	uint64_t ms;		     /* of all of it */
};

struct http;
struct http_call;

/* What has become of one. */
struct http_answer {
	long status;	  /* of HTTP; 0: there was no answer, or none to its end */
	const char *why;  /* then: what libcurl says */
	const char *text; /* with an end behind it */
	size_t len;
};

/* NULL: no memory. libcurl is loaded. */
struct http *http_new(void);
/* Its calls are ended before. NULL is allowed. */
void http_free(struct http *h);
/* NULL: no memory, or a URL that is none. */
struct http_call *http_start(struct http *h, const struct http_request *r);
/* Until something has happened, fd (-1: none) can be read, or so many milliseconds are over. */
void http_wait(struct http *h, int fd, int ms);
/* One that is over, each once; NULL: there is none. */
struct http_call *http_over(struct http *h);
/* Valid until its end. */
struct http_answer http_answer(const struct http_call *c);
/* Whether or not it is over. NULL is allowed. */
void http_end(struct http_call *c);

/* Whether it is a URL of a server: http or https, a host, and nothing but a path behind that. */
bool http_url_good(const char *url);
/* n bytes at most of text as a value in a URL, with an end; false: there is no room. */
bool http_escape(char *to, size_t n, const char *text);

#endif
