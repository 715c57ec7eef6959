/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.h - one ClickHouse server: what it is asked, and what its answers mean. */
#ifndef HVTRACE_FRONTEND_SHIP_SERVER_H
#define HVTRACE_FRONTEND_SHIP_SERVER_H

#include "frontend/ship/http.h"
#include "frontend/ship/pack.h"
#include "frontend/ship/ship.h"

/* What it has said to a request. */
enum server_says {
	SERVER_YES,
	SERVER_LATER,	 /* it does not answer, or not now */
	SERVER_NOT_THIS, /* not this batch: others it may take */
	SERVER_NEVER, /* it knows no such table, or user: somebody has to do something about it */
};

struct server {
	const struct ship_config *cfg;
	const char *url;
	struct http *http;
	/* What is sent, as long as there is a call. */
	struct http_call *call;
	uint8_t *sent_column;
	char *row;
	/* For who delivers. */
	uint64_t sent;	  /* the number of the delivery that is under way */
	bool has_rows;	  /* of it, which are to be named in `batches` */
	uint64_t has_ms;  /* since when */
	uint64_t told_ms; /* when it was said last that it does not take something; 0: never */
	bool never;	  /* it has said so */
	uint64_t down_until_ms, down_ms;
};

/* Each begins a call, which is over when http_over() says so; false: no memory. */
bool server_send(struct server *s, const struct pack *p, uint64_t ms);
bool server_mark(struct server *s, const struct pack *p, uint64_t ms);
/* For the sizes and numbers of the batches of a source that are there, two uint32_t for each. */
bool server_ask_there(struct server *s, uint64_t source, uint64_t ms);
/* A statement of its own, in the database or, where that may not be there, without one. */
bool server_tell(struct server *s, const char *statement, bool in_database, uint64_t ms);
/*
 * What has become of its call, which is over: with the reason in why, one line, where it is not
 * yes. The call stays, for its answer, until server_end().
 */
enum server_says server_says(const struct server *s, char *why, size_t len);
/* Of a call that is over, or not. */
void server_end(struct server *s);

#endif
