/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - the two files of a recording: the journal, in the place of the trace.dat, and beside it
 * what that will be written to. Both are locked as long as they are open.
 */
#ifndef HVTRACE_FRONTEND_RECORD_FILES_H
#define HVTRACE_FRONTEND_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct record_files {
	int journal, part; /* -1: not open */
	/* They were not there before, and have nothing by now that anybody would miss. */
	bool journal_is_new, part_is_new;
};

/*
 * Nothing that is in them changes. 0, or -1 with one line in err; in any case record_files_close()
 * is for what is open.
 */
int record_files_open(struct record_files *f, const char *path, char *err, size_t errlen);
/* In $TMPDIR, else in /tmp, and without names. The same. */
int record_files_open_unnamed(struct record_files *f, char *err, size_t errlen);
/* Those that are new go; path: as they were opened, NULL: without names. */
void record_files_close(struct record_files *f, const char *path);

#endif
