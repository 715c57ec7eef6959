// SPDX-License-Identifier: GPL-2.0-or-later
/* export.c - see export.h: the table of formats, and the way through the records. */
#include "frontend/export/local.h"

#include "frontend/decode/several.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct export_format *const formats[] = {
	&export_perfetto, &export_chrome, &export_perf,	      &export_ctf,   &export_csv,
	&export_json,	  &export_folded, &export_speedscope, &export_pprof, &export_html,
};

enum { NR_FORMATS = sizeof(formats) / sizeof(*formats) };

const struct export_format *export_find(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const char *export_name(unsigned int i)
{
	return i < NR_FORMATS ? formats[i]->name : NULL;
}

const char *export_about(unsigned int i)
{
	return i < NR_FORMATS ? formats[i]->about : NULL;
}

const char *export_missing(const struct export_format *format)
{
	return format->missing ? format->missing() : NULL;
}

bool export_is_binary(const struct export_format *format)
{
	return format->binary;
}

bool export_takes_host(const struct export_format *format)
{
	return format->host_event;
}

bool export_takes_several(const struct export_format *format)
{
	return format->several;
}

bool export_is_folder(const struct export_format *format)
{
	return format->folder;
}

/* Those of one vCPU may lie, and readers take what goes back for damage. */
static void put_right(struct export *x, struct decode_event *ev, uint64_t *last)
{
	if (ev->time < *last || ev->time > INT64_MAX) {
		x->result.late++;
		ev->time = ev->time < *last ? *last : INT64_MAX;
	}
	*last = ev->time;
}

static bool is_broken(const struct export *x)
{
	return x->failed || x->error || (x->out && ferror_unlocked(x->out));
}

/* A guest of those that are exported. */
struct guest {
	struct export x;
	void *self;
};

struct run {
	const struct export_format *format;
	struct guest *guest;
	size_t nr;
	struct several_file *file; /* the guests', and behind them their host's */
	size_t nr_files;
};

static bool is_any_broken(const struct run *r)
{
	for (size_t i = 0; i < r->nr; i++)
		if (is_broken(&r->guest[i].x))
			return true;
	return false;
}

/* All of them have it. */
static void host_event(const struct run *r, const struct decode_event *ev)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->guest[i].x.in->host.dat)
			r->format->host_event(r->guest[i].self, ev);
}

static void write_events(struct run *r)
{
	const struct several_file *f;
	uint64_t last = 0;

	while (!is_any_broken(r) && (f = several_next(r->file, r->nr_files))) {
		struct decode_event ev = *f->next;
		size_t i = (size_t)(f - r->file);
		struct guest *g = &r->guest[i < r->nr ? i : 0];

		g->x.result.events++;
		put_right(&g->x, &ev, &last);
		if (i < r->nr)
			r->format->event(g->self, &ev);
		else
			host_event(r, &ev);
	}
}

bool export_is_host(const struct dat *host, const struct dat *guest)
{
	struct dat_guest o;

	for (size_t n = 0; dat_guest(host, n, &o); n++)
		if (dat_guest_is(&o, guest))
			return true;
	return false;
}

static void find_files(struct run *r, const struct export_input *in)
{
	const struct export_file *host = NULL;

	for (size_t i = 0; i < r->nr; i++) {
		r->file[r->nr_files++] = (struct several_file){
			.dat = in[i].dat, .records = in[i].records, .formats = in[i].formats};
		if (in[i].host.records)
			host = &in[i].host;
	}
	if (host && r->format->host_event)
		r->file[r->nr_files++] = (struct several_file){
			.dat = host->dat, .records = host->records, .formats = host->formats};
}

static int begin_all(struct run *r, const struct export_input *in, FILE *out)
{
	for (size_t i = 0; i < r->nr; i++) {
		r->guest[i].x = (struct export){.in = &in[i], .out = out};
		r->guest[i].self = r->format->begin(&r->guest[i].x);
		if (!r->guest[i].self)
			return -ENOMEM;
	}
	return 0;
}

static void add_result(struct export_result *to, const struct export_result *r)
{
	to->events += r->events;
	to->unbegun += r->unbegun;
	to->unended += r->unended;
	to->late += r->late;
	to->left_out += r->left_out;
}

/* What has gone wrong with the first of them. */
static int end_all(struct run *r, bool begun, struct export_result *result)
{
	int rc = 0;

	for (size_t i = 0; i < r->nr && r->guest[i].self; i++) {
		struct guest *g = &r->guest[i];

		if (begun)
			r->format->end(g->self);
		r->format->free(g->self);
		add_result(result, &g->x.result);
		if (!rc)
			rc = g->x.failed ? -ENOMEM : g->x.error;
	}
	return rc;
}

int export_write_several(const struct export_format *format, const struct export_input *in,
			 size_t nr, FILE *out, struct export_result *result)
{
	struct run r = {
		.format = format,
		.guest = calloc(nr, sizeof(*r.guest)),
		.nr = nr,
		.file = calloc(nr + 1, sizeof(*r.file)),
	};
	int rc = r.guest && r.file ? begin_all(&r, in, out) : -ENOMEM, ended;

	*result = (struct export_result){0};
	if (!rc) {
		find_files(&r, in);
		write_events(&r);
	}
	ended = r.guest ? end_all(&r, !rc, result) : 0;
	if (!rc && out)
		fflush(out);
	free(r.guest);
	free(r.file);
	return rc ? rc : ended;
}

int export_write(const struct export_format *format, const struct export_input *in, FILE *out,
		 struct export_result *result)
{
	return export_write_several(format, in, 1, out, result);
}
