/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote.h - a guest that runs on another host, which ssh leads to: what traces it is an hvtrace
 * there, and what comes of it is here.
 */
#ifndef HVTRACE_FRONTEND_REMOTE_REMOTE_H
#define HVTRACE_FRONTEND_REMOTE_REMOTE_H

#include <stdbool.h>

#include "frontend/session/attach.h"

/* Such a guest is meant: a URI of libvirt, as --connect has it, or NULL. */
bool remote_is(const char *connect);

/*
 * Trace a guest of which remote_is(), or clean up behind another hvtrace, as hvtrace attach and
 * record do: with all there is to say about it on stderr. The exit status.
 */
int remote_attach(const struct session_options *opt, const struct attach_target *target);

/* hvtrace remote: the other end of that, between stdin and stdout. The exit status. */
int remote_serve(int argc);

#endif
