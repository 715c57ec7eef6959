/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-events.h - for session.c: events of the host's own kernel beside a guest's trace. The guest
 * comes first: what goes wrong with them is one line, and the guest is traced all the same.
 */
#ifndef HVTRACE_FRONTEND_SESSION_HOST_EVENTS_H
#define HVTRACE_FRONTEND_SESSION_HOST_EVENTS_H

#include "frontend/record/record.h"
#include "frontend/session/session.h"

/*
 * Before a machine is there: what is wanted is looked for. Sets s->host, or says in one line why
 * there are none. -1 with s->err set: no such event, or the file cannot be written.
 */
int host_events_open(struct session *s);
/* What the guest is called, and the ids of both traces: 0, if h is NULL. */
void host_events_name(struct host_events *h, const char *guest, uint64_t *guest_id,
		      uint64_t *host_id);
/* The machine runs: begin. */
void host_events_begin(struct session *s);
/* No more of them; NULL is allowed, here and below. */
void host_events_stop(struct host_events *h);
/* The trace is recorded: write the file, say what there was. The exit status. */
int host_events_finish(struct session *s);
/* Where there is no file, and all is recorded: print both. -errno if that cannot be. */
int host_events_print(struct session *s);
/* What there was, until host_events_close(); NULL: there are none, or it has not ended. */
const struct summary_host *host_events_result(const struct host_events *h);
void host_events_close(struct session *s);

/* Take away what hvtraces that are gone have left in the host's tracefs, if there is one. */
void host_events_clean(void);
/* In a process that may: 0 or -errno. */
int host_events_remove(const struct host_events *h);
int host_events_place(const struct host_events *h);

#endif
