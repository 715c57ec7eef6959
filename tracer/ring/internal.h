/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * internal.h - what the files of the ring buffer share.
 *
 * Pages stand in a circle, pages[head] being the oldest. One more, the reader's page, stands
 * outside: consuming readers swap it, read to its end, for the oldest. When they catch up with the
 * writer, the page that it writes to becomes the reader's page; the writer then goes on at
 * pages[head]. (kernel/trace/ring_buffer.c, 6.1: rb_get_reader_page, rb_move_tail.)
 *
 * Who may touch what:
 *  - writer: the writing thread only. It alone writes to the page it is on, above `commit`, and
 *    moves `commit` up with a release store, after which those bytes never change while the page
 *    stays where readers find it.
 *  - lock: the circle and what is said about pages that the writer has left. The writer takes it to
 *    move to another page; readers hold it while they copy from a page in the circle.
 *  - read_lock: the consuming position. Taken before lock. The reader's page leaves the readers'
 *    hands only with both held, so read_lock is enough to read from it.
 */
#ifndef HVTRACE_TRACER_RING_INTERNAL_H
#define HVTRACE_TRACER_RING_INTERNAL_H

#include "tracer/ring/page.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#define RING_CACHE_LINE 64

struct ring_page {
	_Atomic uint64_t ts;	  /* of the first event */
	_Atomic uint64_t commit;  /* bytes of data that readers may read */
	_Atomic uint32_t entries; /* events in them */
	uint32_t real_end;	  /* where the padding at the end starts; 0: there is none */
	_Atomic bool missed;	  /* events are missing before its first one */
	uint64_t seq;		  /* pages entered by the writer, this one included */
	uint64_t first;		  /* number of its first event, counted from ring_new() */
	alignas(RING_CACHE_LINE) uint8_t data[RING_PAGE_DATA];
};

struct ring_count {
	uint64_t events, bytes;
};

struct ring_writer {
	struct ring_page *page;
	uint32_t pos;	   /* where the next event goes */
	uint32_t limit;	   /* events that end behind it take the slow path: 0 on an empty page */
	uint32_t end;	   /* of the reservation */
	uint64_t ts;	   /* of the last event */
	uint64_t event_ts; /* of the reservation */
};

struct ring_reader {
	struct ring_page *page;
	uint32_t pos;	  /* bytes consumed of it */
	uint32_t events;  /* events consumed of it */
	uint64_t ts;	  /* of the last of them, or of the page */
	uint64_t lost;	  /* overwritten before the next event, not told yet */
	uint64_t overrun; /* of all overruns, those that went into lost */
	struct ring_count read;
};

/* What the writer has to notice before its next event; bits of ring.control. */
enum {
	RING_CTL_OFF = 1 << 0,	 /* recording is off */
	RING_CTL_RESET = 1 << 1, /* leave this page, time starts anew */
};

struct ring {
	alignas(RING_CACHE_LINE) struct ring_writer writer;
	_Atomic uint32_t control;

	alignas(RING_CACHE_LINE) pthread_mutex_t lock;
	struct ring_page **pages;
	_Atomic size_t nr;	/* of them */
	size_t head;		/* index of the oldest */
	size_t used;		/* pages from head to the writer's; 0: it is on the reader's page */
	struct ring_page *tail; /* the page that the writer is on */
	uint64_t seq;		/* of the tail */
	_Atomic uint64_t generation; /* resets so far */
	struct ring_count left;	     /* on all pages that the writer has left, since ring_new() */
	struct ring_count base;	     /* of those and of the tail, what a reset has thrown away */
	struct ring_count overrun;
	uint64_t dropped;
	bool overwrite;

	alignas(RING_CACHE_LINE) pthread_mutex_t read_lock;
	struct ring_reader reader;

	pthread_mutex_t resize_lock; /* one resize at a time; taken before all others */
};

/* The page `i` places behind the oldest. Called with lock held. */
static inline struct ring_page *ring_page_at(const struct ring *r, size_t i)
{
	return r->pages[(r->head + i) % r->nr];
}

static inline uint32_t ring_page_commit(struct ring_page *p)
{
	return (uint32_t)atomic_load_explicit(&p->commit, memory_order_acquire);
}

/*
 * nr empty pages, or -ENOMEM; those of one ring are allocated and freed by one thread at a time.
 * at_once: the host has memory for all of them by then.
 */
int ring_pages_alloc(struct ring_page **pages, size_t nr, bool at_once);
void ring_pages_free(struct ring_page **pages, size_t nr);
/* Make a page that nobody reads an empty one. */
void ring_page_clear(struct ring_page *p);

/* Readers; both as ring_peek() and ring_next(). */
bool ring_consume_event(struct ring *r, struct ring_event *ev, void *buf, bool move);
/* Make the reader's page one with unread data. Called with read_lock held. False: there is none. */
bool ring_reader_fill(struct ring *r);

#endif
