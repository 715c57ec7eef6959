/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctf-local.h - what the files of the format ctf share. */
#ifndef HVTRACE_FRONTEND_EXPORT_CTF_LOCAL_H
#define HVTRACE_FRONTEND_EXPORT_CTF_LOCAL_H

#include "frontend/export/ctf-library.h"
#include "frontend/export/local.h"

/* --- ctf-classes.c: what kinds of events there are, and their fields -------------------------- */

struct ctf_classes;

/* What the times are of. */
struct ctf_clock {
	const char *name;
	const uint8_t
		*uuid; /* of 16 bytes, the same in all traces that it is the clock of, or NULL */
};

/* A class of streams with packets, of a clock in nanoseconds. NULL: no memory. */
struct ctf_classes *ctf_classes_new(struct formats *f, const struct ctf_clock *clock,
				    bt_self_component *self);
void ctf_classes_free(struct ctf_classes *c); /* NULL is allowed */
bt_trace_class *ctf_classes_trace(const struct ctf_classes *c);
bt_stream_class *ctf_classes_stream(const struct ctf_classes *c);
/* That of an event, made when it is first asked for. NULL: no memory. */
const bt_event_class *ctf_classes_event(struct ctf_classes *c, int id);
/* What a record has into an event of its class. False: no memory. */
bool ctf_classes_fill(struct ctf_classes *c, const struct decode_event *ev, bt_event *event);

/* --- ctf-graph.c: a graph of a source, which is here, and what writes files --------------------
 */

struct ctf_graph;

/*
 * A trace goes into the folder; if there are several, each into one there that has its name. make()
 * is called with arg while the source comes to be. NULL: no memory, or it cannot be.
 */
struct ctf_graph *ctf_graph_new(const char *folder, bool several,
				bool (*make)(void *arg, bt_self_component *self), void *arg);
/* The files are complete once it has ended and is gone. NULL is allowed. */
void ctf_graph_free(struct ctf_graph *g);
/* What messages are made for. */
bt_self_message_iterator *ctf_graph_iterator(const struct ctf_graph *g);
/* Takes a message; NULL: there was no memory for it. False: it was not written, nor will others be.
 */
bool ctf_graph_send(struct ctf_graph *g, bt_message *message);
/* There is no message any more. False: not all was written. */
bool ctf_graph_end(struct ctf_graph *g);

#endif
