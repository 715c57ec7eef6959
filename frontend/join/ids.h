/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ids.h - the formats of events of several files in one, and their numbers there.
 *
 * What is the same in two kernels has one number. An event that has another layout in another
 * kernel is there a second time by the same names, with a number of its own: readers decode records
 * by the number, and find all by the names where they look for all.
 */
#ifndef HVTRACE_FRONTEND_JOIN_IDS_H
#define HVTRACE_FRONTEND_JOIN_IDS_H

#include <stdint.h>

#include "frontend/dat/dat.h"
#include "tracer/tracer.h"

#define IDS_NR 65536 /* a record has 16 bits for it */

struct ids_row; /* a format */

struct ids {
	struct ids_row *row;
	size_t nr, room;
	uint32_t *slot; /* by what it says: the row's number and 1 */
	size_t nr_slots;
	uint8_t taken[IDS_NR], unknown[IDS_NR]; /* unknown: taken by records that have no format */
};

/* Those of one file. */
struct ids_list {
	uint32_t *row;
	size_t nr;
};

/* Where its numbers lead; 0 is none. */
struct ids_map {
	uint16_t to[IDS_NR];
};

void ids_exit(struct ids *ids);
void ids_list_free(struct ids_list *l);
/*
 * Take over the formats of a file. 0, -ENOMEM, or -E2BIG: there are not numbers enough. What is no
 * format is left out.
 */
int ids_add(struct ids *ids, const struct dat_info *info, struct ids_map *map,
	    struct ids_list *list);
/* The number that records of this number get, which may have no format. -E2BIG: there is none. */
int ids_of(struct ids *ids, struct ids_map *map, uint16_t id);

/* The sections: ftrace's formats, and the others by their systems. */
void ids_write_ftrace(const struct ids *ids, struct text *to);
void ids_write_events(const struct ids *ids, struct text *to);
/* The places that rows have in both, one section behind the other. NULL: no memory; free() it. */
uint16_t *ids_order(const struct ids *ids);

#endif
