/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader.h - the records of a file as rows. A call of function_graph has its duration where it
 * ends, and a system call where the guest's kernel leaves it.
 */
#ifndef HVTRACE_FRONTEND_SHIP_READER_H
#define HVTRACE_FRONTEND_SHIP_READER_H

#include "frontend/decode/formats.h"
#include "frontend/decode/records.h"
#include "frontend/ship/block.h"

struct reader_config {
	bool fields;	  /* events as text, too, which takes long */
	uint32_t written; /* when the file was, in seconds since 1970: see reader_next() */
};

struct reader;

/* All stay open for longer. NULL: no memory. */
struct reader *reader_new(struct dat *d, struct formats *f, struct records *r,
			  const struct reader_config *cfg);
void reader_free(struct reader *r); /* NULL is allowed */
/*
 * The next row, valid until the next call; false: there is none, or an error of records_error().
 *
 * Its `at` is its time, where that is the wall clock's, as trace-cmd record --date has it. A file
 * without that does not tell when it began: then its first record is at cfg->written.
 */
bool reader_next(struct reader *r, struct block_row *row);
/* Records that were lost since it was last asked for; those of which nobody knows count as one. */
uint64_t reader_lost(struct reader *r);

#endif
