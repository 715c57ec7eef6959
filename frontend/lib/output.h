/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - where text goes, and how.
 *
 * Files and pipes get what was written. On a terminal control characters are shown instead of
 * obeyed (escape.h), as most text has names or strings from the guest in it, and there are colours
 * (color.h).
 */
#ifndef HVTRACE_FRONTEND_LIB_OUTPUT_H
#define HVTRACE_FRONTEND_LIB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/lib/paint.h"
#include "tracer/tracer.h"

struct cancel;

/*
 * From then on stdout and stderr do so, too, and one that is closed gives an error, whatever is
 * opened. Once, before anything is opened or written; once more in a child that has got another
 * stderr. 0 or -errno: then they would not.
 */
int output_start(void);

/* What stdout gets from then on is text of this kind, which people see in colours. */
void output_paint(enum paint as);

/*
 * A terminal or pipe that nobody reads does not hold the process for the sake of what is said on
 * stderr: once a signal has come, what there is no room for is lost. NULL: not any more. It opens
 * stderr once more.
 */
void output_hurry(const struct cancel *cancel);

/*
 * After output_hurry(): nor does it without a signal, for longer than so many milliseconds in a
 * row. How many writes are lost since is said as soon as there is room again. Of who holds what may
 * not wait for a terminal: a guest that is somebody else's. -1: as long as it takes, as before.
 */
void output_patience(int ms);

/* The last line on stderr of a process that leaves, if there is room for it. Any thread. */
void output_last_word(const char *line);

/*
 * What is for the terminal to obey: of the program's own, or a console that is one. Behind what was
 * written to the stream before. 0 or -errno.
 */
int output_control(FILE *stream, int fd, const char *text, size_t len);

/*
 * How something goes on: a line on stderr, which is a terminal, in the place of the one before.
 * Whatever else is written to stderr takes that place; nothing (len 0) takes it away.
 */
void output_status(const char *line, size_t len);

/*
 * Write the text to a file, NULL: to standard output, and free it. The exit status; what goes
 * wrong is said on stderr, but for nobody reading any more.
 */
int output_write(struct text *text, const char *path);

/*
 * A command has ended with this exit status: its own, or that of a failure when something that it
 * has written to stdout did not get there, which is said on stderr; but not for nobody reading.
 */
int output_end(int status);

/* Whether text may be UTF-8, as the locale says. It opens files. */
bool output_is_utf8(void);

/*
 * A stream to a file, NULL: to standard output, that is to be closed. Who does not read a pipe or a
 * terminal does not hold it: once it is asked to end, writing fails with ECANCELED, and so does
 * this where it waits for someone who reads a FIFO; cancel may be NULL. NULL and errno on error.
 * Closing it fails with the first error that there was.
 */
FILE *output_open(const char *path, const struct cancel *cancel);
/* The same; *written, which stays, is how many bytes have come to where it goes by now. */
FILE *output_open_counted(const char *path, const struct cancel *cancel, uint64_t *written);
/* Of a file that keeps what is in it until output_again(). Writing to it is not to be given up. */
FILE *output_open_kept(const char *path, const struct cancel *cancel);
/* What is wanted of a stream. */
struct output_as {
	const struct cancel *cancel;
	/*
	 * Not NULL: writing is not given up when it is asked to end. This is called in place of
	 * that, from within the write, to cancel_take(), and the write goes on.
	 */
	void (*asked)(void *arg);
	void *arg;
	bool kept;	   /* a file keeps what is in it until output_again() */
	uint64_t *written; /* as that of output_open_counted() */
};
/* As output_open(). */
FILE *output_open_as(const char *path, const struct output_as *as);
/* To a file that is open, which it takes, also on error; of this one any place may be written. */
FILE *output_open_fd(int fd);
/* What was written to such a stream did not get into its file: it is empty again, else -errno. */
int output_again(FILE *f);

#endif
