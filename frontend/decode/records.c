// SPDX-License-Identifier: GPL-2.0-or-later
/* records.c - see records.h: a heap of vCPUs for each buffer, by the times of their next records.
 */
#include "frontend/decode/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/tracer.h"

/* One vCPU of one buffer. */
struct cursor {
	struct dat_pages *pages;
	struct ring_walk walk;
	struct decode_event next; /* if it is in the heap */
	uint64_t lost;		  /* before that, not told yet */
};

#define NO_CURSOR UINT32_MAX

/* One buffer. */
struct stream {
	struct cursor *cursors;
	uint32_t *heap, nr_heap; /* of the numbers of cursors */
	uint32_t moved_from; /* the one at the top, whose next record was taken and not replaced */
	struct decode_event now; /* the one read ahead, or the one that was handed out */
	uint32_t now_of;	 /* the cursor whose page its data are in; NO_CURSOR: in kept */
	uint8_t *kept;
	bool has, done;
};

struct records {
	struct dat *d;
	struct stream *streams;
	size_t nr_streams, first; /* its number in the file */
	struct stream *out;	  /* whose event was handed out */
	struct decode_event peeked;
	bool (*wants)(void *arg, const struct decode_event *ev);
	void *arg;
	struct records_progress progress;
	void (*tell)(void *arg, const struct records_progress *progress);
	void *tell_arg;
	uint64_t damaged;
	bool failed;
	char err[256];
};

/* --- one vCPU ----------------------------------------------------------------------------------
 */

/* The page that the event handed out is in is about to go. */
static void keep(struct stream *s, uint32_t i)
{
	if (s->now_of != i)
		return;
	memcpy(s->kept, s->now.data, s->now.len);
	s->now.data = s->kept;
	s->now_of = NO_CURSOR;
}

static void add_lost(struct cursor *c, uint64_t lost)
{
	if (lost > UINT64_MAX - c->lost || lost == RING_LOST_UNKNOWN)
		c->lost = DECODE_LOST_UNKNOWN;
	else
		c->lost += lost;
}

/* False: there is no page any more. */
static bool next_page(struct records *r, struct stream *s, uint32_t i)
{
	struct cursor *c = &s->cursors[i];
	const void *page;
	uint64_t lost;
	size_t size;
	int rc;

	keep(s, i);
	rc = dat_pages_next(c->pages, &page, &size);
	if (rc < 0 && !r->failed) {
		r->failed = true;
		snprintf(r->err, sizeof(r->err), "%s", dat_pages_error(c->pages));
	}
	if (rc != 1)
		return false;
	r->progress.done += size;
	if (r->tell)
		r->tell(r->tell_arg, &r->progress);
	if (ring_walk_subbuf(&c->walk, page, size, &lost))
		r->damaged++;
	else if (lost)
		add_lost(c, lost);
	return true;
}

/* They are there in every record since 2.6.30. */
void decode_identify(struct decode_event *ev)
{
	uint16_t type = 0;
	int32_t pid = 0;

	if (ev->len >= 8) {
		memcpy(&type, ev->data, sizeof(type));
		memcpy(&pid, (const uint8_t *)ev->data + 4, sizeof(pid));
	}
	ev->id = type;
	ev->pid = pid;
}

/* The next record of a vCPU into its cursor. False: there is none. */
static bool advance(struct records *r, struct stream *s, uint32_t i)
{
	struct cursor *c = &s->cursors[i];
	struct ring_event ev;

	for (;;) {
		int rc = ring_walk_next(&c->walk, &ev);

		if (rc == 1)
			break;
		if (rc < 0)
			r->damaged++;
		if (!next_page(r, s, i))
			return false;
	}
	c->next.time = dat_time(dat_info(r->d), c->next.cpu, ev.ts);
	c->next.data = ev.data;
	c->next.len = ev.len;
	c->next.lost = c->lost;
	c->lost = 0;
	decode_identify(&c->next);
	r->progress.nr++;
	return true;
}

/* --- one buffer --------------------------------------------------------------------------------
 */

/* Of the same time the vCPU with the lower number is first. */
static bool is_before(const struct stream *s, uint32_t a, uint32_t b)
{
	uint64_t x = s->cursors[a].next.time, y = s->cursors[b].next.time;

	return x < y || (x == y && a < b);
}

static void sift_down(struct stream *s, uint32_t at)
{
	uint32_t i = s->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= s->nr_heap)
			break;
		if (child + 1 < s->nr_heap && is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], i))
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = i;
}

/* What was taken from the top is replaced only when what follows is asked for. */
static void settle(struct records *r, struct stream *s)
{
	if (s->moved_from == NO_CURSOR)
		return;
	if (!advance(r, s, s->moved_from))
		s->heap[0] = s->heap[--s->nr_heap];
	s->moved_from = NO_CURSOR;
	if (s->nr_heap)
		sift_down(s, 0);
}

static const struct decode_event *stream_peek(struct records *r, struct stream *s)
{
	settle(r, s);
	return s->nr_heap ? &s->cursors[s->heap[0]].next : NULL;
}

/* Read ahead to one that is wanted. */
static void stream_fetch(struct records *r, struct stream *s)
{
	const struct decode_event *next;

	s->now_of = NO_CURSOR;
	while ((next = stream_peek(r, s))) {
		s->moved_from = s->heap[0];
		if (r->wants && !r->wants(r->arg, next))
			continue;
		s->now = *next;
		s->now_of = s->moved_from;
		s->has = true;
		return;
	}
	s->done = true;
}

static bool stream_open(struct records *r, struct stream *s, size_t number)
{
	const struct dat_buffer *b = dat_buffer(r->d, number);

	s->moved_from = s->now_of = NO_CURSOR;
	s->kept = malloc(b->page_size);
	s->cursors = calloc(b->nr_vcpus ? b->nr_vcpus : 1, sizeof(*s->cursors));
	s->heap = calloc(b->nr_vcpus ? b->nr_vcpus : 1, sizeof(*s->heap));
	if (!s->kept || !s->cursors || !s->heap)
		return false;
	for (uint32_t i = 0; i < b->nr_vcpus; i++) {
		struct cursor *c = &s->cursors[i];

		c->pages = dat_pages_open(r->d, b, &b->vcpus[i]);
		if (!c->pages)
			return false;
		r->progress.all += b->vcpus[i].size;
		c->next.buffer = number;
		c->next.cpu = b->vcpus[i].cpu;
		if (advance(r, s, i))
			s->heap[s->nr_heap++] = i;
	}
	for (uint32_t at = s->nr_heap / 2; at-- > 0;)
		sift_down(s, at);
	return true;
}

static void stream_close(const struct records *r, struct stream *s, size_t number)
{
	const struct dat_buffer *b = dat_buffer(r->d, number);

	for (uint32_t i = 0; s->cursors && i < b->nr_vcpus; i++)
		dat_pages_close(s->cursors[i].pages);
	free(s->cursors);
	free(s->heap);
	free(s->kept);
}

/* --- all of them -------------------------------------------------------------------------------
 */

struct records *records_open(struct dat *d, size_t buffer)
{
	struct records *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->d = d;
	r->first = buffer == RECORDS_ALL ? 0 : buffer;
	r->nr_streams = buffer == RECORDS_ALL ? dat_nr_buffers(d) : 1;
	r->streams = calloc(r->nr_streams ? r->nr_streams : 1, sizeof(*r->streams));
	for (size_t i = 0; r->streams && i < r->nr_streams; i++) {
		if (stream_open(r, &r->streams[i], r->first + i))
			continue;
		records_close(r);
		return NULL;
	}
	if (r->streams)
		return r;
	free(r);
	return NULL;
}

void records_close(struct records *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_streams; i++)
		stream_close(r, &r->streams[i], r->first + i);
	free(r->streams);
	free(r);
}

void records_select(struct records *r, bool (*wants)(void *arg, const struct decode_event *ev),
		    void *arg)
{
	r->wants = wants;
	r->arg = arg;
}

void records_watch(struct records *r,
		   void (*tell)(void *arg, const struct records_progress *progress), void *arg)
{
	r->tell = tell;
	r->tell_arg = arg;
}

const struct decode_event *records_next(struct records *r)
{
	struct stream *first = NULL;

	if (r->out)
		r->out->has = false;
	r->out = NULL;
	for (size_t i = 0; i < r->nr_streams; i++) {
		struct stream *s = &r->streams[i];

		if (!s->has && !s->done)
			stream_fetch(r, s);
		if (s->has && (!first || s->now.time < first->now.time))
			first = s;
	}
	r->out = first;
	return first ? &first->now : NULL;
}

const struct decode_event *records_peek(struct records *r)
{
	const struct decode_event *next = r->out ? stream_peek(r, r->out) : NULL;

	if (!next)
		return NULL;
	r->peeked = *next;
	return &r->peeked;
}

void records_take(struct records *r)
{
	if (r->out && stream_peek(r, r->out))
		r->out->moved_from = r->out->heap[0];
}

const char *records_error(const struct records *r)
{
	return r->failed ? r->err : NULL;
}

uint64_t records_damaged(const struct records *r)
{
	return r->damaged;
}
