// SPDX-License-Identifier: GPL-2.0-or-later
/* http.c - see http.h */
#include "frontend/ship/http.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/ship/curl-library.h"

enum { CONNECT_MS = 5000, HEADER_MAX = 1024 };

struct http {
	CURLM *multi;
};

struct http_call {
	struct http *http;
	CURL *easy;
	struct curl_slist *headers;
	struct http_part part[2];
	size_t sent; /* of both parts */
	char *answer;
	size_t len, max;
	CURLcode code;
	bool added;
};

/* --- what libcurl calls ------------------------------------------------------------------------
 */

static size_t give(char *to, size_t size, size_t nr, void *arg)
{
	struct http_call *c = arg;
	size_t room = size * nr, first = c->part[0].len;
	const struct http_part *p = c->sent < first ? &c->part[0] : &c->part[1];
	size_t at = c->sent < first ? c->sent : c->sent - first, n = p->len - at;

	n = n < room ? n : room;
	if (n)
		memcpy(to, (const char *)p->bytes + at, n);
	c->sent += n;
	return n;
}

/* Of an answer that is too long it is enough to know that. */
static size_t take(char *from, size_t size, size_t nr, void *arg)
{
	struct http_call *c = arg;
	size_t n = size * nr;
	char *answer;

	if (n > c->max - c->len)
		return 0;
	answer = realloc(c->answer, c->len + n + 1);
	if (!answer)
		return 0;
	memcpy(answer + c->len, from, n);
	c->answer = answer;
	c->len += n;
	c->answer[c->len] = '\0';
	return n;
}

/* --- a call ------------------------------------------------------------------------------------
 */

static bool add_header(struct http_call *c, const char *name, const char *value)
{
	struct curl_slist *more;
	char line[HEADER_MAX];

	if ((size_t)snprintf(line, sizeof(line), "%s:%s%s", name, *value ? " " : "", value) >=
	    sizeof(line))
		return false;
	more = curl_library()->curl_slist_append(c->headers, line);
	c->headers = more ? more : c->headers;
	return more;
}

static bool add_headers(struct http_call *c, const struct http_request *r)
{
	/* Nothing is to wait for a server to say that it may come. */
	return add_header(c, "Expect", "") && add_header(c, "Content-Type", "") &&
	       (!r->user || add_header(c, "X-ClickHouse-User", r->user)) &&
	       (!r->password || add_header(c, "X-ClickHouse-Key", r->password));
}

#define CURLOPT_PROTOCOLS_OLD ((CURLoption)(CURLOPTTYPE_LONG + 181)) /* CURLOPT_PROTOCOLS */

#define SET(option, value) (l->curl_easy_setopt(c->easy, option, value) == CURLE_OK)

/* libcurl before 7.85 knows no such names, but numbers that later versions have given up. */
static bool set_protocols(const struct http_call *c)
{
	const struct curl_library *l = curl_library();

	return SET(CURLOPT_PROTOCOLS_STR, "http,https") ||
	       SET(CURLOPT_PROTOCOLS_OLD, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}

static bool set_up(struct http_call *c, const struct http_request *r)
{
	const struct curl_library *l = curl_library();

	/*
	 * A connection for each: on one that was used before libcurl would send a request again by
	 * itself where no answer comes, and rows would be there twice with one number.
	 */
	return SET(CURLOPT_URL, r->url) && set_protocols(c) &&
	       SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) &&
	       SET(CURLOPT_FRESH_CONNECT, 1L) && SET(CURLOPT_FORBID_REUSE, 1L) &&
	       SET(CURLOPT_NOSIGNAL, 1L) && SET(CURLOPT_POST, 1L) &&
	       SET(CURLOPT_HTTPHEADER, c->headers) && SET(CURLOPT_READFUNCTION, give) &&
	       SET(CURLOPT_READDATA, c) && SET(CURLOPT_WRITEFUNCTION, take) &&
	       SET(CURLOPT_WRITEDATA, c) && SET(CURLOPT_PRIVATE, c) &&
	       SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(r->part[0].len + r->part[1].len)) &&
	       SET(CURLOPT_UPLOAD_BUFFERSIZE, 1L << 20) &&
	       SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) &&
	       SET(CURLOPT_TIMEOUT_MS, (long)(r->ms < INT32_MAX ? r->ms : INT32_MAX));
}

struct http_call *http_start(struct http *h, const struct http_request *r)
{
	const struct curl_library *l = curl_library();
	struct http_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->http = h;
	memcpy(c->part, r->part, sizeof(c->part));
	c->max = r->answer_max;
	c->easy = l->curl_easy_init();
	if (c->easy && add_headers(c, r) && set_up(c, r)) {
		c->added = l->curl_multi_add_handle(h->multi, c->easy) == CURLM_OK;
		if (c->added)
			return c;
	}
	http_end(c);
	return NULL;
}

struct http_answer http_answer(const struct http_call *c)
{
	const struct curl_library *l = curl_library();
	struct http_answer a = {.text = c->answer ? c->answer : "", .len = c->len};

	if (c->code != CURLE_OK)
		a.why = c->code == CURLE_WRITE_ERROR ? "it answers more than it should"
						     : l->curl_easy_strerror(c->code);
	else if (l->curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &a.status) != CURLE_OK)
		a.status = 0;
	return a;
}

void http_end(struct http_call *c)
{
	const struct curl_library *l = curl_library();

	if (!c)
		return;
	if (c->added)
		l->curl_multi_remove_handle(c->http->multi, c->easy);
	if (c->easy)
		l->curl_easy_cleanup(c->easy);
	l->curl_slist_free_all(c->headers);
	free(c->answer);
	free(c);
}

/* --- all of them -------------------------------------------------------------------------------
 */

struct http *http_new(void)
{
	struct http *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->multi = curl_library()->curl_multi_init();
	if (h->multi)
		return h;
	free(h);
	return NULL;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	curl_library()->curl_multi_cleanup(h->multi);
	free(h);
}

void http_wait(struct http *h, int fd, int ms)
{
	const struct curl_library *l = curl_library();
	struct curl_waitfd also = {.fd = fd, .events = CURL_WAIT_POLLIN};
	int running;

	l->curl_multi_perform(h->multi, &running);
	l->curl_multi_poll(h->multi, &also, fd >= 0, ms, NULL);
	l->curl_multi_perform(h->multi, &running);
}

struct http_call *http_over(struct http *h)
{
	const struct curl_library *l = curl_library();
	const struct CURLMsg *m;
	void *call = NULL;
	int left;

	do
		m = l->curl_multi_info_read(h->multi, &left);
	while (m && m->msg != CURLMSG_DONE);
	if (!m || l->curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call) != CURLE_OK ||
	    !call)
		return NULL;
	((struct http_call *)call)->code = m->data.result;
	return call;
}

/* --- URLs --------------------------------------------------------------------------------------
 */

/* A name and a password in one would be seen by all who may list processes. */
bool http_url_good(const char *url)
{
	const char *host = !strncmp(url, "http://", 7)	  ? url + 7
			   : !strncmp(url, "https://", 8) ? url + 8
							  : "";

	if (!*host || *host == '/' || strpbrk(host, "?#@"))
		return false;
	for (; *host; host++)
		if ((unsigned char)*host <= ' ' || (unsigned char)*host >= 0x7f)
			return false;
	return true;
}

bool http_escape(char *to, size_t n, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		int len = isalnum(c) && c < 0x80 ? snprintf(to, n, "%c", c)
						 : snprintf(to, n, "%%%02X", c);

		if ((size_t)len >= n)
			return false;
		to += len;
		n -= (size_t)len;
	}
	*to = '\0';
	return n;
}
