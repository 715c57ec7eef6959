/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry.h - shared by the files that have a guest's events registered. */
#ifndef HVTRACE_TRACER_EVENTS_REGISTRY_H
#define HVTRACE_TRACER_EVENTS_REGISTRY_H

#include "tracer/output/fmt/expr.h"
#include "tracer/events/events.h"
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
	pthread_mutex_t lock;
	bool loaded, placed, closed;
	atomic_bool stale; /* modules may have come and gone since the list was read */
	struct guestsym_event_list *read; /* what was read later, and is pointed into */
	size_t nr_read;
	bool ready;			 /* of a kernel that boots: it can be asked now */
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
	bool *pinned;	  /* of each: its module is held for it */
	struct event_hist_names *hist_names;
	char (*syscalls)[SYSCALL_NAME_MAX]; /* by their numbers; "": none */
	size_t nr_syscalls;
	uint32_t *other_pid;
	unsigned int nr_slots;
	uint32_t event_of[EVENT_FILES]; /* of each file; the collector looks without a lock */
};

/* Run-time address of a symbol of the kernel's, 0: it has none. */
uint64_t events_runtime(const struct trace *t, const char *symbol);

/* --- tracepoint/files.c: what the guest's probes are called with ------------------------------------
 */

/*
 * Records can get into the payload: then e->placed is set, and otherwise not yet. e->lock is held.
 * 0, -EOPNOTSUPP, or an error of the machine's.
 */
int events_place(struct events *e);
/* In the window. */
uint64_t events_file_offset(unsigned int slot);
uint64_t events_window_va(const struct events *e, uint64_t offset);
/* The event gets a file if it has none. Its number, or -ENOSPC, or the machine's error. */
int events_file_get(struct events *e, uint32_t event);
/* For whoever takes over (struct payload_event). 0 or the machine's error. */
int events_row_write(struct events *e, uint32_t row, const struct payload_event *ev);
/* Those that have a file: whether the payload is to call for their stacks. */
int events_stacks_apply(struct events *e);

/* --- tracepoint/pin.c ------------------------------------------------------------------------ */

/* The list as it is now, of modules; e->lock is held. 0, or -ENOMEM with some missing. */
int events_refresh(struct events *e);
/*
 * Hold the modules whose events are to be registered, so that they stay; of those that are about to
 * go `want` is cleared. And let those go that have none any more. 0 or as events_ask().
 */
int events_pin(struct events *e, bool *want);
int events_unpin(struct events *e);

/* --- tracepoint/register.c ----------------------------------------------------------------------- */

/* n calls that may sleep, by a kworker that begins at `entry` of the window's code. */
int events_ask(struct trace *t, struct window *w, uint32_t entry, struct borrow_call *calls,
	       size_t n, char *err, size_t errlen);
/* Nobody is in a probe any more that was registered (tracepoint_synchronize_unregister()). */
int events_synchronize(struct trace *t, struct window *w, uint32_t entry, char *err, size_t errlen);
int events_jumps_remove(struct trace *t, const struct window *w);

#endif
