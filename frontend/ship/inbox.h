/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inbox.h - batches as they come out of a pipe, a piece at a time. */
#ifndef HVTRACE_FRONTEND_SHIP_INBOX_H
#define HVTRACE_FRONTEND_SHIP_INBOX_H

#include "frontend/ship/pack.h"

struct inbox {
	int fd; /* does not block; -1: no more comes */
	struct pack pack;
	size_t got;	   /* of its head and bytes */
	const char *wrong; /* why nothing more is taken; NULL: nothing is wrong */
};

/*
 * Read what is there, up to the end of one batch: true, with it in *p, whose bytes are the
 * caller's. False: there is no whole one; if nothing more comes in->fd is -1, and closed.
 */
bool inbox_read(struct inbox *in, struct pack *p);
void inbox_close(struct inbox *in);

#endif
