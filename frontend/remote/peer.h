/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peer.h - all that comes from the other host, which is anybody's: taken apart, and looked at. */
#ifndef HVTRACE_FRONTEND_REMOTE_PEER_H
#define HVTRACE_FRONTEND_REMOTE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/remote/protocol.h"

/* What these return that is not 0 ends it. */
struct peer_ops {
	/* Who it is, once. */
	int (*hello)(void *arg, unsigned int protocol, const char *version);
	/* Of these there are no others; REMOTE_STATUS is not among them. */
	int (*data)(void *arg, unsigned int frame, const uint8_t *data, size_t len);
	/* Nothing comes behind it. */
	int (*status)(void *arg, int status);
};

/* Set ops, arg and files; all else is zero. */
struct peer {
	const struct peer_ops *ops;
	void *arg;
	uint32_t files; /* that it was asked for */
	/* What follows is peer.c's. */
	bool greeted, ended;
	size_t chatter; /* bytes that came before the hello */
	size_t len;	/* of what is not whole yet: */
	uint8_t part[REMOTE_FRAME_HEAD + REMOTE_FRAME_MAX];
};

/* 0; -EBADMSG: no hvtrace says that; or what one of the ops has returned. */
int peer_add(struct peer *p, const uint8_t *bytes, size_t len);

#endif
