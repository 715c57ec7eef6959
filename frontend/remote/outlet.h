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
	enum paint paint;    /* of text */
	const char *file;    /* a picture that is written as well, or NULL */
	const char *summary; /* what --summary asks for, or NULL */
	bool prints;	     /* the text is no trace: no summary says what file it goes to */
};

/* What a signal has happen. */
struct outlet_signals {
	/* Ends waiting for who reads the text; of a recording no byte may be lost: */
	const struct cancel *cancel;
	void (*asked)(void *arg); /* there this is called instead, and takes it */
	void *arg;
};

/* A file that is written beside the trace, when all of it has come. */
struct outlet_file {
	struct target target;
	bool is_open;
	struct text said;
};

struct outlet {
	const struct outlet_config *cfg;
	struct incoming *recording; /* NULL: it is text, or goes on to another program: */
	FILE *out;
	uint64_t bytes;	 /* of that */
	bool is_as_ever; /* its file has what it had: nothing has come yet; */
	bool is_new;	 /* which is nothing: it was made for this */
	int error;	 /* of either, the first one; -EPIPE: nobody reads it any more */
	struct outlet_file picture, summary;
	struct broker *broker; /* who puts things into their places, or NULL */
};

/*
 * Before anything is asked for. What was there before stays until something comes. 0, or -1 with
 * one line in err; in any case outlet_close() ends it.
 */
int outlet_open(struct outlet *o, const struct outlet_config *cfg,
		const struct outlet_signals *signals, char *err, size_t errlen);
/* Give up the rights that are not needed any more. 0, or -1 with one line in err. */
int outlet_confine(struct outlet *o, char *err, size_t errlen);
/*
 * What comes of it, and of a file: 0 is the first one that was asked for, the picture before the
 * summary. 0 or -errno; -EBADMSG: nobody's hvtrace writes that.
 */
int outlet_put(struct outlet *o, const uint8_t *data, size_t len);
int outlet_put_file(struct outlet *o, unsigned int file, const uint8_t *data, size_t len);
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
