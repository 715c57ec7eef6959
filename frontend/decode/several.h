/* SPDX-License-Identifier: GPL-2.0-or-later */
/* several.h - the records of several files in the order of their times, and all of them as text. */
#ifndef HVTRACE_FRONTEND_DECODE_SEVERAL_H
#define HVTRACE_FRONTEND_DECODE_SEVERAL_H

#include <stdio.h>

#include "frontend/decode/print.h"
#include "frontend/decode/records.h"

struct several_file {
	struct dat *dat;
	struct records *records;
	struct formats *formats;
	struct print *print;		 /* for several_print() */
	const struct decode_event *next; /* NULL at first */
	bool ahead;			 /* it is yet to be handed out; false at first */
};

/*
 * The file that has the next event, which is its `next` until the next call; of those with the same
 * time the first one. NULL: there is no event any more.
 */
struct several_file *several_next(struct several_file *files, size_t nr);

/*
 * To the end, or to an error of out. Of several the names go before their lines, or those of the
 * buffers, as trace-cmd report has them: then print is without buffers. Addresses in a host's
 * events of KVM get the names that they have in the guest, if its file is there: by the option
 * GUEST of the host's. One thread at a time.
 */
void several_print(struct several_file *files, size_t nr, FILE *out);

#endif
