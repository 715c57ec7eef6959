// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - an object of JSON in a line for each event, as hvtrace report --json has it. */
#include "frontend/export/local.h"

#include "frontend/decode/print.h"

static void *json_begin(struct export *x)
{
	return x;
}

static void json_event(void *self, const struct decode_event *ev)
{
	struct export *x = self;
	const char *file = x->in->host.dat ? dat_info(x->in->dat)->name : NULL;

	print_json(x->in->dat, x->in->formats, file, ev, x->out);
}

static void json_host_event(void *self, const struct decode_event *ev)
{
	struct export *x = self;
	const struct export_file *host = &x->in->host;

	print_json(host->dat, host->formats, dat_info(host->dat)->name, ev, x->out);
}

static void json_end(void *self)
{
	(void)self;
}

const struct export_format export_json = {
	.name = "json",
	.about = "an object of JSON in a line for each event",
	.begin = json_begin,
	.event = json_event,
	.host_event = json_host_event,
	.end = json_end,
	.free = json_end,
};
