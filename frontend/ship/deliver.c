// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deliver.c - ship_deliver(): a few batches in memory, each of which goes to a server that is free,
 * up to the row in `batches` that makes it count. One thread, which waits for all of them.
 *
 * A batch that a server did not take, or of which it is not known whether it has, is the first in
 * the queue again and goes to the next one that is free, under a new number: see ship.h. Once no
 * server has taken anything for a while batches go to the spool, if there is one.
 */
#include "frontend/ship/ship.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/ship/curl-library.h"
#include "frontend/ship/inbox.h"
#include "frontend/ship/server.h"
#include "frontend/ship/spool.h"
#include "frontend/ship/there.h"

enum {
	QUEUE = 4,
	TICK_MS = 200, /* how late it may be seen that some time is over */
	DOWN_MS = 100, /* a server is left alone for, at first; then twice as long each time */
	DOWN_MAX_MS = 5000,
	TELL_MS = 10000,
	TRIES_MAX = 8,	/* of a batch, with servers that answer */
	ASK_MS = 10000, /* for what servers have of a file */
};

struct job {
	struct pack pack;
	uint64_t spool_nr; /* of what comes out of the spool; else 0 */
	unsigned int tries;
};

struct deliver {
	const struct ship_config *cfg;
	struct ship_result *result;
	struct http *http;
	struct server servers[SHIP_SERVERS_MAX];
	struct job sending[SHIP_SERVERS_MAX]; /* what each has a call for */
	size_t nr, next;		      /* servers, and the one whose turn it is */
	struct job queue[QUEUE + SHIP_SERVERS_MAX];
	size_t queued;
	struct inbox inbox;
	struct spool *spool;
	uint64_t spool_after; /* what is before that in the spool has been looked at */
	bool spool_rests;     /* nobody takes what is in it */
	struct there there;
	bool refused;			/* what comes of this file */
	uint64_t began_ms, progress_ms; /* when a server took something last */
	bool stop;			/* nothing more is read */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void say(const struct deliver *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct deliver *d, const char *format, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	d->cfg->say(d->cfg->arg, line);
}

/* --- time --------------------------------------------------------------------------------------
 */

static bool is_over(const struct deliver *d)
{
	return d->cfg->for_ms && now_ms() - d->began_ms >= d->cfg->for_ms;
}

/* How long a server may take to answer. */
static uint64_t answer_ms(const struct deliver *d)
{
	uint64_t ms = d->cfg->retry_ms, gone = now_ms() - d->began_ms;

	if (!d->cfg->for_ms)
		return ms;
	if (gone >= d->cfg->for_ms)
		return 1;
	return d->cfg->for_ms - gone < ms ? d->cfg->for_ms - gone : ms;
}

static bool has_hope(const struct deliver *d)
{
	bool all_never = true;

	for (size_t i = 0; i < d->nr; i++)
		all_never &= d->servers[i].never;
	return !all_never && !is_over(d) && now_ms() - d->progress_ms < d->cfg->retry_ms;
}

/* --- the queue ---------------------------------------------------------------------------------
 */

/* It has a batch, whether or not there is a call for it now. */
static bool is_busy(const struct server *s)
{
	return s->call || s->has_rows;
}

static bool is_idle(const struct deliver *d)
{
	for (size_t i = 0; i < d->nr; i++)
		if (is_busy(&d->servers[i]))
			return false;
	return true;
}

/* Nobody is late with anything while there is nothing to send. */
static void put_last(struct deliver *d, struct job job)
{
	if (!d->queued && is_idle(d))
		d->progress_ms = now_ms();
	d->queue[d->queued++] = job;
}

/* It was in it before, so there is room. */
static void put_first(struct deliver *d, struct job job)
{
	memmove(d->queue + 1, d->queue, d->queued * sizeof(*d->queue));
	d->queue[0] = job;
	d->queued++;
}

static struct job take_first(struct deliver *d)
{
	struct job job = d->queue[0];

	d->queued--;
	memmove(d->queue, d->queue + 1, d->queued * sizeof(*d->queue));
	return job;
}

static bool has_room(const struct deliver *d)
{
	return d->queued < QUEUE;
}

static bool has_calls(const struct deliver *d)
{
	for (size_t i = 0; i < d->nr; i++)
		if (d->servers[i].call)
			return true;
	return false;
}

/* --- the spool ---------------------------------------------------------------------------------
 */

static void fill_from_spool(struct deliver *d)
{
	while (d->spool && !d->spool_rests && !d->stop && has_room(d)) {
		struct job job = {.tries = 0};
		int rc = spool_get(d->spool, d->spool_after, &job.pack, &job.spool_nr);

		if (rc == -ENOENT)
			return;
		if (rc == -EBADMSG) {
			say(d,
			    "%s/%020" PRIu64
			    ".batch is no batch, or damaged: it is called .bad now",
			    spool_path(d->spool), job.spool_nr);
		} else if (rc) {
			say(d, "%s: what is in it cannot be read: %s", spool_path(d->spool),
			    strerror(-rc));
			d->spool_rests = true;
			return;
		} else {
			put_last(d, job);
		}
		d->spool_after = job.spool_nr;
	}
}

static void miss(struct deliver *d, const struct job *job)
{
	d->result->missed += job->pack.head.rows;
	d->result->missed_batches++;
}

static void spool(struct deliver *d, const struct job *job)
{
	struct ship_result *r = d->result;
	int rc = spool_put(d->spool, &job->pack);

	/* It is not taken out again at once. */
	d->spool_rests = true;
	if (!rc) {
		r->spooled += job->pack.head.rows;
		r->spooled_batches++;
		return;
	}
	miss(d, job);
	d->stop = true;
	if (rc == -EDQUOT)
		say(d, "%s is full (--spool-max): the rest is not delivered, and not spooled",
		    spool_path(d->spool));
	else
		say(d, "%s: a batch cannot be put there: %s", spool_path(d->spool), strerror(-rc));
}

/* Of a file about whose batches nothing is known. */
static void begin_nothing(struct deliver *d)
{
	there_clear(&d->there);
	d->refused = false;
}

/* One that nobody takes. What has come out of the spool stays in it. */
static void give_up(struct deliver *d, struct job *job)
{
	if (job->pack.head.kind == PACK_BATCH && !job->spool_nr) {
		if (d->spool) {
			spool(d, job);
		} else {
			miss(d, job);
			d->stop = true;
		}
	} else if (job->spool_nr) {
		d->spool_rests = true;
	} else {
		begin_nothing(d); /* nobody was asked what there is of the next ones */
	}
	free(job->pack.bytes);
}

/* --- what is there already ---------------------------------------------------------------------
 */

static void begin_source(struct deliver *d)
{
	uint64_t ms = answer_ms(d) < ASK_MS ? answer_ms(d) : ASK_MS;

	for (size_t i = 0; i < d->nr; i++)
		if (!d->servers[i].never)
			server_ask_there(&d->servers[i], d->queue[0].pack.head.source, ms);
}

static void end_source(struct deliver *d, struct job *job)
{
	const struct pack_head *h = &job->pack.head;

	begin_nothing(d);
	for (size_t i = 0; i < d->nr; i++) {
		struct server *s = &d->servers[i];
		struct http_answer a;
		char why[256];

		if (s->call && server_says(s, why, sizeof(why)) == SERVER_YES) {
			a = http_answer(s->call);
			if (!there_add(&d->there, h->size, a.text, a.len))
				say(d, "%s: it does not say what it has in a way that makes sense",
				    s->url);
		}
		server_end(s);
	}
	if (!d->there.other_size)
		return;
	say(d,
	    "%s was shipped before in batches of %" PRIu32 " records, and would count twice: ship "
	    "it with --batch-rows %" PRIu32,
	    h->file, d->there.other_size, d->there.other_size);
	d->refused = d->result->refused = true;
}

/*
 * A file begins: what servers have of it. Those that do not answer may have some as well, which
 * does not count twice, see ship.h: it only takes room.
 */
static void look_at_source(struct deliver *d)
{
	struct job job;
	size_t left = 0;

	begin_source(d);
	for (size_t i = 0; i < d->nr; i++)
		left += d->servers[i].call != NULL;
	while (left) {
		http_wait(d->http, -1, TICK_MS);
		while (http_over(d->http))
			left--;
	}
	job = take_first(d);
	end_source(d, &job);
}

/* --- servers -----------------------------------------------------------------------------------
 */

static void down(struct server *s)
{
	s->down_ms = s->down_ms ? 2 * s->down_ms : DOWN_MS;
	if (s->down_ms > DOWN_MAX_MS)
		s->down_ms = DOWN_MAX_MS;
	s->down_until_ms = now_ms() + s->down_ms;
}

/* Not more often than anybody wants to read. */
static void tell(struct deliver *d, struct server *s, enum server_says says, const char *why)
{
	snprintf(d->result->why, sizeof(d->result->why), "%s", why);
	if (s->told_ms && now_ms() - s->told_ms < TELL_MS && says != SERVER_NEVER)
		return;
	s->told_ms = now_ms();
	say(d, "%s", why);
}

/* It is the first in the queue again, for whoever is free. */
static void take_back(struct deliver *d, size_t i)
{
	server_end(&d->servers[i]);
	d->servers[i].has_rows = false;
	put_first(d, d->sending[i]);
}

/*
 * One that no server takes for its own sake: others may be better. In the spool it is tried again
 * the next time.
 */
static void give_one_up(struct deliver *d)
{
	struct job job = take_first(d);

	d->progress_ms = now_ms();
	if (job.pack.head.kind == PACK_BATCH && !job.spool_nr && !d->spool)
		miss(d, &job);
	else if (!job.spool_nr)
		spool(d, &job);
	free(job.pack.bytes);
}

static void fail(struct deliver *d, size_t i, enum server_says says, const char *why)
{
	struct server *s = &d->servers[i];
	bool answers = http_answer(s->call).status;

	tell(d, s, says, why);
	s->never = says == SERVER_NEVER;
	if (says != SERVER_NOT_THIS)
		down(s);
	server_end(s);
	/* Rows that are there may be named as often as it takes, with this server alone. */
	if (s->has_rows && !s->never && now_ms() - s->has_ms < d->cfg->retry_ms)
		return;
	/* Each server has its say of one that is not to its liking. */
	d->sending[i].tries +=
		says == SERVER_NOT_THIS ? TRIES_MAX / (unsigned int)d->nr + 1 : answers;
	take_back(d, i);
	if (d->queue[0].tries < TRIES_MAX)
		return;
	if (says == SERVER_NOT_THIS) {
		give_one_up(d);
	} else {
		struct job job = take_first(d);

		give_up(d, &job);
	}
}

static void delivered(struct deliver *d, size_t i)
{
	struct ship_result *r = d->result;
	struct job *job = &d->sending[i];
	const struct pack_head *h = &job->pack.head;
	int rc = job->spool_nr ? spool_remove(d->spool, job->spool_nr) : 0;

	if (rc)
		say(d, "%s: what is delivered cannot be taken away: %s", spool_path(d->spool),
		    strerror(-rc));
	r->records += h->rows;
	r->batches++;
	r->raw += h->raw;
	r->packed += h->packed;
	r->lost += h->lost;
	free(job->pack.bytes);
	d->servers[i].has_rows = false;
	d->progress_ms = now_ms();
	d->spool_rests = d->spool_rests && rc;
}

static void mark(struct deliver *d, size_t i)
{
	if (!server_mark(&d->servers[i], &d->sending[i].pack, answer_ms(d)))
		take_back(d, i);
}

static void took(struct deliver *d, size_t i)
{
	struct server *s = &d->servers[i];

	s->down_ms = 0;
	server_end(s);
	if (s->has_rows) {
		delivered(d, i);
		return;
	}
	s->has_rows = true;
	s->has_ms = now_ms();
	mark(d, i);
}

static void look_at_answers(struct deliver *d)
{
	const struct http_call *c;

	while ((c = http_over(d->http))) {
		for (size_t i = 0; i < d->nr; i++) {
			enum server_says says;
			char why[256];

			if (d->servers[i].call != c)
				continue;
			says = server_says(&d->servers[i], why, sizeof(why));
			if (says == SERVER_YES)
				took(d, i);
			else
				fail(d, i, says, why);
			break;
		}
	}
}

/* The next one that is free; d->nr: there is none. */
static size_t free_server(struct deliver *d)
{
	for (size_t n = 0; n < d->nr; n++) {
		size_t i = (d->next + n) % d->nr;
		const struct server *s = &d->servers[i];

		if (!is_busy(s) && !s->never && now_ms() >= s->down_until_ms)
			return i;
	}
	return d->nr;
}

static bool is_there(const struct deliver *d, const struct job *job)
{
	return !job->spool_nr && there_has(&d->there, job->pack.head.number);
}

static void skip(struct deliver *d, struct job *job)
{
	d->result->there += job->pack.head.rows;
	d->result->there_batches++;
	d->progress_ms = now_ms();
	free(job->pack.bytes);
}

static void send_first(struct deliver *d, size_t i)
{
	struct job job = take_first(d);

	d->next = i + 1;
	d->sending[i] = job;
	if (server_send(&d->servers[i], &job.pack, answer_ms(d)))
		return;
	server_end(&d->servers[i]);
	down(&d->servers[i]);
	put_first(d, job);
}

static void mark_again(struct deliver *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		const struct server *s = &d->servers[i];

		if (s->has_rows && !s->call && now_ms() >= s->down_until_ms && !is_over(d))
			mark(d, i);
	}
}

/* Whatever can be begun. */
static void begin_calls(struct deliver *d)
{
	mark_again(d);
	while (d->queued) {
		struct job *first = &d->queue[0];
		size_t i;

		if (first->pack.head.kind == PACK_SOURCE) {
			if (!is_idle(d))
				return;
			look_at_source(d);
			continue;
		}
		if (d->refused && !first->spool_nr) {
			free(take_first(d).pack.bytes);
			continue;
		}
		if (is_there(d, first)) {
			struct job job = take_first(d);

			skip(d, &job);
			continue;
		}
		i = is_over(d) ? d->nr : free_server(d);
		if (i == d->nr)
			return;
		send_first(d, i);
	}
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static void fill_from_inbox(struct deliver *d)
{
	struct job job = {.tries = 0};

	while (has_room(d) && !d->stop && inbox_read(&d->inbox, &job.pack))
		put_last(d, job);
	if (!d->inbox.wrong)
		return;
	say(d, "what reads the file has gone wrong: %s", d->inbox.wrong);
	d->inbox.wrong = NULL;
	d->result->stopped = true;
}

/* Nothing that was begun is waited for any more. */
static void give_all_up(struct deliver *d)
{
	for (size_t i = 0; i < d->nr; i++)
		if (is_busy(&d->servers[i]))
			take_back(d, i);
	while (d->queued) {
		struct job job = take_first(d);

		give_up(d, &job);
	}
}

static bool is_done(const struct deliver *d)
{
	return !d->queued && is_idle(d) && (d->inbox.fd < 0 || d->stop);
}

/* False: there is nothing left to do. */
static bool step(struct deliver *d)
{
	fill_from_spool(d);
	fill_from_inbox(d);
	begin_calls(d);
	if (!has_hope(d) && (!has_calls(d) || is_over(d)))
		give_all_up(d);
	if (d->stop && d->inbox.fd >= 0) {
		d->result->stopped = true;
		inbox_close(&d->inbox);
	}
	if (is_done(d))
		return false;
	http_wait(d->http, has_room(d) ? d->inbox.fd : -1, TICK_MS);
	look_at_answers(d);
	return true;
}

static int begin(struct deliver *d, char *err, size_t errlen)
{
	d->began_ms = d->progress_ms = now_ms();
	d->nr = d->cfg->nr_urls;
	d->http = http_new();
	if (!d->http) {
		snprintf(err, errlen, "no memory");
		return -1;
	}
	for (size_t i = 0; i < d->nr; i++)
		d->servers[i] = (struct server){
			.cfg = d->cfg,
			.url = d->cfg->urls[i],
			.http = d->http,
		};
	if (!d->cfg->spool)
		return 0;
	d->spool = spool_open(d->cfg->spool, d->cfg->spool_max, err, errlen);
	return d->spool ? 0 : -1;
}

static void end(struct deliver *d)
{
	for (size_t i = 0; i < d->nr; i++)
		server_end(&d->servers[i]);
	while (d->queued)
		free(take_first(d).pack.bytes);
	d->result->left = d->spool ? spool_nr(d->spool) : 0;
	spool_close(d->spool);
	inbox_close(&d->inbox);
	there_clear(&d->there);
	http_free(d->http);
}

int ship_deliver(const struct ship_config *cfg, int fd, struct ship_result *result, char *err,
		 size_t errlen)
{
	struct deliver d = {.cfg = cfg, .result = result, .inbox = {.fd = fd}};
	int rc;

	*result = (struct ship_result){.records = 0};
	fcntl(fd, F_SETFL, O_NONBLOCK);
	rc = begin(&d, err, errlen);
	while (!rc && step(&d))
		;
	end(&d);
	return rc;
}

const char *ship_missing(void)
{
	return curl_library_missing();
}

bool ship_url_good(const char *url)
{
	return http_url_good(url);
}
