/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry.h - shared by the files that have a guest's events registered. */
#ifndef HVTRACE_TRACER_EVENTS_REGISTRY_H
#define HVTRACE_TRACER_EVENTS_REGISTRY_H

#include "tracer/events/events.h"
#include "tracer/output/fmt/expr.h"
#include "tracer/window/window.h"

#define SYSCALL_NAME_MAX 64

/* Of struct trace_event_file and struct trace_array. */
struct event_layout {
	struct guestsym_field call, flags, enter, exit;
	uint32_t file_size, array_size;
};

/* Where system calls' events come from. */
struct event_syscalls {
	uint64_t tracepoint, probe;
	bool registered;
};

struct events {
	struct trace *t;
	const struct events_ops *ops;
	pthread_mutex_t lock;
	bool loaded, placed, closed;
	bool registering;  /* the guest has been asked for a probe, and may have registered it */
	atomic_bool stale; /* modules may have come and gone since the list was read */
	bool full;	   /* and more events than there is room for */
	bool ready;	   /* of a kernel that boots: it can be asked now */
	struct guestsym_event_list list; /* of the guest's kernel */
	struct event_list *all;		 /* and ours */
	struct event_text *text;
	struct expr_names names;
	struct event_printer *printer;
	struct event_layout at;
	struct event_syscalls enter, exit;
	bool dec_preempt;
	uint16_t *slot;	  /* of each event: 1 + its file's number; 0: it has none */
	bool *registered; /* of each event */
	/* The guest has done by then, by its now_ms(), all that it is asked for; 0: each in time */
	int64_t asks_end;
	uint64_t
		held[EVENT_HELD_ROWS]; /* modules that are asked for, as their rows in the window */
	uint32_t own[EVENT_OWN_ROWS];  /* 1 + which of the guest's own probes' has that row; 0: free
					*/
	struct event_hist_names *hist_names;
	char (*syscalls)[SYSCALL_NAME_MAX]; /* by their numbers; "": none */
	size_t nr_syscalls;
	uint32_t *other_pid;
	unsigned int nr_slots;
	uint32_t event_of[EVENT_FILES]; /* of each file; the collector looks without a lock */
};

/* The list as it is now, of modules; e->lock is held. 0, or -ENOMEM with some missing. */
int events_refresh(struct events *e);

/* Say, once, that not all events of modules are in the list. */
void events_tell_full(struct events *e);

/* How records of an event that has joined the list are printed. 0 or -ENOMEM. */
int events_printed(struct events *e, uint32_t event);

#endif
