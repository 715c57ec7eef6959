/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.h - serves the files of a trace to programs of the same user that connect to a socket. */
#ifndef HVTRACE_FRONTEND_CONTROL_SERVER_H
#define HVTRACE_FRONTEND_CONTROL_SERVER_H

#include <stddef.h>

struct control_server;
struct machine_save;
struct view;

/* Who saves the guest: as trace_save(), but for what it says of its kernel. Any thread. */
struct control_saver {
	int (*save)(void *arg, struct machine_save *save, char *err, size_t errlen);
	void *arg;
};

/* How many may be connected at once; one more is told so (EUSERS). */
#define CONTROL_PEERS_MAX 64

/*
 * Serve the view to who connects to a listening socket, on threads of its own. The socket is the
 * server's from then on, also on error. saver NULL: nobody gets a snapshot. 0 or -errno.
 */
int control_start(struct control_server **s, struct view *view, const struct control_saver *saver,
		  int listener);
/* Who waits in a read gets its end; requests under way are answered. NULL is allowed. */
void control_stop(struct control_server *s);

#endif
