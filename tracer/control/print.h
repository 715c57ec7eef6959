/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print.h - the top level's buffers as text, in one of several forms. */
#ifndef HVTRACE_TRACER_CONTROL_PRINT_H
#define HVTRACE_TRACER_CONTROL_PRINT_H

#include <stdio.h>

struct trace;

/*
 * Print the buffers as the kernel's `trace` file reads. The guest may be running. 0 or -errno of
 * the stream.
 */
int trace_print(struct trace *t, FILE *out);
/* The same in another form, by its name; -EINVAL: there is none of that name. */
int trace_print_as(struct trace *t, const char *form, FILE *out);

/* Row i of the table of forms, NULL past the last; tracer: the only one whose records it can print,
 * or NULL. */
const char *trace_form_name(unsigned int i, const char **desc, const char **tracer);

#endif
