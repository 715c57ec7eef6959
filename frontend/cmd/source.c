// SPDX-License-Identifier: GPL-2.0-or-later
/* source.c - see source.h */
#include "frontend/cmd/source-dat.h"
#include "frontend/cmd/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/cmd/missing.h"
#include "frontend/control/client.h"
#include "frontend/lib/file.h"
#include "frontend/report/graph-text.h"
#include "frontend/report/saved.h"

enum { KIND_LEN = 64, TRACER_PATH_LEN = 256 };

static void *no_memory(void)
{
	fprintf(stderr, "hvtrace: out of memory\n");
	return NULL;
}

bool source_is_empty(const struct calltree *t)
{
	return t->node[CALLTREE_ROOT].child == CALLTREE_NONE;
}

static void say_full(const struct calltree *t)
{
	if (t->full)
		fprintf(stderr, "hvtrace: there are too many different calls: not all are here\n");
}

/* --- a trace under way -------------------------------------------------------------------- */

struct live {
	struct control_client *client;
	char path[256];
};

struct live *live_open(const struct report_options *opt)
{
	struct live *l = calloc(1, sizeof(*l));
	int n;

	if (!l)
		return no_memory();
	if (opt->instance)
		n = snprintf(l->path, sizeof(l->path), "instances/%s/hvtrace/graph", opt->instance);
	else
		n = snprintf(l->path, sizeof(l->path), "hvtrace/graph");
	if (n < (int)sizeof(l->path))
		l->client = connect_to_trace(opt->guest, -1);
	else
		fprintf(stderr, "hvtrace: no instance %s: the name is too long\n", opt->instance);
	if (l->client)
		return l;
	free(l);
	return NULL;
}

void live_close(struct live *l)
{
	if (l)
		control_client_free(l->client);
	free(l);
}

static int read_text(struct live *l, uint64_t since, struct text *text)
{
	char number[24];
	const char *data;
	ssize_t n;
	int rc = control_open(l->client, l->path, since ? O_RDWR : O_RDONLY);

	if (rc < 0)
		return rc;
	if (since) {
		snprintf(number, sizeof(number), "%" PRIu64 "\n", since);
		n = control_write(l->client, number, strlen(number));
		if (n < 0)
			return (int)n;
	}
	while ((n = control_read(l->client, &data)) > 0)
		text_add(text, data, (size_t)n);
	rc = control_close(l->client);
	if (n < 0 || rc)
		return n < 0 ? (int)n : rc;
	return text->failed ? -ENOMEM : 0;
}

int live_read(struct live *l, uint64_t since, struct calltree **t)
{
	struct text text = {0};
	unsigned int line;
	int rc;

	*t = calltree_new();
	rc = *t ? read_text(l, since, &text) : -ENOMEM;
	if (!rc)
		rc = saved_read(*t, text.buf, text.len, &line) ? -EPROTO : 0;
	text_free(&text);
	if (!rc)
		return 0;
	calltree_free(*t);
	*t = NULL;
	return rc;
}

void live_complain(const struct live *l, int error)
{
	const struct trace_reader reader = connect_reader(l->client);
	char hint[512] = "";

	if (error == -ENOENT)
		suggest_file(&reader, l->path, hint, sizeof(hint));
	fprintf(stderr, "hvtrace: cannot read %s of the trace: %s%s\n", l->path,
		control_strerror(error), hint);
}

static const char *tracer_path(const struct report_options *opt, char path[TRACER_PATH_LEN])
{
	snprintf(path, TRACER_PATH_LEN, "%s%s%scurrent_tracer", opt->instance ? "instances/" : "",
		 opt->instance ? opt->instance : "", opt->instance ? "/" : "");
	return path;
}

bool live_has_calls(struct live *l, const struct report_options *opt)
{
	char option[CONNECT_OPTION_LEN], path[TRACER_PATH_LEN];
	struct text tracer = {0};
	bool has = true;

	if (!control_read_all(l->client, tracer_path(opt, path), &tracer)) {
		tracer.buf[strcspn(tracer.buf, "\n")] = '\0';
		has = !strcmp(tracer.buf, "function_graph");
	}
	if (!has)
		fprintf(stderr,
			"hvtrace: the tracer is %s, which records no durations of calls: hvtrace set %s%s function_graph\n",
			tracer.buf, connect_option(opt->guest, option), path);
	text_free(&tracer);
	return has;
}

static struct calltree *read_live(const struct report_options *opt)
{
	char option[CONNECT_OPTION_LEN], path[TRACER_PATH_LEN];
	struct live *l = live_open(opt);
	struct calltree *t = NULL;
	int rc = l ? live_read(l, 0, &t) : 0;

	if (rc)
		live_complain(l, rc);
	live_close(l);
	if (!t)
		return NULL;
	say_full(t);
	if (!source_is_empty(t))
		return t;
	fprintf(stderr,
		"hvtrace: no calls of function_graph are in the buffers; to record some: hvtrace set %s%s function_graph\n",
		connect_option(opt->guest, option), tracer_path(opt, path));
	calltree_free(t);
	return NULL;
}

/* --- a file ------------------------------------------------------------------------------- */

static bool begins(const struct file_bytes *f, const char *with)
{
	return f->len >= strlen(with) && !memcmp(f->data, with, strlen(with));
}

/* What it is, when it is something else. */
static const char *other_kind(const struct file_bytes *f, char what[KIND_LEN])
{
	static const char tracer[] = "# tracer: ";
	const char *name = (const char *)f->data + sizeof(tracer) - 1;
	size_t len = 0;

	if (begins(f, "Entry Delta PID"))
		return "in the form kft; reports need the form trace";
	if (!begins(f, tracer) || begins(f, "# tracer: function_graph"))
		return NULL;
	while (len < 32 && sizeof(tracer) - 1 + len < f->len && name[len] > ' ' && name[len] < 0x7f)
		len++;
	snprintf(what, KIND_LEN, "of the tracer %.*s", (int)len, name);
	return what;
}

static bool say_result(const char *path, const struct file_bytes *f,
		       const struct graph_text_result *r)
{
	char what[KIND_LEN];
	const char *kind = other_kind(f, what);

	if (!r->calls) {
		if (kind)
			fprintf(stderr,
				"hvtrace: %s is %s: no report can be made of it, only of function_graph's text\n",
				path, kind);
		else
			fprintf(stderr,
				"hvtrace: %s has no calls of function_graph: a report needs what -t function_graph -o FILE writes\n",
				path);
		return false;
	}
	if (r->unknown)
		fprintf(stderr, "hvtrace: %s: %" PRIu64 " lines are not understood, and left out\n",
			path, r->unknown);
	if (!r->has_cpus)
		fprintf(stderr,
			"hvtrace: %s does not say which CPU lines are of: they are taken for those of one\n",
			path);
	return true;
}

static bool parse_file(struct calltree *t, const char *path, const struct file_bytes *f)
{
	struct graph_text_result result;
	unsigned int line;

	if (!saved_is(f->data, f->len)) {
		if (graph_text_read(t, f->data, f->len, &result))
			return no_memory() != NULL;
		return say_result(path, f, &result);
	}
	if (!saved_read(t, f->data, f->len, &line))
		return true;
	fprintf(stderr, "hvtrace: %s: line %u makes no sense\n", path, line);
	return false;
}

static struct calltree *read_file(const char *path)
{
	struct calltree *t;
	struct file_bytes f;
	int rc = file_read(&f, path);

	if (rc) {
		fprintf(stderr, "hvtrace: cannot read %s: %s\n", path, file_strerror(rc));
		return NULL;
	}
	t = calltree_new();
	if (!t)
		no_memory();
	if (t && !parse_file(t, path, &f)) {
		calltree_free(t);
		t = NULL;
	}
	file_free(&f);
	if (t)
		say_full(t);
	return t;
}

bool report_options_check(const struct report_options *opt)
{
	if (opt->tasks && opt->names) {
		fprintf(stderr, "hvtrace: --tasks and --names: it is one of them\n");
		return false;
	}
	for (size_t i = 0; i < opt->pids.nr; i++) {
		const char *pid = opt->pids.values[i];

		if (*pid && strspn(pid, "0123456789") == strlen(pid))
			continue;
		fprintf(stderr, "hvtrace: --pid %s: not the number of a task\n", pid);
		return false;
	}
	return true;
}

struct calltree *source_read(const struct report_options *opt)
{
	struct calltree *t;

	if (!opt->file || !source_dat_is_one(opt->file))
		return opt->file ? read_file(opt->file) : read_live(opt);
	t = source_dat_read(opt->file, opt->instance);
	if (t)
		say_full(t);
	return t;
}

/* --- selection ---------------------------------------------------------------------------- */

struct calltree *source_tasks(struct calltree *t, const struct report_options *opt)
{
	const struct select_tasks sel = {
		.pid = opt->pids.values,
		.nr = opt->pids.nr,
		.no_idle = opt->no_idle,
		.apart = opt->tasks || opt->names,
		.by_name = opt->names,
	};
	struct calltree *tasks = select_tasks(t, &sel);

	calltree_free(t);
	return tasks ? tasks : no_memory();
}

struct calltree *source_select(struct calltree *t, const struct report_options *opt)
{
	struct calltree *tasks = source_tasks(t, opt), *rooted;

	if (!tasks)
		return NULL;
	if (source_is_empty(tasks)) {
		fprintf(stderr, "hvtrace: no calls of these tasks are in the trace\n");
		calltree_free(tasks);
		return NULL;
	}
	if (!opt->root)
		return tasks;
	rooted = select_root(tasks, opt->root);
	if (rooted && source_is_empty(rooted)) {
		missing_say(opt, tasks, opt->root);
		calltree_free(rooted);
		rooted = NULL;
	} else if (!rooted) {
		no_memory();
	}
	calltree_free(tasks);
	return rooted;
}
