/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files that have events registered share. */
#ifndef HVTRACE_TRACER_TRACEPOINT_INTERNAL_H
#define HVTRACE_TRACER_TRACEPOINT_INTERNAL_H

#include "tracer/events/registry.h"
#include "tracer/tracepoint/tracepoint.h"

/* --- files.c --- */

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

/* --- pin.c --- */

/*
 * Hold the modules whose events are to be registered, so that they stay; of those that are about to
 * go `want` is cleared. And let those go that have none any more. 0 or as events_ask().
 */
int events_pin(struct events *e, bool *want);
int events_unpin(struct events *e);
/*
 * Of a tracer that was killed: the calls that let go what the window says is held, *n of them, up
 * to 2 * EVENT_HELD_ROWS. 0 or an error of reading.
 */
int events_held_calls(struct trace *t, struct window *w, struct borrow_call *calls, size_t *n);

/* --- own.c --- */

/*
 * Have an event of the guest's own probes (event_is_own_probe()) record into its file of ours, too,
 * or no more; e->registered tells what it does. The guest cannot remove its probe meanwhile. 0 or
 * an error, with one line noted: -ENOENT: it is no more, or another one now; -EOPNOTSUPP, -ENOSPC,
 * or as events_ask(). Or what the kernel says: -EINTR of a uprobe that its perf records.
 */
int own_event_set(struct events *e, uint32_t event, bool on);
/* Of a tracer that was killed: take back what the window tells of. 0 or an error, one line in err.
 */
int own_events_recover(struct trace *t, struct window *w, char *err, size_t errlen);

#endif
