/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command-lines.h - what is written to a file that takes a command on each line. */
#ifndef HVTRACE_TRACER_LIB_COMMAND_LINES_H
#define HVTRACE_TRACER_LIB_COMMAND_LINES_H

#include <stddef.h>
#include <sys/types.h>

/*
 * As trace_parse_run_command() (kernel/trace/trace.c, 6.1): each line without its end and what is
 * behind a #; those before one that fails are done. len or -errno.
 */
ssize_t command_lines_run(const char *text, size_t len, int (*run)(void *arg, char *line),
			  void *arg);

#endif
