/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outlet.h - where that goes which a trace on another host gives. */
#ifndef HVTRACE_FRONTEND_REMOTE_OUTLET_H
#define HVTRACE_FRONTEND_REMOTE_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/lib/paint.h"
#include "frontend/sandbox/target.h"
#include "tracer/tracer.h"

struct broker;
struct cancel;
struct incoming;

/* What is wanted; it stays. */
struct outlet_config {
	const char *output; /* a file, or "-" for stdout */
	bool record;	    /* a recording, which to stdout goes as it comes */
	bool unheard;	    /* nobody is told of its file */
	bool no_sandbox;
	enum paint paint; /* of text */
	const char *file; /* what else is written; NULL: nothing */
	bool is_summary;  /* it is what --summary asks for */
};

struct outlet {
	const struct outlet_config *cfg;
	struct incoming *recording; /* NULL: it is text, or goes on to another program: */
	FILE *out;
	uint64_t bytes;	      /* of that */
	int error;	      /* of either, the first one; -EPIPE: nobody reads it any more */
	struct target target; /* of what else is written: a summary when all has come */
	bool has_target;
	struct text said;
	struct broker *broker; /* who puts the recording into its place, or NULL */
};

/*
 * Before anything is asked for. cancel: what ends waiting for who reads. 0, or -1 with one line in
 * err; in any case outlet_close() ends it.
 */
int outlet_open(struct outlet *o, const struct outlet_config *cfg, const struct cancel *cancel,
		char *err, size_t errlen);
/* Give up the rights that are not needed any more. 0, or -1 with one line in err. */
int outlet_confine(struct outlet *o, char *err, size_t errlen);
/* What comes of it, and of the file. 0 or -errno; -EBADMSG: nobody's hvtrace writes that. */
int outlet_put(struct outlet *o, const uint8_t *data, size_t len);
int outlet_put_file(struct outlet *o, const uint8_t *data, size_t len);
/*
 * All has come, and the command there has ended with this status. What goes wrong is said on
 * stderr; the exit status.
 */
int outlet_finish(struct outlet *o, int status);
/* It has not: what there is stays, and why is said by the caller; the summary says it, too. */
void outlet_give_up(struct outlet *o, int status, const char *end, const char *why);
/* What is recorded is there, for hvtrace repair. */
bool outlet_has_journal(const struct outlet *o);
void outlet_close(struct outlet *o);

#endif
