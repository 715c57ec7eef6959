// SPDX-License-Identifier: GPL-2.0-or-later
/* source-dat.c - the calls of function_graph in a trace.dat file, or in a recording. */
#include "frontend/cmd/source-dat.h"

#include "frontend/cmd/dat-choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/dat/dat.h"
#include "frontend/decode/formats.h"
#include "frontend/decode/records.h"
#include "frontend/lib/meter.h"
#include "frontend/report/calls.h"
#include "guestsym/guestsym.h"

enum { KNOWN_NR = 4096 };

/* Names of functions by address: of several with the same place the last one. */
struct known {
	uint64_t func;
	uint32_t name;
};

/* What is read of a record. */
struct graph_format {
	const struct tep_event *event; /* NULL: the file has none */
	const struct tep_format_field *func, *depth, *calltime, *rettime;
};

struct source_dat {
	const char *path;
	struct dat *dat;
	struct formats *formats;
	struct records *records;
	struct graph_format entry, exit;
	struct calltree *tree;
	struct calls *calls;
	uint64_t nr;
	struct known known[KNOWN_NR];
	char err[512];
};

bool source_dat_is_one(const char *path)
{
	char head[DAT_HEAD_LEN];
	struct stat st;
	int fd = guestsym_open_regular(path, &st);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (fd >= 0)
		close(fd);
	return n > 0 && dat_is_one(head, (size_t)n);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Nothing is parsed of formats that are of no use here. */
static int load_formats(struct source_dat *s)
{
	const struct formats_config plain = {.no_plugins = true};
	struct dat_info info = *dat_info(s->dat);
	struct dat_format few[2];
	size_t nr = 0;

	for (size_t i = 0; i < info.nr_formats && nr < 2; i++)
		if (!strcmp(info.formats[i].system, "ftrace") &&
		    !strncmp(info.formats[i].text.text, "name: funcgraph_", 16))
			few[nr++] = info.formats[i];
	info.formats = few;
	info.nr_formats = nr;
	s->formats = formats_new(&plain);
	if (s->formats)
		return formats_load(s->formats, &info, s->err, sizeof(s->err));
	snprintf(s->err, sizeof(s->err), "out of memory");
	return -ENOMEM;
}

static void find_format(struct source_dat *s, struct graph_format *f, const char *name)
{
	struct tep_event *e = tep_find_event_by_name(formats_tep(s->formats), "ftrace", name);

	if (!e)
		return;
	*f = (struct graph_format){
		.event = e,
		.func = tep_find_field(e, "func"),
		.depth = tep_find_field(e, "depth"),
		.calltime = tep_find_field(e, "calltime"),
		.rettime = tep_find_field(e, "rettime"),
	};
	if (!f->func || !f->depth)
		f->event = NULL;
}

static void put_word(const struct source_dat *s, enum dat_uname_word which, char *to, size_t size)
{
	size_t len;
	const char *word = dat_uname(dat_info(s->dat), which, &len);

	snprintf(to, size, "%.*s", word ? (int)len : 0, word ? word : "");
}

/* The top level's, where no instance is named. */
static bool choose(struct source_dat *s, const char *instance, size_t *buffer)
{
	if (!dat_nr_buffers(s->dat))
		snprintf(s->err, sizeof(s->err), "%s: it has no records", s->path);
	else if (dat_choice(s->dat, instance, buffer, s->err, sizeof(s->err)) &&
		 *buffer == RECORDS_ALL)
		*buffer = 0;
	return !*s->err;
}

static int open_all(struct source_dat *s, const char *instance)
{
	size_t buffer;

	s->dat = dat_open(s->path, s->err, sizeof(s->err));
	if (!s->dat || !choose(s, instance, &buffer) || load_formats(s))
		return -1;
	find_format(s, &s->entry, "funcgraph_entry");
	find_format(s, &s->exit, "funcgraph_exit");
	s->tree = calltree_new();
	s->records = records_open(s->dat, buffer);
	s->calls = s->tree ? calls_new(s->tree, 0) : NULL;
	if (s->records && s->calls) {
		s->tree->cpus = dat_buffer(s->dat, buffer)->nr_vcpus;
		put_word(s, DAT_UNAME_NODE, s->tree->guest, sizeof(s->tree->guest));
		put_word(s, DAT_UNAME_RELEASE, s->tree->release, sizeof(s->tree->release));
		return 0;
	}
	snprintf(s->err, sizeof(s->err), "out of memory");
	return -1;
}

/* --- records ---------------------------------------------------------------------------------- */

static uint32_t name_of(struct source_dat *s, uint64_t func)
{
	struct known *k = &s->known[(func * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (KNOWN_NR - 1)];
	const char *found;
	char hex[24];

	if (k->func == func && k->func)
		return k->name;
	found = tep_find_function(formats_tep(s->formats), func);
	if (!found)
		snprintf(hex, sizeof(hex), "0x%" PRIx64, func);
	*k = (struct known){
		func, calltree_name(s->tree, found ? found : hex, strlen(found ? found : hex))};
	return k->name;
}

static uint64_t number(const struct tep_format_field *field, const struct decode_event *ev)
{
	uint64_t n;

	return field && formats_number(field, ev, &n) ? n : 0;
}

static void see(struct source_dat *s, const struct decode_event *ev, const struct graph_format *f)
{
	const struct dat_info *info = dat_info(s->dat);
	uint64_t begin = number(f->calltime, ev), end = number(f->rettime, ev);
	uint64_t depth = number(f->depth, ev);

	s->nr++;
	calls_event(s->calls,
		    &(struct call_event){
			    .returns = f == &s->exit,
			    .cpu = ev->cpu,
			    .pid = ev->pid < 0 ? CALLS_NO_PID : ev->pid,
			    .depth = depth < INT16_MAX ? (int)depth : INT16_MAX,
			    .name = name_of(s, number(f->func, ev)),
			    .ts = dat_counts_ns(info) ? ev->time : 0,
			    .ns = end > begin ? end - begin : 0,
			    .comm = tep_data_comm_from_pid(formats_tep(s->formats), ev->pid),
		    });
}

static void show_progress(void *arg, const struct records_progress *p)
{
	meter_show(arg, p->done, p->all, p->nr);
}

static void see_all(struct source_dat *s)
{
	const struct decode_event *ev;
	struct meter meter;

	meter_begin(&meter, s->path, "records");
	records_watch(s->records, show_progress, &meter);
	while ((ev = records_next(s->records))) {
		if (ev->lost)
			s->tree->lost += ev->lost == DECODE_LOST_UNKNOWN ? 1 : ev->lost;
		if (s->entry.event && ev->id == s->entry.event->id)
			see(s, ev, &s->entry);
		else if (s->exit.event && ev->id == s->exit.event->id)
			see(s, ev, &s->exit);
	}
	meter_end(&meter);
}

/* Whether there is something to report of. */
static bool say_result(struct source_dat *s)
{
	const char *error = records_error(s->records);

	if (error)
		fprintf(stderr, "hvtrace: %s\n", error);
	if (records_damaged(s->records))
		fprintf(stderr, "hvtrace: %s: %" PRIu64 " of its pages are damaged, and left out\n",
			s->path, records_damaged(s->records));
	if (s->nr)
		return true;
	fprintf(stderr,
		"hvtrace: %s has no calls of function_graph: a report needs what -t function_graph -o FILE writes\n",
		s->path);
	return false;
}

static struct calltree *close_all(struct source_dat *s, bool good)
{
	struct calltree *t = s->tree;

	calls_end(s->calls);
	records_close(s->records);
	formats_free(s->formats);
	dat_close(s->dat);
	free(s);
	if (good)
		return t;
	calltree_free(t);
	return NULL;
}

struct calltree *source_dat_read(const char *path, const char *instance)
{
	struct source_dat *s = calloc(1, sizeof(*s));

	if (!s) {
		fprintf(stderr, "hvtrace: out of memory\n");
		return NULL;
	}
	s->path = path;
	if (open_all(s, instance)) {
		fprintf(stderr, "hvtrace: %s\n", s->err);
		return close_all(s, false);
	}
	see_all(s);
	return close_all(s, say_result(s));
}
