/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listener.h - the socket that scrapers connect to. */
#ifndef HVTRACE_FRONTEND_METRICS_LISTENER_H
#define HVTRACE_FRONTEND_METRICS_LISTENER_H

#include "frontend/metrics/metrics.h"

#include <sys/types.h>

struct listener {
	int fd;			      /* does not block */
	char at[METRICS_ADDRESS_LEN]; /* as it was given, with the port that it has got */
	dev_t dev;		      /* of a socket with a path */
	ino_t ino;		      /* 0: it has none */
};

/* address as metrics_serve() takes it. 0, or -errno and one line in err. */
int listener_open(struct listener *l, const char *address, char *err, size_t errlen);
/* Removes its path, if that is still its own. */
void listener_close(struct listener *l);

#endif
