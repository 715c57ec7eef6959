/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peer.h - what one who has connected asks for, answered from a view. */
#ifndef HVTRACE_FRONTEND_CONTROL_PEER_H
#define HVTRACE_FRONTEND_CONTROL_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "frontend/control/wire.h"
#include "frontend/tracefs/view.h"
#include "tracer/tracer.h"

struct peer {
	struct view *view;
	bool may_all;		    /* modes do not count, as they do not for root */
	bool (*is_over)(void *arg); /* asked by a read that waits: its end is now */
	void *arg;

	enum { PEER_NOTHING, PEER_FILE, PEER_LIST } open;
	struct open_file *file;
	struct text list; /* of a directory */
	int flags;
	off_t at;
};

/*
 * The request has a length and a version that wire_receive() lets pass; all else may be anything.
 * The answer is complete but for its version.
 */
void peer_answer(struct peer *p, const struct wire_message *request, struct wire_message *answer);
/* Closes what is open. */
void peer_exit(struct peer *p);

#endif
