// SPDX-License-Identifier: GPL-2.0-or-later
/* export.c - see export.h: the table of formats, and the way through the records. */
#include "frontend/export/local.h"

#include <errno.h>
#include <string.h>

static const struct export_format *const formats[] = {
	&export_perfetto, &export_chrome,     &export_csv,   &export_json,
	&export_folded,	  &export_speedscope, &export_pprof, &export_html,
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

/* Those of one vCPU may lie, and readers take what goes back for damage. */
static void put_right(struct export *x, struct decode_event *ev, uint64_t *last)
{
	if (ev->time < *last || ev->time > INT64_MAX) {
		x->result.late++;
		ev->time = ev->time < *last ? *last : INT64_MAX;
	}
	*last = ev->time;
}

static void write_events(struct export *x, const struct export_format *format, void *self)
{
	const struct decode_event *next;
	uint64_t last = 0;

	while (!ferror_unlocked(x->out) && !x->failed && (next = records_next(x->in->records))) {
		struct decode_event ev = *next;

		x->result.events++;
		put_right(x, &ev, &last);
		format->event(self, &ev);
	}
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
	fflush(out);
	*result = x.result;
	return x.failed ? -ENOMEM : 0;
}
