/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events-live.h - the events of a guest that is traced already, as its trace tells them. */
#ifndef HVTRACE_FRONTEND_CMD_EVENTS_LIVE_H
#define HVTRACE_FRONTEND_CMD_EVENTS_LIVE_H

#include "frontend/cmd/traceable.h"
#include "guestsym/guestsym.h"

struct control_client;
struct json;

struct events_live {
	/* Which of them are wanted: only their names are known. */
	bool (*wants)(void *arg, const struct guestsym_event *ev);
	/* format: what its file format has, if that is to be read, else NULL. */
	void (*see)(void *arg, const struct guestsym_event *ev, const char *format);
	void *arg;
	bool formats;
};

/* 0, or as control_read_all(). */
int events_live_each(struct control_client *c, const struct events_live *how);
/* All functions that can be traced. 0, or the same; traceable_free(). */
int events_live_functions(struct control_client *c, struct traceable *to);
/* What a format says of its event, for the object that is open: id, and fields and print_fmt. */
void events_live_put_format(struct json *j, const char *format, bool fields);

#endif
