/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - the trace events of the guest's kernel: which there are, which are wanted, and their
 * registration with the guest's tracepoints.
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

struct events *events_new(struct trace *t); /* NULL: no memory */
void events_free(struct events *e);	    /* NULL is allowed */

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

/*
 * Keep others from changing what is wanted; held around changes of struct event_state and the
 * events_apply() that follows. Not to be taken with a vCPU's lock or with t->change.
 */
void events_lock(struct events *e);
void events_unlock(struct events *e);
/*
 * Register what some instance wants, and take back what none does any more; the machine runs.
 * 0; -EOPNOTSUPP where it cannot be done in this guest, -ENODEV once the trace has ended, -ENOSPC,
 * or what the guest or the machine says: then some may have been done, and one line has been noted.
 */
int events_apply(struct events *e);
/*
 * Whether that can be done in this guest, now or, if it boots, later: 0, or -EOPNOTSUPP with one
 * line noted.
 */
int events_check(struct events *e);
/*
 * A kernel that boots has come so far that it can be asked: what is wanted is registered from now
 * on, and before that nothing is. As events_apply(), which may be called again after -ETIMEDOUT.
 */
int events_booted(struct events *e);
/* The kernel can be asked now; the events' lock is held. */
bool events_ready(const struct events *e);
/* They are there once they are wanted, or may be later. */
bool events_possible(const struct events *e);
/*
 * The trace ends: nothing will be registered any more, and in a guest that runs nothing is. 0 or as
 * above.
 */
int events_close(struct events *e, bool runs);

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

struct window;

/*
 * Of a tracer that was killed: unregister what the window's table tells of. The machine runs. 0 or
 * an error, with one line in err.
 */
int events_recover(struct trace *t, struct window *w, char *err, size_t errlen);

/* --- of an instance -------------------------------------------------------------------------- */

struct event_filter;
struct event_triggers;
struct event_ring;
struct event_stack;
struct event_view;

/*
 * One of the list's events in one instance. Changed with all writers stopped, and all but
 * `soft` with the events' lock held as well.
 */
struct event_state {
	bool on;	      /* 1 was written to its file `enable` */
	unsigned int soft;    /* triggers and commands that need its records, or may switch it */
	bool soft_off;	      /* its records are made, but not kept */
	unsigned int tracers; /* that work on its records: the instance's, and one on its way */
	unsigned int copies;  /* of these, how many want its stack */
	unsigned int probes;  /* event probes at it that are wanted */
	bool attached;	      /* it is one of these, at another event */
	struct event_filter *filter;	 /* NULL: none was written */
	struct event_triggers *triggers; /* likewise */
};

/* Its states, one for each event of the list, once any was asked for. */
static inline bool event_wanted(const struct event_state *s)
{
	return s->on || __atomic_load_n(&s->soft, __ATOMIC_RELAXED) || s->tracers;
}

/* Its records are kept. */
static inline bool event_kept(const struct event_state *s)
{
	return (s->on || __atomic_load_n(&s->soft, __ATOMIC_RELAXED)) &&
	       !__atomic_load_n(&s->soft_off, __ATOMIC_RELAXED);
}

/*
 * A record of an event that vCPU `vcpu` has made, with its data: into the instance's ring if it
 * wants it; ts is what its clock says, stack may be NULL, and so may er, where the record may have
 * a copy of the stack. The vCPU's lock is held.
 */
void instance_collect_event(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			    uint32_t event, const void *data, const struct event_stack *stack,
			    const struct event_ring *er, uint64_t ts);
/* The same for a record that is complete, and which the pid filter takes. */
void instance_take_event(struct instance *i, uint32_t event, struct event_view *view);
/* Whether it wants any records of the event from that vCPU. */
bool instance_takes_event(const struct instance *i, unsigned int vcpu, uint32_t event);
/* Whether it has any on. */
bool instance_wants_events(const struct instance *i);
/* Its states are there from now on; the events' lock is held, and they have been read. */
int instance_events_get(struct instance *i);
void instance_events_free(struct instance *i);
/* Some of them have come to be wanted, or are not any more: with all writers stopped. */
void instance_count_events(struct instance *i);
/* The event is no more: what was said about it is not for the next one. With all writers stopped.
 */
void instances_forget_event(struct trace *t, uint32_t event);
/*
 * A trigger or a command may turn it on and off from now on, or one does no more; with all writers
 * stopped, then events_apply().
 */
void event_soft_mode(struct instance *i, struct event_state *s, bool on);
/* Whether it looks at the stacks of this event. */
bool instance_wants_event_stacks(const struct instance *i, uint32_t event);
void instance_triggers_free(struct instance *i);
/* Some of its histograms have variables, or refer to some. */
bool instance_has_vars(const struct instance *i);
/* What triggers have set off that takes more than a vCPU's lock; the caller holds no lock. */
void instances_do_deferred(struct trace *t);

#endif
