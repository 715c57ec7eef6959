/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - one vCPU's ring buffer, in the kernel's own sub-buffer page format.
 *
 * Pages are what per_cpu/cpuN/trace_pipe_raw of Linux gives (include/linux/ring_buffer.h and
 * kernel/trace/ring_buffer.c, 6.1): u64 time stamp, u64 commit, then events with a 5-bit type_len
 * and a 27-bit time delta, TIME_EXTEND, TIME_STAMP and PADDING.
 *
 * One thread writes a ring at a time; any number read it, at the same time. The writer takes the
 * ring's lock only when it moves to the next page.
 */
#ifndef HVTRACE_TRACER_RING_RING_H
#define HVTRACE_TRACER_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_PAGE_SIZE 4096
#define RING_PAGE_HDR  16
#define RING_PAGE_DATA (RING_PAGE_SIZE - RING_PAGE_HDR)
#define RING_MAX_DATA  (RING_PAGE_DATA - 8) /* largest payload of one event, bytes */

/* Bits of the commit word (kernel: RB_MISSED_EVENTS, RB_MISSED_STORED). */
#define RING_COMMIT_MASK   ((UINT64_C(1) << 20) - 1)
#define RING_MISSED_EVENTS (UINT64_C(1) << 31)
#define RING_MISSED_STORED (UINT64_C(1) << 30)

struct ring;

/*
 * A buffer of at least `bytes` of page data (kernel: whole pages, two at least), plus a reader
 * page. Overwrite mode. NULL when there is no memory.
 */
struct ring *ring_new(size_t bytes);
/* The same at once: the host gives memory for what is written to, when it is. */
struct ring *ring_new_lazy(size_t bytes);
void ring_free(struct ring *r); /* NULL is allowed; nobody uses it any more */

/* --- writing (one thread) ---------------------------------------------------------------- */

/*
 * Reserve room for an event of len bytes at time ts (ns, or ticks of the trace clock; not earlier
 * than the last one: an earlier ts is taken as the last one). Returns where its data goes, 4-byte
 * aligned, or NULL: recording is off, len > RING_MAX_DATA, or no room in produce/consume mode.
 * Nothing is visible to readers until ring_commit(), which ends each successful reservation unless
 * ring_discard() does. Bytes that the writer leaves unset, up to the stored length, are stale.
 */
void *ring_reserve(struct ring *r, size_t len, uint64_t ts);
void ring_commit(struct ring *r);
/* Take back what was reserved last, as if it had never been. */
void ring_discard(struct ring *r);
/*
 * Events are missing before the next one, which nobody has counted: it begins a page, as only there
 * it can be told (ring_read_page()).
 */
void ring_missed(struct ring *r);
/* Time of the event written last, 0 after ring_reset(): what comes next is not earlier. */
uint64_t ring_last_time(const struct ring *r);

/* --- control ----------------------------------------------------------------------------- */

void ring_set_overwrite(struct ring *r, bool on); /* off: when full, new events are dropped */
void ring_record(struct ring *r, bool on);	  /* off: ring_reserve() gives NULL */
/*
 * Throw everything away, counts too. The writer may be running; the time of its next event may be
 * earlier than that of those thrown away.
 */
void ring_reset(struct ring *r);
/* Change the size while the writer runs; the newest events that fit stay. 0, -EINVAL, -ENOMEM. */
int ring_resize(struct ring *r, size_t bytes);
/* Page data bytes that it can hold (a multiple of RING_PAGE_DATA). */
size_t ring_size(const struct ring *r);

/* What per_cpu/cpuN/stats shows; counts as the kernel has them. */
struct ring_stats {
	uint64_t entries;	 /* now in the buffer, not yet consumed */
	uint64_t overrun;	 /* overwritten before they were read */
	uint64_t commit_overrun; /* always 0 here: one writer, never nested */
	uint64_t bytes;
	uint64_t oldest_ts; /* of the page read next; 0 when there never was one */
	uint64_t dropped;   /* refused in produce/consume mode */
	uint64_t read;	    /* consumed */
};

void ring_get_stats(struct ring *r, struct ring_stats *st);

/*
 * Whether that much of its pages is in use, counting the one that is written to, as the kernel does
 * for buffer_percent.
 */
bool ring_filled(struct ring *r, unsigned int percent);

/* --- reading ----------------------------------------------------------------------------- */

struct ring_event {
	uint64_t ts;
	const void *data; /* valid until the next call on the same reader */
	size_t len;	  /* as stored: a multiple of 4, never 8 */
	uint64_t lost;	  /* events lost just before this one */
};

struct ring_cursor; /* a consuming or a looking reader; used by one thread at a time */

/*
 * Read without consuming: starts at the oldest event. What was overwritten, or consumed by others,
 * before it could be seen is skipped and counted in `lost`. Several may exist. The first call
 * after ring_reset() starts it anew. NULL when there is no memory.
 */
struct ring_cursor *ring_look(struct ring *r);
/* Read and consume. Consumers of one ring share its position. NULL when there is no memory. */
struct ring_cursor *ring_consume(struct ring *r);
/* Next event without moving on / moving on. False: none (now). */
bool ring_peek(struct ring_cursor *c, struct ring_event *ev);
bool ring_next(struct ring_cursor *c, struct ring_event *ev);
void ring_cursor_free(struct ring_cursor *c); /* NULL is allowed */
/* Of a looking cursor: how many events, now in the ring or lost by now, it has not returned. */
uint64_t ring_cursor_left(struct ring_cursor *c);

/* Time of the event that would be consumed next. False: there is none. */
bool ring_next_time(struct ring *r, uint64_t *ts);
/*
 * Consume up to one page in raw form into page[RING_PAGE_SIZE], as trace_pipe_raw gives it: lost
 * events are told in the commit word and, when 8 bytes fit and all of them were overwritten,
 * counted behind the data. At most len bytes (header included) hold events. With `full` (as
 * splice), only a page that the writer has left, and all that is unread of it. Returns bytes of
 * events, -EAGAIN when there is nothing, or -EINVAL when len is too short for the next event.
 */
int ring_read_page(struct ring *r, void *page, size_t len, bool full);

#endif
