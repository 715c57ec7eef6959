// SPDX-License-Identifier: GPL-2.0-or-later
/* file.c - a trace.dat file, event by event. */
#include "frontend/api/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hvtrace_file {
	struct dat *dat;
	struct formats *formats;
	struct records *records;
	struct hvtrace_event event;
};

/* Plugins are loaded once a process, and would print by settings of all of it. */
static int open_all(struct hvtrace_file *f, const char *path, char *err, size_t size)
{
	const struct formats_config plain = {.no_plugins = true};

	f->dat = dat_open(path, err, size);
	if (!f->dat)
		return -1;
	f->formats = formats_new(&plain);
	if (f->formats && api_formats_load(f->formats, dat_info(f->dat), err, size))
		return -1;
	f->records = f->formats ? records_open(f->dat, RECORDS_ALL) : NULL;
	if (f->records && !api_event_init(&f->event))
		return 0;
	snprintf(err, size, "%s: no memory", path);
	return -1;
}

struct hvtrace_file *hvtrace_file_open(const char *path, char *err, size_t size)
{
	struct hvtrace_file *f = calloc(1, sizeof(*f));
	char line[512] = "no memory";

	if (f && !open_all(f, path, line, sizeof(line)))
		return f;
	hvtrace_file_close(f);
	snprintf(err, size, "%s", line);
	return NULL;
}

void hvtrace_file_close(struct hvtrace_file *f)
{
	if (!f)
		return;
	api_event_exit(&f->event);
	if (f->records)
		records_close(f->records);
	formats_free(f->formats);
	dat_close(f->dat);
	free(f);
}

int hvtrace_file_next(struct hvtrace_file *f, const struct hvtrace_event **ev)
{
	const struct decode_event *next = records_next(f->records);

	*ev = NULL;
	if (!next)
		return records_error(f->records) ? -EIO : 0;
	api_event_set(&f->event, f->formats, f->dat, next);
	*ev = &f->event;
	return 1;
}

const char *hvtrace_file_error(const struct hvtrace_file *f)
{
	const char *error = records_error(f->records);

	return error ? error : "";
}

unsigned int hvtrace_file_vcpus(const struct hvtrace_file *f)
{
	unsigned int cpus = dat_info(f->dat)->cpus;

	/* Not all files tell. */
	for (size_t i = 0; i < dat_nr_buffers(f->dat); i++)
		if (dat_buffer(f->dat, i)->cpus > cpus)
			cpus = dat_buffer(f->dat, i)->cpus;
	return cpus;
}

const char *hvtrace_file_uname(const struct hvtrace_file *f)
{
	const char *uname = dat_info(f->dat)->uname;

	return uname ? uname : "";
}

const char *hvtrace_file_clock(const struct hvtrace_file *f)
{
	const char *clock = dat_info(f->dat)->clock;

	return clock ? clock : "";
}
