// SPDX-License-Identifier: GPL-2.0-or-later
/* create.c - ship_create(): the database and its tables, on each server, a statement at a time. */
#include "frontend/ship/ship.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/ship/schema.h"
#include "frontend/ship/server.h"

enum { STATEMENT_MAX = 3072, TICK_MS = 1000 };

static int tell(struct server *s, const char *statement, bool in_database, char *err, size_t errlen)
{
	int rc = -1;

	if (!server_tell(s, statement, in_database, s->cfg->retry_ms)) {
		snprintf(err, errlen, "%s: no memory", s->url);
	} else {
		while (!http_over(s->http))
			http_wait(s->http, -1, TICK_MS);
		rc = server_says(s, err, errlen) == SERVER_YES ? 0 : -1;
	}
	server_end(s);
	return rc;
}

/* Without its comments and what is blank before lines, which would be sent for nothing. */
static void copy_statement(char to[STATEMENT_MAX], const char *from, size_t len)
{
	const char *end = from + len;
	size_t n = 0;

	while (from < end) {
		size_t line = strcspn(from, "\n");
		const char *comment = strstr(from, "--");

		line = from + line > end ? (size_t)(end - from) : line;
		for (const char *at = from + strspn(from, " "); at < from + line; at++)
			if ((!comment || at < comment) && n < STATEMENT_MAX - 2)
				to[n++] = *at;
		to[n++] = ' ';
		n = n < STATEMENT_MAX - 2 ? n : STATEMENT_MAX - 2;
		from += line + 1;
	}
	to[n] = '\0';
}

static int make_tables(struct server *s, char *err, size_t errlen)
{
	const char *at = ship_schema, *end;
	char statement[STATEMENT_MAX];
	int rc = 0;

	while (!rc && (end = strstr(at, ";\n"))) {
		copy_statement(statement, at, (size_t)(end - at));
		rc = tell(s, statement, true, err, errlen);
		at = end + 2;
	}
	return rc;
}

/* In backquotes: what is in it is a name, whatever it is. */
static int make_database(struct server *s, char *err, size_t errlen)
{
	char statement[STATEMENT_MAX];

	snprintf(statement, sizeof(statement), "CREATE DATABASE IF NOT EXISTS `%s`",
		 s->cfg->database);
	return tell(s, statement, false, err, errlen);
}

int ship_create(const struct ship_config *cfg, char *err, size_t errlen)
{
	struct http *http = http_new();
	int rc = http ? 0 : -1;

	if (!http)
		snprintf(err, errlen, "no memory");
	for (size_t i = 0; !rc && i < cfg->nr_urls; i++) {
		struct server s = {.cfg = cfg, .url = cfg->urls[i], .http = http};

		rc = make_database(&s, err, errlen);
		if (!rc)
			rc = make_tables(&s, err, errlen);
	}
	http_free(http);
	return rc;
}
