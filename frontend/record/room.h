/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room.h - room on the disk for the trace.dat that a journal will be copied to: whoever runs out of
 * it does so while recording, and what is recorded by then can be put together.
 */
#ifndef HVTRACE_FRONTEND_RECORD_ROOM_H
#define HVTRACE_FRONTEND_RECORD_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct room {
	int fd;
	uint64_t bytes;
	bool cannot; /* this file system sets nothing aside */
};

void room_init(struct room *room, int fd);
/* For a journal of so many bytes. 0 or -errno. */
int room_keep(struct room *room, uint64_t journal);

#endif
