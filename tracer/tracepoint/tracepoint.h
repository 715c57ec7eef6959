/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint.h - has the guest register what is wanted of its events with its tracepoints, by its
 * own functions, and take it back; and its own prints seen.
 */
#ifndef HVTRACE_TRACER_TRACEPOINT_TRACEPOINT_H
#define HVTRACE_TRACER_TRACEPOINT_TRACEPOINT_H

#include "tracer/events/events.h"
#include "tracer/window/window.h"
#include "tracer/window/work.h"

#define EVENTS_LET_GO_MS 300000

struct borrow_call;
struct payload_event;

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
/*
 * The trace ends: nothing will be registered any more, and in a guest that runs nothing is. 0 or as
 * above.
 */
int events_close(struct events *e, bool runs);

/*
 * Of a tracer that was killed: unregister what the window's table tells of. The machine runs. 0 or
 * an error, with one line in err.
 */
int events_recover(struct trace *t, struct window *w, char *err, size_t errlen);

/*
 * Probes are traps, and trace events are wanted, whose memory has to be in a guest that runs:
 * collect_open_events(). What the guest prints is seen from then on. The machine runs, the
 * events' lock is held.
 */
int trace_open_events(struct trace *t, char *err, size_t errlen);

/* How a kworker is asked that begins at `entry` of the window's code. */
struct guest_work events_work(struct trace *t, struct window *w, uint32_t entry);
/*
 * What it is asked for from now on is waited for so long in all: to let go takes several steps, and
 * a hostile guest may take the longest for each. 0: each has its own time again.
 */
void events_ask_within(struct events *e, int ms);
/* n calls that may sleep, by a kworker that begins at `entry` of the window's code. */
int events_ask(struct trace *t, struct window *w, uint32_t entry, struct borrow_call *calls,
	       size_t n, char *err, size_t errlen);
/* Nobody is in a probe any more that was registered (tracepoint_synchronize_unregister()). */
int events_synchronize(struct trace *t, struct window *w, uint32_t entry, char *err, size_t errlen);
/*
 * Whether a tracepoint has a probe: the kernel warns of who unregisters what is not there
 * (tracepoint_remove_func(), 6.1 and 6.12). Where it cannot be seen it has. The machine is paused.
 */
bool events_probe_is_there(struct trace *t, const struct payload_event *probe);
/* Whether that can be seen in this kernel. */
bool events_probes_can_be_seen(const struct trace *t);
int events_jumps_remove(struct trace *t, const struct window *w);

#endif
