// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * files-report.c - hvtrace/graph: the calls that are in the buffers, merged by function. Reading
 * takes nothing away. A time written to it, in nanoseconds of the trace clock, leaves out what was
 * recorded before; that is for what is read through the same open file.
 */
#include "frontend/report/calls.h"
#include "frontend/report/saved.h"
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LEN = 512, COMM_SIZE = 16, KNOWN_NR = 4096 };

struct report_file {
	uint64_t since;
	off_t start; /* where the text begins: what was written moves the position too */
};

/* Names of functions by address: of several with the same place the last one. */
struct known {
	uint64_t func;
	uint32_t name;
};

struct collecting {
	struct trace *trace;
	struct calltree *tree;
	struct calls *calls;
	struct known known[KNOWN_NR];
};

static uint32_t name_of(struct collecting *c, uint64_t func)
{
	struct known *k = &c->known[(func * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (KNOWN_NR - 1)];
	char name[NAME_LEN];

	if (k->func != func || !k->func) {
		size_t len = trace_function_name(c->trace, func, name, sizeof(name));

		*k = (struct known){func, calltree_name(c->tree, name, len)};
	}
	return k->name;
}

static void collect(void *arg, const struct instance_call *call)
{
	struct collecting *c = arg;
	char comm[COMM_SIZE + 1] = "";

	trace_task_name(c->trace, call->pid, comm);
	calls_event(c->calls, &(struct call_event){
				      .returns = call->returns,
				      .cpu = call->cpu,
				      .pid = call->pid < 0 ? CALLS_NO_PID : call->pid,
				      .depth = call->depth,
				      .name = name_of(c, call->func),
				      .ts = call->ts,
				      .ns = call->ns,
				      .comm = comm,
			      });
}

/* From when on nothing has been overwritten of any vCPU, of what is asked for. */
static uint64_t complete_since(struct instance *i, uint64_t since)
{
	uint64_t oldest = since ? instance_complete_since(i) : 0;

	return oldest > since ? oldest : since;
}

static int print_report(struct open_file *f, const struct report_file *rf)
{
	struct collecting *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (!c)
		return rc;
	c->trace = f->trace;
	c->tree = calltree_new();
	if (c->tree)
		c->calls = calls_new(c->tree, complete_since(f->instance, rf->since));
	if (c->calls) {
		c->tree->lost = instance_lost(f->instance);
		c->tree->cpus = trace_vcpus(f->trace);
		rc = instance_each_call(f->instance, collect, c);
		calls_end(c->calls);
		saved_print(c->tree, &f->text);
	}
	calltree_free(c->tree);
	free(c);
	return rc;
}

static int open_report(struct open_file *f)
{
	f->data = calloc(1, sizeof(struct report_file));
	return f->data ? 0 : -ENOMEM;
}

static void release_report(struct open_file *f)
{
	free(f->data);
}

static ssize_t read_report(struct open_file *f, char *buf, size_t len, off_t off)
{
	struct report_file *rf = f->data;

	if (!off || !f->shown) {
		int rc;

		text_free(&f->text);
		f->text = (struct text){0};
		rc = print_report(f, rf);
		if (rc)
			return rc;
		rf->start = off;
		f->shown = true;
	}
	return text_read(&f->text, buf, len, off - rf->start);
}

static int set_since(struct open_file *f, uint64_t since)
{
	((struct report_file *)f->data)->since = since;
	f->shown = false;
	return 0;
}

static const struct tracefs_file files[] = {
	{.path = "hvtrace/graph",
	 .what = "function_graph's calls, merged: hvtrace graph shows it",
	 .mode = 0640,
	 .open = open_report,
	 .release = release_report,
	 .read = read_report,
	 .set = set_since},
};

const struct tracefs_table tracefs_report_files = TRACEFS_TABLE("Reports", files);
