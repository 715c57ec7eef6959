/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * incoming.h - a recording that another hvtrace makes, as hvtrace record -o - writes it: kept here
 * as a journal of our own while it comes, and made a trace.dat of at the end. What comes is
 * anybody's.
 */
#ifndef HVTRACE_FRONTEND_RECORD_INCOMING_H
#define HVTRACE_FRONTEND_RECORD_INCOMING_H

#include <stddef.h>

#include "frontend/record/record.h"

struct incoming;

/* Open the files; path stays. NULL with one line in err. */
struct incoming *incoming_open(const char *path, char *err, size_t errlen);
/*
 * What has come next; the file has each record once all of it has. 0; -EBADMSG: that is no
 * recording; or -errno of the file. Once it has failed it fails again.
 */
int incoming_add(struct incoming *in, const void *bytes, size_t len);
/* Something is recorded: the file is not what it was. */
bool incoming_has_begun(const struct incoming *in);
/* Nothing has come of a record of which not all has come. */
bool incoming_is_whole(const struct incoming *in);
/*
 * Nothing more comes: make the trace.dat, to be put into its place by record_place(). lost of the
 * result is what has kept some from being written. 0 or -errno: then the file is still the journal,
 * of all that has come; -ENODATA: nothing has.
 */
int incoming_finish(struct incoming *in, const struct record_watch *watch,
		    struct record_result *result);
/* As record_close(). NULL is allowed. */
void incoming_close(struct incoming *in);

#endif
