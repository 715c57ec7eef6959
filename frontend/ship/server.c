// SPDX-License-Identifier: GPL-2.0-or-later
/* server.c - see server.h */
#include "frontend/ship/server.h"

#include "frontend/ship/block.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
	URL_LEN = 4096,
	ROW_LEN = 4096,
	THERE_MAX = 16 << 20, /* bytes of an answer: two million batches */
	/* ClickHouse's errors, as it numbers them. */
	UNKNOWN_TABLE = 60,
	UNKNOWN_DATABASE = 81,
};

/* --- requests ----------------------------------------------------------------------------------
 */

/* The query in the URL, with what is to be known of what is posted. */
static bool put_url(const struct server *s, char url[URL_LEN], const char *query, bool in_database,
		    const char *more)
{
	char escaped[URL_LEN], database[512];
	size_t len = strlen(s->url);

	while (len && s->url[len - 1] == '/')
		len--;
	return http_escape(escaped, sizeof(escaped), query) &&
	       http_escape(database, sizeof(database), s->cfg->database) &&
	       snprintf(url, URL_LEN, "%.*s/?query=%s%s%s%s", (int)len, s->url, escaped,
			in_database ? "&database=" : "", in_database ? database : "",
			more) < URL_LEN;
}

static bool start(struct server *s, const char *query, bool in_database, const char *more,
		  struct http_request *r)
{
	char url[URL_LEN];

	if (!put_url(s, url, query, in_database, more))
		return false;
	r->url = url;
	r->user = s->cfg->user;
	r->password = s->cfg->password;
	s->call = http_start(s->http, r);
	return s->call;
}

/*
 * Rising with time, for who wants to know how old a delivery is; what is below that is enough to
 * tell those of all hosts in one second.
 */
static uint64_t new_number(void)
{
	uint32_t low = 0;

	while (getrandom(&low, sizeof(low), 0) != sizeof(low))
		;
	return (uint64_t)time(NULL) << 32 | low;
}

bool server_send(struct server *s, const struct pack *p, uint64_t ms)
{
	size_t len;

	s->sent = new_number();
	s->sent_column = block_sent(s->sent, p->head.rows, &len);
	return s->sent_column &&
	       start(s, "INSERT INTO records FORMAT Native", true,
		     "&decompress=1&http_native_compression_disable_checksumming_on_decompress=1",
		     &(struct http_request){
			     .part = {{p->bytes, p->head.packed}, {s->sent_column, len}},
			     .answer_max = HTTP_TEXT_MAX,
			     .ms = ms,
		     });
}

/* As the format TabSeparated has it. */
static void put_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\t' || *text == '\n' || *text == '\\')
			fputc('\\', to);
		fputc(*text == '\t' ? 't' : *text == '\n' ? 'n' : *text, to);
	}
	fputc('\t', to);
}

static void put_row(FILE *to, const struct pack_head *h, uint64_t sent)
{
	put_text(to, h->host);
	put_text(to, h->guest);
	put_text(to, h->kernel);
	put_text(to, h->file);
	fprintf(to,
		"%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64
		"\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
		h->trace_id, h->source, h->size, h->number, h->rows, h->first, h->last, h->lost,
		sent);
}

bool server_mark(struct server *s, const struct pack *p, uint64_t ms)
{
	size_t len = 0;
	FILE *to = open_memstream(&s->row, &len);

	if (!to)
		return false;
	put_row(to, &p->head, s->sent);
	return !fclose(to) &&
	       start(s,
		     "INSERT INTO batches (host, guest, kernel, file, trace_id, source, size, "
		     "number, rows, first, last, lost, sent) FORMAT TabSeparated",
		     true, "",
		     &(struct http_request){
			     .part = {{s->row, len}},
			     .answer_max = HTTP_TEXT_MAX,
			     .ms = ms,
		     });
}

bool server_ask_there(struct server *s, uint64_t source, uint64_t ms)
{
	char query[256];

	snprintf(query, sizeof(query),
		 "SELECT size, number FROM batches WHERE source = %" PRIu64 " FORMAT RowBinary",
		 source);
	return start(s, query, true, "", &(struct http_request){.answer_max = THERE_MAX, .ms = ms});
}

bool server_tell(struct server *s, const char *statement, bool in_database, uint64_t ms)
{
	return start(s, statement, in_database, "",
		     &(struct http_request){.answer_max = HTTP_TEXT_MAX, .ms = ms});
}

/* --- answers -----------------------------------------------------------------------------------
 */

static bool is_one_of(long code, const long *codes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (code == codes[i])
			return true;
	return false;
}

/* Numbers of ClickHouse's errors that do not go away by themselves. */
static bool is_for_good(long code)
{
	static const long codes[] = {
		47, /* UNKNOWN_IDENTIFIER */
		UNKNOWN_TABLE,
		73, /* UNKNOWN_FORMAT */
		UNKNOWN_DATABASE,
		115, /* UNKNOWN_SETTING */
		164, /* READONLY */
		192, /* UNKNOWN_USER */
		193, /* WRONG_PASSWORD */
		194, /* REQUIRED_PASSWORD */
		195, /* IP_ADDRESS_NOT_ALLOWED */
		291, /* DATABASE_ACCESS_DENIED */
		497, /* ACCESS_DENIED */
		516, /* AUTHENTICATION_FAILED */
	};

	return is_one_of(code, codes, sizeof(codes) / sizeof(*codes));
}

/* And those that what is in a batch may be the cause of, which may be anything. */
static bool is_of_batch(long code)
{
	static const long codes[] = {
		10,  /* NOT_FOUND_COLUMN_IN_BLOCK */
		16,  /* NO_SUCH_COLUMN_IN_TABLE */
		53,  /* TYPE_MISMATCH */
		62,  /* SYNTAX_ERROR */
		252, /* TOO_MANY_PARTS, also of months in one block */
	};

	return is_one_of(code, codes, sizeof(codes) / sizeof(*codes));
}

static long code_of(const char *text)
{
	const char *at = strstr(text, "Code: ");

	return at ? strtol(at + 6, NULL, 10) : 0;
}

/* Its first line, without the words that all of them have. */
static void put_why(char *why, size_t len, const struct server *s, const struct http_answer *a)
{
	const char *text = strstr(a->text, "DB::Exception: "), *end;
	const long code = code_of(a->text);

	text = text ? text + 15 : a->text;
	end = strstr(text, ", e.what() = ");
	if (!end)
		end = text + strcspn(text, "\n");
	if (!a->status)
		snprintf(why, len, "%s: %s", s->url, a->why ? a->why : "it does not answer");
	else if (end == text)
		snprintf(why, len, "%s: it answers with status %ld", s->url, a->status);
	else
		snprintf(why, len, "%s: %.*s%s", s->url, (int)(end - text), text,
			 code == UNKNOWN_TABLE || code == UNKNOWN_DATABASE ? " (--create makes it)"
									   : "");
}

enum server_says server_says(const struct server *s, char *why, size_t len)
{
	const struct http_answer a = http_answer(s->call);

	if (a.status == 200 && !(code_of(a.text) && strstr(a.text, "DB::Exception")))
		return SERVER_YES;
	put_why(why, len, s, &a);
	if (a.status == 401 || a.status == 403 || is_for_good(code_of(a.text)))
		return SERVER_NEVER;
	if (is_of_batch(code_of(a.text)))
		return SERVER_NOT_THIS;
	/* Another server that is there, or something before it. */
	if (a.status >= 300 && a.status < 500 && !code_of(a.text) && a.status != 408 &&
	    a.status != 429)
		return SERVER_NEVER;
	return SERVER_LATER;
}

void server_end(struct server *s)
{
	http_end(s->call);
	free(s->sent_column);
	free(s->row);
	s->call = NULL;
	s->sent_column = NULL;
	s->row = NULL;
}
