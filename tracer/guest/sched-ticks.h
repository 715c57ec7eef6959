/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched-ticks.h - the kernel's clock of a CPU while it goes from tick to tick.
 *
 * Until the kernel holds the TSC for stable, which it does at the end of its boot or never, the
 * time that it stamps its log with is not sched_clock(). Each CPU notes at a tick what time it is,
 * and its sched_clock() then; between two ticks it goes on by its sched_clock(), but no further
 * than a tick (kernel/sched/clock.c, sched_clock_local()). The latest notes are kept here, for what
 * was recorded before the last one.
 *
 * Where a tick is late the kernel's clock stands. What happens meanwhile is to have an order, so
 * ours does not: where the next tick will bring all that has passed, it goes on; early in the boot,
 * where time is a count of ticks, it creeps on, a sixteenth of a tick at most.
 *
 * Any thread at any time; of two that note something one does.
 */
#ifndef HVTRACE_TRACER_GUEST_SCHED_TICKS_H
#define HVTRACE_TRACER_GUEST_SCHED_TICKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Some seconds of them, as the collector may be behind by on a slow host; a power of two. */
#define SCHED_TICKS 2048

enum sched_tick_kind {
	SCHED_TICK_COUNTED, /* time is a count of ticks: it stands until the next one */
	SCHED_TICK_GOES_ON, /* it goes on, and the next tick has all that has passed */
	SCHED_TICK_LAST,    /* no more ticks: from here on it is sched_clock() and an offset */
};

/* All times are nanoseconds. */
struct sched_tick {
	_Atomic uint64_t raw;	/* sched_clock() at the tick */
	_Atomic uint64_t clock; /* the kernel's time then */
	/* Just before it: by how much the kernel's time was ahead of that, and ours; bounded. */
	_Atomic uint64_t ahead, ours;
	_Atomic uint64_t stood; /* how long the kernel's had stood by then, if it goes on so */
	_Atomic uint64_t length;
	/* When ticks behind it were missed: from it to the next one that is known; else 0. */
	_Atomic uint64_t span, gain;
	_Atomic int kind; /* enum sched_tick_kind */
};

/* All zero: there were none. */
struct sched_ticks {
	atomic_bool busy, from_start;
	_Atomic int64_t looked;
	_Atomic uint64_t n; /* noted since the beginning */
	struct sched_tick tick[SCHED_TICKS];
};

/* sched_clock() at the CPU's latest tick that was noted; false: there was none. */
bool sched_ticks_latest(const struct sched_ticks *s, uint64_t *raw);
/*
 * A tick of so many ns in length (0: it is not known), seen at this time of the host. One that has
 * been noted already is not noted again.
 */
void sched_ticks_note(struct sched_ticks *s, uint64_t raw, uint64_t clock, uint64_t length,
		      enum sched_tick_kind kind, int64_t now);
/* The latest tick is the one that has been noted. */
void sched_ticks_looked(struct sched_ticks *s, int64_t now);
/* The kernel has no clock of this kind yet: it is sched_clock() until the first tick of all. */
void sched_ticks_begin(struct sched_ticks *s);
/* From the latest tick on the time is sched_clock() and this. Nothing if there was none. */
void sched_ticks_end(struct sched_ticks *s, uint64_t offset);

/*
 * The kernel's time of a CPU at this sched_clock(). Before its first tick a CPU has the time of the
 * one that the kernel has begun on, whose ticks are in first.
 */
uint64_t sched_ticks_time(const struct sched_ticks *s, const struct sched_ticks *first,
			  uint64_t raw);

#endif
