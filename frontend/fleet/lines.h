/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - lines of several traces under way in the order of their times: a line waits for a while
 * for earlier ones of other guests. One thread at a time.
 */
#ifndef HVTRACE_FRONTEND_FLEET_LINES_H
#define HVTRACE_FRONTEND_FLEET_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_WAIT_MS	250
#define LINES_MAX	(1U << 16) /* that wait; with more the earliest does no longer */
#define LINES_BYTES_MAX (16U << 20)

struct lines;

/* timed: by the time that a line tells (12.345678: or, bare, 12345678:), else as they come. */
struct lines *lines_new(bool timed); /* NULL: no memory */
void lines_free(struct lines *l);    /* NULL is allowed */

/*
 * A line of a guest, without its end. What tells no time belongs behind the one before it. 0 or
 * -ENOMEM.
 */
int lines_put(struct lines *l, unsigned int guest, const char *line, size_t len, int64_t now_ms);
/*
 * The next one, to be freed by free(); NULL: none is due. all: no more comes that it would have to
 * wait for.
 */
char *lines_take(struct lines *l, unsigned int *guest, int64_t now_ms, bool all);

/* The time that a line of a trace tells, in ns or ticks. False: none. */
bool lines_time(const char *line, size_t len, uint64_t *time);

#endif
