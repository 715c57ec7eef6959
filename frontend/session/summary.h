/* SPDX-License-Identifier: GPL-2.0-or-later */
/* summary.h - what came of a session, for programs: one object of JSON. */
#ifndef HVTRACE_FRONTEND_SESSION_SUMMARY_H
#define HVTRACE_FRONTEND_SESSION_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracer.h"
#include "vmm/machine.h"

struct exits;
struct json;

/* A file that was written. */
struct summary_file {
	bool opened;	       /* else nothing was written, and the path is all that is known */
	const char *path;      /* NULL: standard output, or there is none */
	bool recorded, sized;  /* record_bytes, bytes are known */
	uint64_t bytes;	       /* of the file, or of the text */
	uint64_t record_bytes; /* of records in a recording, before they are packed */
	int error;	       /* why it is not whole, -errno; 0: it is */
};

/* What --host-events gave. */
struct summary_host {
	struct summary_file file;
	uint64_t events;
	bool lost;		   /* some are */
	const struct exits *exits; /* NULL: not counted */
};

struct summary {
	const char *guest, *release, *tracer; /* NULL: not known */
	const char *end, *reason;	      /* why it ended: a word, and what people are told */
	int status;
	double seconds;
	const struct trace_status *trace; /* NULL: nothing was traced; so for what follows */
	const struct trace_vcpu_status *vcpu;
	unsigned int vcpus;
	unsigned int boots; /* that were traced; all that is counted is of all of them */
	const struct machine_pauses *pauses; /* or NULL */
	const struct summary_file *output;
	const struct summary_host *host; /* or NULL */
};

void summary_put(const struct summary *s, struct json *j);

#endif
