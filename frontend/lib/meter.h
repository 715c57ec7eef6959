/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meter.h - how far something is that takes long: a line on stderr, redrawn a few times a second
 * and taken away at the end, if that is a terminal, and once a second is over.
 */
#ifndef HVTRACE_FRONTEND_LIB_METER_H
#define HVTRACE_FRONTEND_LIB_METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
	const char *what; /* what is done, and to what; shown up to 60 bytes of it */
	const char *unit; /* of what is counted meanwhile, "records"; NULL: nothing is */
	bool wanted;
	int64_t began_ms, drawn_ms;
	bool drawn, told;
};

/* Now; text must stay. Later it need not be known any more what is a terminal. */
void meter_begin(struct meter *m, const char *what, const char *unit);
/* So much of all is done, and so many were counted. May be called often. */
void meter_show(struct meter *m, uint64_t done, uint64_t all, uint64_t nr);
/*
 * Of what nobody knows how long it takes: how long it has taken. Where stderr is no terminal that
 * is said once, after some seconds.
 */
void meter_wait(struct meter *m);
void meter_end(struct meter *m);

/* "1:02:03", "2:03", "3 s" */
#define METER_TIME_LEN 24
const char *meter_time(uint64_t seconds, char buf[METER_TIME_LEN]);

#endif
