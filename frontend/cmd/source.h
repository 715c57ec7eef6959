/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - where the calls of a report come from: a trace of this user that is under way, or a
 * file. What goes wrong is said in one line on stderr, and gives NULL.
 */
#ifndef HVTRACE_FRONTEND_CMD_SOURCE_H
#define HVTRACE_FRONTEND_CMD_SOURCE_H

#include "frontend/report/select.h"
#include "frontend/session/connect.h"

struct report_options {
	const char *guest, *instance, *root;
	struct option_list pids;
	bool tasks, names, no_idle;
	const char *file; /* NULL: the trace under way */
};

/* What all reports know. */
#define REPORT_OPTION_ROWS(opt)                                                                    \
	CONNECT_OPTION_ROW(&(opt)->guest),                                                         \
		OPT_STRING_OF("instance", 'I', "instance", &(opt)->instance, "NAME",               \
			      "an instance of that trace, or of a trace.dat (default: its top "    \
			      "level)"),                                                           \
		OPT_LIST('p', "pid", &(opt)->pids, "PID",                                          \
			 "only this task, a thread as the trace shows it (repeatable)"),           \
		OPT_FLAG(0, "no-idle", &(opt)->no_idle, "without the idle tasks, pid 0")

/* A trace under way, to be read more than once. */
struct live;

struct live *live_open(const struct report_options *opt);
void live_close(struct live *l); /* NULL is allowed */
/*
 * What is in its buffers, without what is older than `since` (ns of its clock). 0, or -errno: this
 * one says nothing, live_complain() does then.
 */
int live_read(struct live *l, uint64_t since, struct calltree **t);
void live_complain(const struct live *l, int error);

/* Whether its tracer is function_graph; else a line says how it is chosen. */
bool live_has_calls(struct live *l, const struct report_options *opt);

/* Whether the pids are numbers; else one line says which is none. */
bool report_options_check(const struct report_options *opt);
bool source_is_empty(const struct calltree *t);
/* All of it, before any selection. */
struct calltree *source_read(const struct report_options *opt);
/* Of t, which is freed, the tasks that are asked for, which may be none. */
struct calltree *source_tasks(struct calltree *t, const struct report_options *opt);
/* The same from a function on, if one is asked for. Nothing is an error here. */
struct calltree *source_select(struct calltree *t, const struct report_options *opt);

#endif
