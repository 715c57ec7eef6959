// SPDX-License-Identifier: GPL-2.0-or-later
/* files-functions.c - which functions are traced. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* --- set_ftrace_filter and its like ------------------------------------------------------- */

struct filter_file {
	struct func_file *file;
	bool written;
};

static int open_filter(struct open_file *f, struct func_filter *filter, enum func_file_kind kind)
{
	struct filter_file *ff = calloc(1, sizeof(*ff));
	int rc;

	if (!ff)
		return -ENOMEM;
	rc = func_file_open(filter, kind, f->flags, &ff->file);
	if (rc) {
		free(ff);
		return rc;
	}
	f->data = ff;
	return 0;
}

static int open_ftrace_filter(struct open_file *f)
{
	return open_filter(f, instance_functions(f->instance), FUNC_FILTER);
}

static int open_ftrace_notrace(struct open_file *f)
{
	return open_filter(f, instance_functions(f->instance), FUNC_NOTRACE);
}

static int open_graph_function(struct open_file *f)
{
	return open_filter(f, instance_functions(f->instance), FUNC_GRAPH);
}

static int open_graph_notrace(struct open_file *f)
{
	return open_filter(f, instance_functions(f->instance), FUNC_GRAPH_NOTRACE);
}

static int open_stack_filter(struct open_file *f)
{
	return open_filter(f, trace_stack_functions(f->trace), FUNC_FILTER);
}

static void release_filter(struct open_file *f)
{
	struct filter_file *ff = f->data;

	if (opened_to_write(f))
		instance_close_functions(f->instance, ff->file);
	else
		func_file_close(ff->file);
	free(ff);
}

static void show_filter(struct open_file *f, struct text *out)
{
	func_file_print(((struct filter_file *)f->data)->file, out);
}

static ssize_t write_filter(struct open_file *f, const char *text, size_t len, off_t off)
{
	struct filter_file *ff = f->data;

	/* The offset of an appending write is where the file ends, which says nothing here. */
	if (ff->written && !off && !(f->flags & O_APPEND))
		func_file_rewind(ff->file);
	ff->written = true;
	return instance_write_functions(f->instance, ff->file, text, len);
}

/* --- max_graph_depth ---------------------------------------------------------------------- */

static void show_depth(struct open_file *f, struct text *out)
{
	text_printf(out, "%d\n", (int)trace_graph_depth(f->trace));
}

static int set_depth(struct open_file *f, uint64_t depth)
{
	trace_set_graph_depth(f->trace, (unsigned int)depth);
	return 0;
}

/* --- lists -------------------------------------------------------------------------------- */

static void show_functions(struct open_file *f, struct text *out)
{
	trace_print_functions(f->trace, false, out);
}

static void show_addresses(struct open_file *f, struct text *out)
{
	trace_print_functions(f->trace, true, out);
}

static void show_enabled(struct open_file *f, struct text *out)
{
	trace_print_enabled(f->trace, out);
}

static void show_touched(struct open_file *f, struct text *out)
{
	trace_print_touched(f->trace, out);
}

static void show_total_info(struct open_file *f, struct text *out)
{
	trace_print_total_info(f->trace, out);
}

static const struct tracefs_file files[] = {
	{.path = "available_filter_functions",
	 .what = "all that can be traced",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_functions},
	{.path = "available_filter_functions_addrs",
	 .what = "the same with their addresses",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_addresses},
	{.path = "dyn_ftrace_total_info",
	 .what = "how many that are",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_total_info},
	{.path = "enabled_functions",
	 .what = "what has a probe now, and how many there are for it",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_enabled},
	{.path = "max_graph_depth",
	 .what = "function_graph: no calls that are deeper; 0: all",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_depth,
	 .set = set_depth},
	{.path = "set_ftrace_filter",
	 .what = "only these; none means all. Names, globs (* ? [a-z]), numbers in\navailable_filter_functions; !NAME takes one out; NAME:mod:MODULE; and\nFUNCTION:COMMAND[:COUNT] (below)",
	 .mode = 0640,
	 .open = open_ftrace_filter,
	 .release = release_filter,
	 .show = show_filter,
	 .write = write_filter},
	{.path = "set_ftrace_notrace",
	 .what = "not these",
	 .mode = 0640,
	 .open = open_ftrace_notrace,
	 .release = release_filter,
	 .show = show_filter,
	 .write = write_filter},
	{.path = "touched_functions",
	 .what = "what has or had one, as the guest's kernel tells it",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .there = trace_has_touched,
	 .show = show_touched},
	{.path = "set_graph_function",
	 .what = "function_graph: these and what they call",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .open = open_graph_function,
	 .release = release_filter,
	 .show = show_filter,
	 .write = write_filter},
	{.path = "set_graph_notrace",
	 .what = "function_graph: not these, nor what they call",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .open = open_graph_notrace,
	 .release = release_filter,
	 .show = show_filter,
	 .write = write_filter},
	{.path = "stack_trace_filter",
	 .what = "stack_tracer_enabled: only where one of these is called",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .open = open_stack_filter,
	 .release = release_filter,
	 .show = show_filter,
	 .write = write_filter},
};

const struct tracefs_table tracefs_function_files = TRACEFS_TABLE("Which functions", files);
