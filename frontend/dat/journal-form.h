/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal-form.h - for the files that read journals: the bytes of one. */
#ifndef HVTRACE_FRONTEND_DAT_JOURNAL_FORM_H
#define HVTRACE_FRONTEND_DAT_JOURNAL_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/journal.h"

#define JOURNAL_HEAD_SIZE   128 /* of the file */
#define JOURNAL_RECORD_SIZE 32	/* in front of the data of a record */

/* What the file begins with. False: it is none, or none that this version of hvtrace can read. */
bool journal_parse_head(const uint8_t head[JOURNAL_HEAD_SIZE], struct journal_shape *shape);
/*
 * What is in front of a record's data, in a journal of this shape; r->at is left to the caller.
 * False: it is none.
 */
bool journal_parse_record(const struct journal_shape *shape,
			  const uint8_t head[JOURNAL_RECORD_SIZE], struct journal_record *r);
uint32_t journal_sum(const void *data, size_t len);

#endif
