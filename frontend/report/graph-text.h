/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph-text.h - reads what the tracer function_graph prints, hvtrace's or a kernel's, with
 * whatever columns.
 *
 * The task of a line is told by its column, or by where tasks change; a brace without a name closes
 * what its task has open at that depth.
 */
#ifndef HVTRACE_FRONTEND_REPORT_GRAPH_TEXT_H
#define HVTRACE_FRONTEND_REPORT_GRAPH_TEXT_H

#include "frontend/report/calltree.h"

struct graph_text_result {
	uint64_t calls;	  /* entries and returns that were read */
	uint64_t unknown; /* lines that are none of it */
	bool has_cpus;	  /* there is a column that tells the CPU */
};

/* Text that comes from anywhere. 0, or -ENOMEM. */
int graph_text_read(struct calltree *t, const char *text, size_t len,
		    struct graph_text_result *result);

#endif
