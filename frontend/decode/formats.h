/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * formats.h - what the records of a trace.dat file mean: formats of events, names of functions and
 * tasks, in libtraceevent's hands.
 *
 * That library trusts what it is given, more than a file of anybody's should be. So what it is to
 * parse is looked at before, each record is handed to it in memory that goes on behind its end with
 * zeros, as far as any field of any format reaches, and whoever decodes a file does it in a
 * sandbox.
 */
#ifndef HVTRACE_FRONTEND_DECODE_FORMATS_H
#define HVTRACE_FRONTEND_DECODE_FORMATS_H

#include "frontend/dat/dat.h"
#include "frontend/decode/records.h"

#include <event-parse.h>

struct formats;

struct formats_config {
	bool no_plugins; /* of libtraceevent's, which print some events in another way */
	const char *const
		*options; /* for these: "NAME", "PLUGIN:NAME", each with or without "=VALUE" */
	size_t nr_options;
};

/* Loads the plugins, from files: before a sandbox. NULL: no memory. */
struct formats *formats_new(const struct formats_config *cfg);
void formats_free(struct formats *f); /* NULL is allowed */
/* Take over what a file has of them. 0, or -EINVAL with one line in err that names the file. */
int formats_load(struct formats *f, const struct dat_info *info, char *err, size_t errlen);

struct tep_handle *formats_tep(const struct formats *f);
/* The format of an event; NULL: there is none in the file. */
struct tep_event *formats_event(const struct formats *f, int id);
/*
 * An event as libtraceevent wants it, valid until the next call with the same slot: two may be
 * looked at together.
 */
enum formats_slot { FORMATS_ONE, FORMATS_OTHER, FORMATS_SLOTS };
struct tep_record *formats_record(struct formats *f, enum formats_slot slot,
				  const struct decode_event *ev);
/* A number of a record that has all of the field. False: it has not, or the file has no field. */
bool formats_number(const struct tep_format_field *field, const struct decode_event *ev,
		    uint64_t *n);

#endif
