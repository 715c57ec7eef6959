/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved.h - a call tree as text: the file hvtrace/graph of a trace under way.
 *
 *	# hvtrace graph 1
 *	# from 4577981000 until 4689364000 lost 0 cpus 2 time cpu-time
 *	# depth calls begun total self max cpu function
 *	0 cat-111
 *	1 3 0 81234 8123 40210 81234 do_syscall_64
 *
 * Depth 0 are tasks; what a function calls stands below it, one deeper. Times are nanoseconds.
 */
#ifndef HVTRACE_FRONTEND_REPORT_SAVED_H
#define HVTRACE_FRONTEND_REPORT_SAVED_H

#include "frontend/report/calltree.h"
#include "tracer/tracer.h"

void saved_print(const struct calltree *t, struct text *out);
bool saved_is(const char *text, size_t len);
/* 0, -EINVAL when it is not that; *line says where. */
int saved_read(struct calltree *t, const char *text, size_t len, unsigned int *line);

#endif
