/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timeline-local.h - what the files of the timeline share. */
#ifndef HVTRACE_FRONTEND_EXPORT_TIMELINE_LOCAL_H
#define HVTRACE_FRONTEND_EXPORT_TIMELINE_LOCAL_H

#include "frontend/export/names.h"
#include "frontend/export/snapshot.h"
#include "frontend/export/timeline.h"

enum { FIELDS_MAX = 4, IDS = 65536, COUNTERS = 4096 };

/* An event that a timeline understands. */
struct timeline_row {
	const char *system, *name;
	const char *fields[FIELDS_MAX];
	bool (*event)(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev);
};

/* The same in a file. */
struct timeline_bound {
	const struct timeline_row *row;
	const struct tep_format_field *field[FIELDS_MAX];
};

#define ROWS_MAX 32

/* Of a vCPU. */
struct cpu_tracks {
	struct track irqs, preempt;
	bool seen;			      /* there was an event */
	bool irqs_snapshot, preempt_snapshot; /* open since the first one */
};

struct timeline {
	struct export *x;
	const struct track_ops *ops;
	void *arg;
	struct calltree *tree; /* for its names */
	struct names *names;
	struct tasks tasks;
	struct cpu_tracks *cpus; /* DAT_CPUS_MAX */
	struct track *counters[COUNTERS];
	unsigned int nr_counters;
	uint64_t now; /* of the latest event */
	struct snapshot snapshot;
	struct exits *exits;			/* NULL: there is no host */
	struct track *vcpus;			/* EXITS_VCPUS, of the host's */
	bool started;				/* there was an event */
	uint32_t waking, irqs_off, preempt_off; /* names of slices */
	uint8_t by_id[IDS];			/* of bound, one more; 0: none */
	struct timeline_bound bound[ROWS_MAX];
	size_t nr_bound;
};

/* --- timeline.c ------------------------------------------------------------------------------ */

/* A task, made if need be; a pointer lasts until the next call. NULL: no memory. */
struct task *timeline_task(struct timeline *t, const struct decode_event *ev, int32_t pid);
/* The same of one that is made now; it has no name, and is not told, until it is renamed. */
struct task *timeline_made(struct timeline *t, const struct decode_event *ev, int32_t pid);
/* It is called so from now on. */
void timeline_rename(struct timeline *t, struct task *task, const char *comm, size_t len);
/* What is known of it has changed. */
void timeline_tell(struct timeline *t, const struct task *task);
/* One more, or one less: balanced by who calls. */
void timeline_begin(struct timeline *t, struct track *track, uint32_t name);
void timeline_close(struct timeline *t, struct track *track, uint32_t name);
bool timeline_pid(const struct tep_format_field *field, const struct decode_event *ev,
		  int32_t *pid);

/* --- what events do: rows that end with one without a name ------------------------------------ */

extern const struct timeline_row timeline_call_rows[];	 /* timeline-calls.c */
extern const struct timeline_row timeline_sched_rows[];	 /* timeline-sched.c */
extern const struct timeline_row timeline_window_rows[]; /* timeline-windows.c */
extern const struct timeline_row timeline_marker_rows[]; /* timeline-markers.c */

/* timeline-host.c: if there is a host. False: no memory. */
bool timeline_begin_host(struct timeline *t);
void timeline_end_host(struct timeline *t);
void timeline_free_host(struct timeline *t);

/* The only window of a snapshot, with its first event; and with its last one. */
void timeline_begin_snapshot(struct timeline *t);
void timeline_end_snapshot(struct timeline *t);
void timeline_end_calls(struct timeline *t, struct task *task, int32_t depth);

#endif
