/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - events become slices, instants and counters on the tracks of tasks and vCPUs, for
 * formats that draw them.
 *
 * Slices are balanced: one whose end is missing ends where what is around it does, or the next one
 * beside it begins, or with the trace; an end whose begin is missing is left out. Both are counted.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_TIMELINE_H
#define HVTRACE_FRONTEND_EXPORT_TIMELINE_H

#include "frontend/export/local.h"
#include "frontend/export/tasks.h"

/* What a format does; NULL: nothing, but for begin and end. Names are numbers for timeline_name().
 */
struct track_ops {
	/* A task that was not known, or not by this name; before any of its tracks. */
	void (*task)(void *arg, const struct task *task);
	void (*begin)(void *arg, struct track *t, uint64_t time, uint32_t name);
	void (*end)(void *arg, struct track *t, uint64_t time, uint32_t name); /* 0: not told */
	void (*instant)(void *arg, struct track *t, uint64_t time, uint32_t name);
	void (*counter)(void *arg, struct track *t, uint64_t time, int64_t value);
};

struct timeline;

/* NULL: no memory. */
struct timeline *timeline_new(struct export *x, const struct track_ops *ops, void *arg);
void timeline_free(struct timeline *t); /* NULL is allowed */

/* True: all that there is to it is on tracks. */
bool timeline_event(struct timeline *t, const struct decode_event *ev);
/* An event of the host's. */
void timeline_host_event(struct timeline *t, const struct decode_event *ev);
/* The task that has an event. NULL: no memory. */
const struct task *timeline_current(struct timeline *t, const struct decode_event *ev);
/* The trace ends: so does what is open. */
void timeline_end(struct timeline *t);

/* The name of the function that has this address. */
uint32_t timeline_function(struct timeline *t, uint64_t addr);
/* Clean UTF-8, shorter than NAMES_LEN; valid until the timeline is gone. */
const char *timeline_name(const struct timeline *t, uint32_t name);
uint32_t timeline_nr_names(const struct timeline *t);
/* What a track is called that is beside a task's calls, or of a vCPU: "markers". */
const char *timeline_track_name(const struct timeline *t, const struct track *track, char *buf,
				size_t size);

#endif
