// SPDX-License-Identifier: GPL-2.0-or-later
/* files-options.c - trace_options and options/. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OPTION_TEXT_MAX 64

/* An option of every trace, or of a tracer. */
struct option {
	const char *tracer; /* NULL: of every trace */
	const struct output_option_row *row;
};

/* Number n of those of every trace and then of all tracers. False: past the last. */
static bool option_at(unsigned int n, struct option *o)
{
	const struct output_options *options = trace_option_rows();

	o->tracer = NULL;
	for (unsigned int t = 0; n >= options->nr; t++) {
		n -= (unsigned int)options->nr;
		o->tracer = trace_tracer_name(t, NULL);
		if (!o->tracer)
			return false;
		options = tracer_option_rows(o->tracer);
	}
	o->row = &options->row[n];
	return true;
}

static bool option_name(bool top, unsigned int n, char *name, size_t len)
{
	struct option o;

	if (!option_at(n, &o))
		return false;
	if (!top && (o.tracer ? trace_tracer_is_top(o.tracer) : o.row->flag & OUTPUT_TOP_LEVEL))
		*name = '\0';
	else
		snprintf(name, len, "%s", o.row->name);
	return true;
}

static uint32_t option_flags(struct open_file *f, const struct option *o)
{
	return o->tracer ? instance_tracer_options(f->instance, o->tracer)
			 : instance_options(f->instance);
}

static void show_option(struct open_file *f, struct text *out)
{
	struct option o;

	if (option_at(f->number, &o))
		text_puts(out, option_flags(f, &o) & o.row->flag ? "1\n" : "0\n");
}

static int set_option(struct open_file *f, uint64_t value)
{
	struct option o;

	if (value > 1 || !option_at(f->number, &o))
		return -EINVAL;
	/* What it is already nobody is asked about: a tracer may refuse. */
	if (!(option_flags(f, &o) & o.row->flag) == !value)
		return 0;
	if (o.tracer)
		return instance_set_tracer_option(f->instance, o.tracer, o.row->flag, value);
	return instance_set_option(f->instance, o.row->flag, value);
}

static bool has_branch_option(const struct trace *t)
{
	return trace_branch_option_rows(t)->nr;
}

static void show_branch_option(struct open_file *f, struct text *out)
{
	text_puts(out, instance_options(f->instance) & OUTPUT_BRANCH ? "1\n" : "0\n");
}

static int set_branch_option(struct open_file *f, uint64_t value)
{
	if (value > 1)
		return -EINVAL;
	if (!(instance_options(f->instance) & OUTPUT_BRANCH) == !value)
		return 0;
	return instance_set_option(f->instance, OUTPUT_BRANCH, value);
}

static void show_flags(const struct output_options *options, uint32_t flags, struct text *out)
{
	for (size_t i = 0; i < options->nr; i++)
		text_printf(out, "%s%s\n", flags & options->row[i].flag ? "" : "no",
			    options->row[i].name);
}

static void show_options(struct open_file *f, struct text *out)
{
	const char *tracer = instance_tracer(f->instance);

	show_flags(trace_option_rows(), instance_options(f->instance), out);
	show_flags(trace_branch_option_rows(f->trace), instance_options(f->instance), out);
	show_flags(tracer_option_rows(tracer), instance_tracer_options(f->instance, tracer), out);
}

static uint32_t flag_named(const struct output_options *options, const char *name)
{
	for (size_t i = 0; i < options->nr; i++)
		if (!strcmp(options->row[i].name, name))
			return options->row[i].flag;
	return 0;
}

static int set_named(struct open_file *f, const char *name)
{
	const char *tracer = instance_tracer(f->instance);
	bool on = strncmp(name, "no", 2);
	uint32_t flag;

	name += on ? 0 : 2;
	flag = flag_named(trace_option_rows(), name);
	if (!flag)
		flag = flag_named(trace_branch_option_rows(f->trace), name);
	if (flag)
		return instance_set_option(f->instance, flag, on);
	flag = flag_named(tracer_option_rows(tracer), name);
	return flag ? instance_set_tracer_option(f->instance, tracer, flag, on) : -EINVAL;
}

static ssize_t write_options(struct open_file *f, const char *text, size_t len, off_t off)
{
	char name[OPTION_TEXT_MAX];
	int rc;

	(void)off;
	if (len >= sizeof(name))
		return -EINVAL;
	copy_stripped(name, sizeof(name), text, len);
	rc = set_named(f, name);
	return rc ? rc : (ssize_t)len;
}

static const struct tracefs_file files[] = {
	{.path = "trace_options",
	 .what = "NAME or noNAME",
	 .mode = 0640,
	 .show = show_options,
	 .write = write_options},
	{.path = "options/branch",
	 .mode = 0640,
	 .there = has_branch_option,
	 .show = show_branch_option,
	 .set = set_branch_option},
	{.path = "options/%s",
	 .what = "1 or 0, of each",
	 .mode = 0640,
	 .name = option_name,
	 .show = show_option,
	 .set = set_option},
};

const struct tracefs_table tracefs_option_files = TRACEFS_TABLE("Options", files);
