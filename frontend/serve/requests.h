/* SPDX-License-Identifier: GPL-2.0-or-later */
/* requests.h - the daemon's socket: a line asks, lines answer, and that is all of a connection. */
#ifndef HVTRACE_FRONTEND_SERVE_REQUESTS_H
#define HVTRACE_FRONTEND_SERVE_REQUESTS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/tracer.h"

#define REQUESTS_PEERS 16
#define REQUESTS_MS    5000 /* that a connection may last */

struct requests;

/*
 * A socket for this user alone (and root). answer() is asked for each line. NULL: one line in err.
 */
struct requests *requests_new(const char *path,
			      void (*answer)(void *arg, const char *line, struct text *to),
			      void *arg, char *err, size_t errlen);
/* Fill in what is to be polled, REQUESTS_PEERS + 1 at most: how many. */
size_t requests_poll(const struct requests *r, struct pollfd *fds);
/* Behind poll(2), and now and then. */
void requests_tick(struct requests *r, int64_t now_ms);
void requests_free(struct requests *r); /* NULL is allowed */

#endif
