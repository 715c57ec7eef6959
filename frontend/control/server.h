/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.h - serves the files of a trace to programs of the same user that connect to a socket. */
#ifndef HVTRACE_FRONTEND_CONTROL_SERVER_H
#define HVTRACE_FRONTEND_CONTROL_SERVER_H

struct control_server;
struct view;

/* How many may be connected at once; one more is told so (EUSERS). */
#define CONTROL_PEERS_MAX 64

/*
 * Serve the view to who connects to a listening socket, on threads of its own. The socket is the
 * server's from then on, also on error. 0 or -errno.
 */
int control_start(struct control_server **s, struct view *view, int listener);
/* Who waits in a read gets its end; requests under way are answered. NULL is allowed. */
void control_stop(struct control_server *s);

#endif
