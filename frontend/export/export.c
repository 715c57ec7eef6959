// SPDX-License-Identifier: GPL-2.0-or-later
/* export.c - see export.h: the table of formats, and the way through the records. */
#include "frontend/export/local.h"

#include "frontend/decode/several.h"

#include <errno.h>
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

static void write_events(struct export *x, const struct export_format *format, void *self)
{
	const struct export_input *in = x->in;
	struct several_file files[] = {
		{.dat = in->dat, .records = in->records, .formats = in->formats},
		{.dat = in->host.dat, .records = in->host.records, .formats = in->host.formats},
	};
	void (*host_event)(void *, const struct decode_event *) =
		in->host.records ? format->host_event : NULL;
	const size_t nr = host_event ? 2 : 1;
	const struct several_file *f;
	uint64_t last = 0;

	while (!is_broken(x) && (f = several_next(files, nr))) {
		struct decode_event ev = *f->next;

		x->result.events++;
		put_right(x, &ev, &last);
		if (f != files && host_event)
			host_event(self, &ev);
		else
			format->event(self, &ev);
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

int export_write(const struct export_format *format, const struct export_input *in, FILE *out,
		 struct export_result *result)
{
	struct export x = {.in = in, .out = out};
	void *self = format->begin(&x);

	if (!self)
		return -ENOMEM;
	write_events(&x, format, self);
	format->end(self);
	format->free(self);
	if (out)
		fflush(out);
	*result = x.result;
	return x.failed ? -ENOMEM : x.error;
}
