// SPDX-License-Identifier: GPL-2.0-or-later
/* files-pids.c - which tasks are traced: by the tracer (set_ftrace_pid), by events (set_event_pid).
 */
#include "frontend/tracefs/internal.h"

/* Which filter a row is about, and which of its two lists. */
struct pid_row {
	struct pid_filter *(*filter)(struct instance *i);
	enum pid_filter_file file;
};

static const struct pid_row *row_of(const struct open_file *f)
{
	return f->file->arg;
}

static struct pid_filter *filter_of(const struct open_file *f)
{
	return row_of(f)->filter(f->instance);
}

static int open_pids(struct open_file *f)
{
	if (opened_to_truncate(f))
		pid_filter_truncate(filter_of(f), row_of(f)->file);
	return 0;
}

static void show_pids(struct open_file *f, struct text *out)
{
	pid_filter_print(filter_of(f), row_of(f)->file, out);
}

static ssize_t write_pids(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	return pid_filter_write(filter_of(f), row_of(f)->file, text, len);
}

static const struct pid_row event_pids = {instance_event_pids, PID_FILTER_TRACE},
			    event_notrace_pids = {instance_event_pids, PID_FILTER_NOTRACE},
			    ftrace_pids = {instance_pids, PID_FILTER_TRACE},
			    ftrace_notrace_pids = {instance_pids, PID_FILTER_NOTRACE};

#define PIDS(what)                                                                                 \
	.mode = 0640, .arg = &(what), .open = open_pids, .show = show_pids, .write = write_pids

static const struct tracefs_file files[] = {
	{.path = "set_event_notrace_pid",
	 .what = "events: not of these tasks",
	 .flags = TRACEFS_EVENTS,
	 PIDS(event_notrace_pids)},
	{.path = "set_event_pid",
	 .what = "events: only of these tasks",
	 .flags = TRACEFS_EVENTS,
	 PIDS(event_pids)},
	{.path = "set_ftrace_notrace_pid",
	 .what = "functions: not of these tasks",
	 PIDS(ftrace_notrace_pids)},
	{.path = "set_ftrace_pid", .what = "functions: only of these tasks", PIDS(ftrace_pids)},
};

const struct tracefs_table tracefs_pid_files = TRACEFS_TABLE("Which tasks", files);
