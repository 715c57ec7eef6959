/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - entries and returns become a call tree.
 *
 * What a trace holds may begin and end in the middle of calls, and miss events in between: depths
 * tell. A call whose entry is missing gets its name from its return, and what it called is found
 * below it all the same; one that nothing names is left out, and what it called stands where it
 * would. A call of which only a part is in the trace counts with that part.
 */
#ifndef HVTRACE_FRONTEND_REPORT_CALLS_H
#define HVTRACE_FRONTEND_REPORT_CALLS_H

#include "frontend/report/calltree.h"

#define CALLS_CPUS 1024 /* events of others are left alone */
#define CALLS_NO_PID                                                                               \
	(-1) /* tasks that are not known are told apart by their CPU, as idle ones are */

struct call_event {
	bool returns;
	unsigned int cpu;
	int32_t pid;
	int depth;	  /* calls around it */
	uint32_t name;	  /* of the tree; NONE: a return that does not say */
	uint64_t ts;	  /* nanoseconds; 0: not known, of all events */
	uint64_t ns;	  /* of a return: how long it took */
	const char *comm; /* "cat"; NULL: the pid alone */
};

struct calls;

/*
 * The tree outlives it. Events before `since` are left out; what is said of the time from then on
 * takes the trace for complete. 0: all there are. NULL: no memory.
 */
struct calls *calls_new(struct calltree *t, uint64_t since);
/* Events come in the order of each task's. */
void calls_event(struct calls *c, const struct call_event *ev);
/* The trace ends here; frees it. NULL is allowed. */
void calls_end(struct calls *c);

#endif
