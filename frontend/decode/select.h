/* SPDX-License-Identifier: GPL-2.0-or-later */
/* select.h - which events of a trace.dat file are wanted. */
#ifndef HVTRACE_FRONTEND_DECODE_SELECT_H
#define HVTRACE_FRONTEND_DECODE_SELECT_H

#include "frontend/decode/formats.h"

/* What is not given selects nothing out: all zero wants everything. Lists are of texts. */
struct select_list {
	const char *const *values;
	size_t nr;
};

struct select_config {
	bool has_from, has_to;
	uint64_t from, to; /* times, both included */
	const char *cpus;  /* "0,2-3"; NULL: all */
	struct select_list pids;
	struct select_list comms;  /* names of tasks, or globs */
	struct select_list events; /* "EVENT", "SYSTEM:EVENT" or "SYSTEM:", or globs of them */
	/*
	 * NULL, or for each of events: becomes true if the file knows one. What it does not know is
	 * no mistake then, as another file may.
	 */
	bool *known;
	struct select_list functions; /* names, or globs, of events of the function tracers */
	struct select_list filters;   /* as libtraceevent has them: "SYSTEM/EVENT:FIELD==VALUE" */
};

/*
 * NULL on error, with one line in err: what is no such list, or matches nothing that the file has.
 * An event that events or functions match is wanted, if all else wants it, too. A kernel_stack is
 * wanted where the event before it on its vCPU was.
 */
struct select *select_new(const struct select_config *cfg, struct dat *d, struct formats *f,
			  char *err, size_t errlen);
void select_free(struct select *s); /* NULL is allowed */
/* For records_select(), with a struct select. */
bool select_wants(void *select, const struct decode_event *ev);
/* Whether any was wanted yet. */
bool select_found(const struct select *s);

#endif
