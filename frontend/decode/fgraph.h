/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fgraph.h - how events of the function tracers are printed: libtraceevent leaves those of
 * function_graph to who reads the records, since a call that calls nothing is one line for two.
 */
#ifndef HVTRACE_FRONTEND_DECODE_FGRAPH_H
#define HVTRACE_FRONTEND_DECODE_FGRAPH_H

#include "frontend/decode/formats.h"

struct fgraph {
	struct formats *formats;
	struct records *events;		/* what follows is looked for, and taken, there */
	const struct decode_event *now; /* that is printed */
	bool tail;			/* name the function where it ends */
	bool depth;			/* tell the depth of each */
	/* What follows is fgraph_register()'s. */
	int exit_id;
	const struct tep_format_field *entry_func, *entry_depth;
	const struct tep_format_field *exit_func, *exit_depth, *exit_calltime, *exit_rettime;
};

/* From now on formats print such events so; until fgraph_unregister() g stays where it is. */
void fgraph_register(struct fgraph *g);
void fgraph_unregister(struct fgraph *g); /* nothing if they do not */

#endif
