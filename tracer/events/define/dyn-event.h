/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dyn-event.h - the events that somebody defines, of all kinds and in the order in which that was
 * done: dynamic_events (kernel/trace/trace_dynevent.c, 6.1).
 *
 * Each kind keeps its own list and has a file of its own as well. All of this is done with the
 * events' lock held.
 */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_DYN_EVENT_H
#define HVTRACE_TRACER_EVENTS_DEFINE_DYN_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct probe_removal;
struct text;
struct trace;
struct dyn_event_ops;

/* Part of what is defined. */
struct dyn_event {
	struct dyn_event *next;
	const struct dyn_event_ops *ops;
	void *owner; /* what that is for its kind */
};

/* A kind. */
struct dyn_event_ops {
	const char *syntax; /* of its lines, for a reader: each indented by two spaces */
	/* A line of dynamic_events. 0 or -errno; -ECANCELED: it is one of another kind. */
	int (*define)(struct trace *t, const char *line);
	/* And that which it reads as. */
	void (*print)(const struct dyn_event *ev, struct text *out);
	bool (*is_busy)(struct trace *t, const struct dyn_event *ev);
	bool (*matches)(const struct dyn_event *ev, const struct probe_removal *removal);
	/* It is freed, unless it is in use: -EBUSY. Another error: it is gone, but not cleanly. */
	int (*remove)(struct trace *t, struct dyn_event *ev);
};

extern const struct dyn_event_ops event_probe_ops, synth_event_ops, fprobe_event_ops,
	probe_event_ops, uprobe_event_ops;

/* Behind all others. And no more; it need not be there. */
void dyn_event_add(struct trace *t, struct dyn_event *ev, const struct dyn_event_ops *ops,
		   void *owner);
void dyn_event_remove(struct trace *t, struct dyn_event *ev);

/*
 * A file of one kind, or of all (NULL): what is written to it, which is not synthetic_events, an
 * opening with O_TRUNC, and what it reads. These take the events' lock.
 */
ssize_t dyn_events_write(struct trace *t, const struct dyn_event_ops *kind, const char *text,
			 size_t len);
int dyn_events_clear(struct trace *t, const struct dyn_event_ops *kind);
void dyn_events_print(struct trace *t, const struct dyn_event_ops *kind, struct text *out);

#endif
