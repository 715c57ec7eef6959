/* SPDX-License-Identifier: GPL-2.0-or-later */
/* connect.h - which trace a command is for. */
#ifndef HVTRACE_FRONTEND_SESSION_CONNECT_H
#define HVTRACE_FRONTEND_SESSION_CONNECT_H

#include "frontend/lib/options.h"
#include "frontend/session/suggest.h"

struct control_client;

/* The row for it in the option table of a command. */
#define CONNECT_OPTION_ROW(guest)                                                                  \
	OPT_STRING_OF(                                                                             \
		"guest", 'g', "guest", guest, "NAME",                                              \
		"which trace: name of its guest, or pid of its hvtrace (default: the only one)")

/*
 * Connect to the trace of this user that `guest` names, NULL: to the only one. `out`: see
 * control_client_new(). NULL with one line on stderr.
 */
struct control_client *connect_to_trace(const char *guest, int out);
/* How suggest.h reads that trace, as long as it is connected to. */
struct trace_reader connect_reader(struct control_client *c);

struct registry_guest;

/* What is known of the trace that connect_to_trace() takes; false, and nothing is said: of none. */
bool connect_describe(const char *guest, struct registry_guest *g);

/*
 * The trace of this user that is of a guest, called as hvtrace attach takes it, already. False:
 * there is none.
 */
bool connect_find(const char *target, struct registry_guest *g);

/* What attaching waits for, if a trace of this user is of that guest; false: there is none. */
bool connect_waits(const char *target, char *text, size_t size);

/*
 * For when a guest, called as hvtrace attach takes it, cannot be attached to: behind err, which
 * says so, comes what is to be done instead. It is what its name should be, or that a trace of this
 * user is of it already; nothing where it is neither.
 */
void connect_explain(const char *target, char *err, size_t size);

/* "-g NAME " where a trace was named, else "": for what a message says is to be called. */
#define CONNECT_OPTION_LEN 96
const char *connect_option(const char *guest, char buf[CONNECT_OPTION_LEN]);

#endif
