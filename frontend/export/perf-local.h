/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf-local.h - what the files of the format perf share. Records of the kernel's are those of
 * linux/perf_event.h; the rest of a perf.data is told by perf.data-file-format.txt of tools/perf.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_PERF_LOCAL_H
#define HVTRACE_FRONTEND_EXPORT_PERF_LOCAL_H

#include <linux/perf_event.h>

#include "frontend/dat/bytes.h"
#include "frontend/export/local.h"
#include "frontend/export/names.h"
#include "tracer/tracer.h"

/* Records of perf's own. */
enum {
	PERF_HEADER_ATTR = 64,
	PERF_HEADER_TRACING_DATA = 66,
	PERF_FINISHED_ROUND = 68,
	PERF_HEADER_FEATURE = 80,
};

enum { PERF_IDS = 65536, PERF_CHAIN_MAX = 127 }; /* perf shows no more of a stack than that */

/* What samples have, in the order in which they have it; those of calls have a stack, too. */
#define PERF_SAMPLE_ALL                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

/* Whose an event is. */
enum perf_side { PERF_GUEST, PERF_HOST, PERF_SIDES };

/* What is in a trace; known of a file that is written before it is read, or else afterwards. */
struct perf_events {
	uint8_t has[PERF_SIDES][PERF_IDS / 8]; /* by id: there are some, and their format */
	uint64_t first, last;		       /* times */
	bool any;
	bool calls; /* of the function tracers, or stacks */
};

static inline bool perf_has(const struct perf_events *e, enum perf_side side, int id)
{
	return e->has[side][id / 8] >> id % 8 & 1;
}

static inline void perf_set(struct perf_events *e, enum perf_side side, int id)
{
	e->has[side][id / 8] |= (uint8_t)(1U << id % 8);
}

/* How samples name their event; 0 names none. */
static inline uint64_t perf_sample_id(enum perf_side side, int id)
{
	return (uint64_t)side * PERF_IDS + (uint64_t)id + 1;
}

/* --- perf-formats.c: the formats of events, with numbers and names for perf --------------------
 */

struct perf_formats;

/* NULL: no memory. */
struct perf_formats *perf_formats_new(struct export *x);
void perf_formats_free(struct perf_formats *f); /* NULL is allowed */
/* Whether the file has a format of this event, which perf can read, too. */
bool perf_formats_knows(const struct perf_formats *f, enum perf_side side, int id);
/* Whether such events of the guest's tell of a stack. */
bool perf_formats_is_call(const struct perf_formats *f, int id);
/* Of one that is known: what its records have as their common_type, and its name, "system:name". */
uint16_t perf_formats_number(const struct perf_formats *f, enum perf_side side, int id);
void perf_formats_name(const struct perf_formats *f, enum perf_side side, int id,
		       char name[NAMES_LEN]);
/* Those of all events that there are, as what perf calls tracing data. */
void perf_formats_add(const struct perf_formats *f, const struct perf_events *e, struct text *t);

/* --- perf-parts.c: what a file tells beside its records --------------------------------------- */

struct perf_parts {
	const struct export_input *in;
	struct perf_formats *formats;
};

/* An event as perf has it: how its samples look, and the number that they name it by. */
struct perf_kind {
	struct perf_event_attr attr;
	uint64_t id;
	char name[NAMES_LEN];
};

#define PERF_ATTR_LEN                                                                              \
	PERF_ATTR_SIZE_VER5 /* of attr, all that is used, and older readers know it                \
			     */

/* Those that there are, one by one; act may be NULL. How many. */
uint32_t perf_parts_each(const struct perf_parts *p, const struct perf_events *e,
			 void (*act)(void *arg, const struct perf_kind *kind), void *arg);

/*
 * Part i of those that a file may have, behind what is in *t, and the number of its bit in the
 * header, which rise. One that adds nothing is not there. False: there is no part i.
 */
enum { PERF_PART_FORMATS = 1, PERF_PARTS_MAX = 8 };
bool perf_parts_add(const struct perf_parts *p, const struct perf_events *e, size_t i,
		    unsigned int *bit, struct text *t);

/* --- perf-head.c: where it is ----------------------------------------------------------------- */

/* For who reads from a pipe: all of it, before the records. */
void perf_head_write_pipe(struct export *x, const struct perf_parts *p,
			  const struct perf_events *e);
/* A file: room for its header before them, all the rest behind them, and the header last. */
void perf_head_begin_file(struct export *x);
void perf_head_end_file(struct export *x, const struct perf_parts *p, const struct perf_events *e);

/* --- perf-calls.c: where a sample is, and for how long ---------------------------------------- */

struct perf_call {
	uint64_t ip, period;
	uint64_t chain[PERF_CHAIN_MAX]; /* from ip outwards */
	size_t nr;
};

struct perf_calls;

/* NULL: no memory. */
struct perf_calls *perf_calls_new(struct export *x);
void perf_calls_free(struct perf_calls *c); /* NULL is allowed */
/*
 * An event of the function tracers, or of a stack, is where it says; another is in the function
 * that its task has called last, if that is known. The period is 1; of a return, how long the
 * function itself took, in nanoseconds.
 */
void perf_calls_event(struct perf_calls *c, const struct decode_event *ev, struct perf_call *call);

/* --- perf-symbols.c: names of functions ------------------------------------------------------- */

struct perf_symbols;

/* tell() is called once for each function that an address is in. NULL: no memory. */
struct perf_symbols *perf_symbols_new(struct formats *f,
				      void (*tell)(void *arg, uint64_t start, uint32_t len,
						   const char *name),
				      void *arg);
void perf_symbols_free(struct perf_symbols *s); /* NULL is allowed */
/* False: no memory. */
bool perf_symbols_address(struct perf_symbols *s, uint64_t addr);
/* All that an event has in fields that may be addresses. False: no memory. */
bool perf_symbols_event(struct perf_symbols *s, const struct decode_event *ev);

#endif
