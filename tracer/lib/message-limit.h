/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message-limit.h - how often one place of the code may say something: a guest, or a peer, can come
 * by there as often as it likes. What is left out is counted, and told when the second is over.
 */
#ifndef HVTRACE_TRACER_LIB_MESSAGE_LIMIT_H
#define HVTRACE_TRACER_LIB_MESSAGE_LIMIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_LIMIT	  10 /* lines that a place may say in a period */
#define MESSAGE_PERIOD_MS 1000
#define MESSAGE_PLACES	  64  /* those above share one limit */
#define MESSAGE_TEXT	  512 /* bytes, with the end */

struct message_place {
	const char *name; /* the same pointer each time */
	int64_t since_ms; /* when its period has begun */
	unsigned int said;
	uint64_t left_out;
	char text[MESSAGE_TEXT]; /* the latest one that was left out */
};

struct message_limit {
	int64_t (*now_ms)(void); /* host_ms(), or a test's */
	pthread_mutex_t lock;
	struct message_place place[MESSAGE_PLACES];
	size_t nr;
	atomic_bool waits; /* something was left out, and not told yet */
};

/* NULL: no memory. */
struct message_limit *message_limit_new(void);
void message_limit_free(struct message_limit *l); /* NULL is allowed */

/* Whether the text may be said; else it is counted. Any thread. */
bool message_limit_admit(struct message_limit *l, const char *place, const char *text);

/*
 * A line that says how many were left out in one place, whose period is over, or (all) is not.
 * False: there is none. To be asked until then; any thread.
 */
bool message_limit_rest(struct message_limit *l, bool all, char *line, size_t len);

#endif
