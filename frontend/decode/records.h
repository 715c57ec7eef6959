/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - the records of a trace.dat file in the order of their times, those of all vCPUs and
 * buffers or some of them. One thread uses it.
 */
#ifndef HVTRACE_FRONTEND_DECODE_RECORDS_H
#define HVTRACE_FRONTEND_DECODE_RECORDS_H

#include "frontend/dat/dat.h"

#define DECODE_LOST_UNKNOWN UINT64_MAX

struct decode_event {
	size_t buffer; /* for dat_buffer() */
	unsigned int cpu;
	uint64_t time;	  /* as of dat_time() */
	const void *data; /* the record: what the formats describe */
	size_t len;
	uint64_t lost; /* records lost just before it; DECODE_LOST_UNKNOWN: some */
	int id;	       /* of its format */
	int pid;
};

/* What common_type and common_pid of its data say. A record too short for them is of no event. */
void decode_identify(struct decode_event *ev);

struct records;

/*
 * Of one buffer, by its number, or of all with RECORDS_ALL. The first page of each vCPU is read at
 * once. NULL: no memory. d stays open for longer.
 */
#define RECORDS_ALL SIZE_MAX
struct records *records_open(struct dat *d, size_t buffer);
void records_close(struct records *r); /* NULL is allowed */

/* Leave out what it is not true of; before the first one. It may not read events. */
void records_select(struct records *r, bool (*wants)(void *arg, const struct decode_event *ev),
		    void *arg);
/* How far they are read. */
struct records_progress {
	uint64_t done, all; /* bytes of pages */
	uint64_t nr;	    /* records, selected or not */
};

/* Tell of it with each page, before the first record is asked for. */
void records_watch(struct records *r,
		   void (*tell)(void *arg, const struct records_progress *progress), void *arg);
/*
 * The next one, which is valid until the next call, also while records_peek() and records_take()
 * are called; its data may move meanwhile, so they are to be found through it. NULL: there is none,
 * or an error.
 */
const struct decode_event *records_next(struct records *r);
/*
 * The one that comes behind it in its buffer, whether or not it is selected, and to leave it out of
 * what is to come. Valid until the next call of any of these three. NULL: there is none.
 */
const struct decode_event *records_peek(struct records *r);
void records_take(struct records *r);

/* Once there is no event: NULL, or what has gone wrong with reading the file. */
const char *records_error(const struct records *r);
/* Pages that were damaged, and what was in them from there on left out. */
uint64_t records_damaged(const struct records *r);

#endif
