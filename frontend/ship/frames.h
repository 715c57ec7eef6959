/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frames.h - bytes in the frames of compressed data that ClickHouse has, one behind the other. */
#ifndef HVTRACE_FRONTEND_SHIP_FRAMES_H
#define HVTRACE_FRONTEND_SHIP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

/* Zero-initialise; frames_free(). */
struct frames {
	ZSTD_CCtx *zstd;
	uint8_t *plain; /* that are not in a frame yet */
	size_t nr_plain;
	uint8_t *bytes; /* frames */
	size_t len, room;
	uint64_t raw; /* bytes that were added */
	bool failed;  /* there was no memory: what is in it is nothing */
};

void frames_add(struct frames *f, const void *bytes, size_t len);
/* The same n times over. */
void frames_repeat(struct frames *f, const void *bytes, size_t len, size_t n);
/* What was added is in frames, which are taken out: bytes, free(3). NULL: no memory. */
uint8_t *frames_take(struct frames *f, size_t *len);
void frames_free(struct frames *f);

#endif
