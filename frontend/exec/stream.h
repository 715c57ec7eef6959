/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream.h - the host's end of protocol.h. What comes from the guest is believed to be nothing but
 * bytes: what makes no sense ends it.
 */
#ifndef HVTRACE_FRONTEND_EXEC_STREAM_H
#define HVTRACE_FRONTEND_EXEC_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/exec/guest/protocol.h"

#define STREAM_TEXT_MAX 256

/* What the guest says. Called by stream_feed(), each in its turn: none comes before its time. */
struct stream_ops {
	void (*hello)(void *arg);
	void (*waits)(void *arg, char what); /* EXEC_WAITS_... */
	void (*up)(void *arg);
	void (*task)(void *arg, uint32_t pid); /* not 0; one that fits into an int */
	void (*output)(void *arg, bool error, const char *bytes, size_t len);
	void (*end)(void *arg, uint32_t status);  /* as wait(2) has it, of a process that has ended
						   */
	void (*fail)(void *arg, const char *why); /* nothing in it that a terminal obeys */
};

enum stream_state {
	STREAM_NOISE, /* it has not said hello */
	STREAM_WAITS, /* it has, and comes up */
	STREAM_UP,
	STREAM_TASK, /* there is a task, and what it says comes from now on */
	STREAM_OVER, /* it has ended, or failed: nothing is listened to any more */
};

struct stream {
	const struct stream_ops *ops;
	void *arg;
	enum stream_state state;
	size_t matched; /* bytes of the hello */
	uint8_t head[EXEC_HEAD];
	size_t head_len, left; /* bytes of the head that are there, and of the frame that are not */
	char text[STREAM_TEXT_MAX + 1];
	size_t text_len;
};

void stream_init(struct stream *s, const struct stream_ops *ops, void *arg);
/* Bytes of the guest, in any pieces. */
void stream_feed(struct stream *s, const char *bytes, size_t len);

/*
 * A frame for the guest: a command with its flags, or to go on. To be freed by free(); NULL: no
 * memory. A command has at most STREAM_COMMAND_MAX bytes.
 */
#define STREAM_COMMAND_MAX (EXEC_DATA_MAX - 1)
char *stream_command(const char *command, uint8_t flags, size_t *len);
char *stream_go(size_t *len);

#endif
