/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - the trace events of the guest's kernel: which there are. They are registered with the
 * guest's tracepoints by tracepoint/.
 *
 * An event that any instance wants gets a trace_event_file in the window, and its own probe is
 * registered with its tracepoint by the guest's own functions (tracepoint_probe_register()), so the
 * guest's use of the same tracepoint goes on. The files of system calls' events are found through a
 * trace_array of ours. What the probes record then comes to the payload: payload/event.S.
 */
#ifndef HVTRACE_TRACER_EVENTS_EVENTS_H
#define HVTRACE_TRACER_EVENTS_EVENTS_H

#include "tracer/core/trace.h"
#include "tracer/payload/payload.h"

struct events;
struct event_printer;
struct event_text;
struct probe_event_made;

#define EVENT_NONE UINT32_MAX

/* What those above have to do with it, handed down by the trace. */
struct events_ops {
	/* The event is no more: what was said about it is not for the next one. With all writers
	 * stopped. */
	void (*forget)(struct trace *t, uint32_t event);
	/* What instances want has changed: what that asks for of other events; and traps. */
	void (*derive)(struct trace *t);
	int (*place)(struct trace *t);
	/* Nothing will be placed any more, and in a guest that runs nothing is. 0 or -errno. */
	int (*close)(struct trace *t, bool runs);
};

/* NULL: no memory. ops outlives it. */
struct events *events_new(struct trace *t, const struct events_ops *ops);
void events_free(struct events *e); /* NULL is allowed */

/*
 * Read which there are, if that has not been done. 0, -ENODATA (the kernel does not tell), or
 * another error. Any thread but a vCPU's; the machine runs.
 */
int events_load(struct events *e);
/* Modules have come or gone: the list is to be looked at anew. Any thread. */
void events_changed(struct events *e);
/*
 * What has been read: it stays as it is, but for events of the host that join it at its end and are
 * marked once they are gone: list.h. NULL: nothing has been read.
 */
const struct guestsym_event_list *events_list(const struct events *e);
/* event_list_changes() of it. */
uint64_t events_changes(const struct events *e);

/*
 * Keep others from changing what is wanted; held around changes of struct event_state and the
 * events_apply() that follows. Not to be taken with a vCPU's lock or with t->change.
 */
void events_lock(struct events *e);
void events_unlock(struct events *e);
/* The kernel can be asked now; the events' lock is held. */
bool events_ready(const struct events *e);
/* They are there once they are wanted, or may be later. */
bool events_possible(const struct events *e);
/*
 * Those of the host; the events' lock is held, and the list has been read. So many there may be;
 * the one of that name, EVENT_NONE; a new one, which takes what was made (0, -ENOSPC, -ENOMEM); and
 * one that nobody wants is no more.
 */
size_t events_room(const struct events *e);
uint32_t events_find(const struct events *e, const char *system, const char *name);
int events_add(struct events *e, struct probe_event_made *made, uint32_t *event);
void events_remove(struct events *e, uint32_t event);

/* The index of the event whose file is so far behind WINDOW_EVENT_FILES; EVENT_NONE. Any thread. */
uint32_t events_at_file(const struct events *e, uint32_t offset);
/* Where records of the event have the pid of a task that it is about; 0: they do not. */
uint32_t events_other_pid(const struct events *e, uint32_t event);
/* It is of the guest's own kprobes and uprobes. */
bool event_is_own_probe(const struct guestsym_event *ev);
/* Whether there is a way at all to have its records; it can then be tried. */
bool event_is_recordable(const struct guestsym_event *ev);
/* How they are printed, and what that needs; those that have been read are known to it. */
struct event_printer *events_printer(struct events *e);
struct event_text *events_text(struct events *e);
/* The names of histograms, which all instances share. */
struct event_hist_names *events_hist_names(struct events *e);
/* "sys_read"; NULL: no system call of that number has an event. */
const char *events_syscall_name(const struct events *e, uint64_t nr);
/* What the probes' own tracepoint adds to preempt_count, and the kernel takes off again. */
bool events_dec_preempt(const struct events *e);

#endif
