/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dat-file.h - a trace.dat file that a command reads: opened, in the sandbox, with those of its
 * events selected that options want.
 */
#ifndef HVTRACE_FRONTEND_CMD_DAT_FILE_H
#define HVTRACE_FRONTEND_CMD_DAT_FILE_H

#include "frontend/sandbox/target.h"
#include "frontend/decode/select.h"
#include "frontend/lib/meter.h"
#include "frontend/lib/options.h"

#include <stdio.h>

/* Zero-initialise; dat_file_options_free(). */
struct dat_file_options {
	struct option_list pids, comms, events, functions, filters;
	const char *cpus, *from, *until, *buffer, *out;
	bool no_sandbox;
	bool top;	/* where no buffer is named, only the top level's */
	bool as_it_is;	/* a file of several guests is not taken apart */
	bool temporary; /* once it is open it goes, and the directory that it is in */
	bool folder;	/* out is one; it is given */
};

/* What all commands that read one know. */
#define DAT_FILE_OPTION_ROWS(opt)                                                                  \
	OPT_STRING(0, "cpu", &(opt)->cpus, "LIST", "events of these vCPUs: 0,2-3"),                \
		OPT_LIST(0, "pid", &(opt)->pids, "PID", "events in this task; may be repeated"),   \
		OPT_LIST(0, "comm", &(opt)->comms, "NAME",                                         \
			 "events in tasks of this name, a glob; may be repeated"),                 \
		OPT_LIST_OF("recorded-event", 'e', "event", &(opt)->events, "EVENT",               \
			    "these events: [SYSTEM:]EVENT, globs; may be repeated"),               \
		OPT_LIST_OF("recorded-function", 'f', "function", &(opt)->functions, "NAME",       \
			    "calls of these functions, a glob; may be repeated"),                  \
		OPT_STRING(0, "from", &(opt)->from, "TIME",                                        \
			   "events from then on, as printed: 12.345678"),                          \
		OPT_STRING(0, "until", &(opt)->until, "TIME", "events until then"),                \
		OPT_STRING_OF("buffer", 'I', "buffer", &(opt)->buffer, "NAME",                     \
			      "events of this instance's buffer, or of this guest"),               \
		OPT_LIST_OF("recorded-event", 'F', "filter", &(opt)->filters, "FILTER",            \
			    "EVENT:EXPRESSION, as trace-cmd report -F; may be repeated"),          \
		OPT_FLAG(0, "no-sandbox", &(opt)->no_sandbox,                                      \
			 "keep all rights while the file is read; for debugging hvtrace"),         \
		OPT_STRING('o', "output", &(opt)->out, "FILE", "where it goes (default: stdout)")

void dat_file_options_free(struct dat_file_options *opt);

/* What is open while it is read; out first. */
struct dat_file {
	const struct dat_file_options *opt;
	const char *path;
	struct target target;
	FILE *out;  /* the target's */
	bool whole; /* all is in it */
	struct formats *formats;
	struct dat *dat;
	int part;      /* the number of its guest, where all of a file of several are wanted; -1 */
	size_t buffer; /* of the records, or RECORDS_ALL */
	struct records *records;
	struct select *select;
	struct select_config wanted;
	bool unwanted; /* options name what it has not, but another one has: records is NULL */
	struct meter meter;
	bool to_file; /* and how far it is, is shown */
	char err[512];
};

/* Of many guests and their hosts. */
#define DAT_FILES_MAX 1024

/*
 * Everything that takes a name first, then the process enters the sandbox and the file is read.
 * False: one line was printed on stderr, as where it has several guests, of which none is named
 * and which are to be taken apart. Either way dat_file_close() it.
 */
bool dat_file_open(struct dat_file *f, const char *path, const struct dat_file_options *opt,
		   const struct formats_config *plugins);
/*
 * The same of *nr, whose events are for the output of the first one. Of a file of several guests,
 * of which none is named, each is one of files, DAT_FILES_MAX at most, and *nr is how many there
 * are.
 */
bool dat_files_open(struct dat_file *files, const char *const *paths, size_t *nr,
		    const struct dat_file_options *opt, const struct formats_config *plugins);
/*
 * All events were read, and written, as far as they could be: say what was not all there. The exit
 * status. Where it is not called, nothing is left of what was written.
 */
int dat_file_tell_damage(struct dat_file *f);
/* All events were read: say so if the options have chosen none in any of the files. */
void dat_files_tell_nothing(const struct dat_file *files, size_t nr);
/* The exit status: that one, unless what was written did not get there, which is said. */
int dat_file_close(struct dat_file *f, int status);

#endif
