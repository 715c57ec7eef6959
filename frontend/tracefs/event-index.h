/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event-index.h - the events of the guest's kernel by system and name, as the directories in
 * events/ have them: of a list as it was. Any thread may look without a lock.
 */
#ifndef HVTRACE_FRONTEND_TRACEFS_EVENT_INDEX_H
#define HVTRACE_FRONTEND_TRACEFS_EVENT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"

/* Some that are next to each other in order[]. */
struct event_range {
	const char *system;
	uint32_t first, nr;
	uint32_t id; /* where in the list the first of the system is: that stays */
};

struct event_index {
	unsigned int users;			/* view-lock.c; view_lock() */
	uint64_t changes;			/* trace_events_changes() before it was made */
	const struct guestsym_event_list *list; /* not the index's own */
	uint32_t *order;			/* where each is in the list */
	struct event_range *system;
	size_t nr, nr_systems;
	/*
	 * Of the system ftrace, which is not among the others: those whose records nobody here
	 * writes.
	 */
	struct event_range ftrace;
};

/* left_out: those of the system ftrace that are found elsewhere. NULL: no memory. */
struct event_index *event_index_new(const struct guestsym_event_list *list,
				    bool (*left_out)(const char *name));
void event_index_free(struct event_index *index); /* NULL is allowed */

/* The system that the event at this place of the list is of; NULL: it has no events now. */
const struct event_range *event_index_range(const struct event_index *index, uint32_t event);

static inline const struct guestsym_event *event_index_at(const struct event_index *index,
							  uint32_t n)
{
	return &index->list->v[index->order[n]];
}

/* False: there is no such system; no such event in the range. */
bool event_index_system(const struct event_index *index, const char *name, uint32_t *n);
bool event_index_event(const struct event_index *index, const struct event_range *range,
		       const char *name, uint32_t *n);

#endif
