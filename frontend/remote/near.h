/* SPDX-License-Identifier: GPL-2.0-or-later */
/* near.h - the end that is here: from what is to be done to the exit status. */
#ifndef HVTRACE_FRONTEND_REMOTE_NEAR_H
#define HVTRACE_FRONTEND_REMOTE_NEAR_H

#include "frontend/remote/outlet.h"

struct request;

struct near_work {
	const char *connect; /* of which remote_is() */
	struct outlet_config out;
	/* The command; far: the URI of the libvirt there. */
	void (*ask)(void *arg, const char *far, struct request *r);
	void *arg;
};

/* With all there is to say on stderr. The exit status. */
int near_do(const struct near_work *work);

#endif
