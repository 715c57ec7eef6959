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
	const char *file = x->in->host.dat || x->in->machine ? dat_title(x->in->dat) : NULL;

	print_json(x->in->dat, x->in->formats, file, ev, x->out);
}

static void json_host_event(void *self, const struct decode_event *ev)
{
	struct export *x = self;
	const struct export_file *host = &x->in->host;

	/* Once, whose host it may be. */
	if (x->in->machine <= 1)
		print_json(host->dat, host->formats, dat_title(host->dat), ev, x->out);
}

static void json_end(void *self)
{
	(void)self;
}

const struct export_format export_json = {
	.name = "json",
	.about = "an object of JSON in a line for each event",
	.several = true,
	.begin = json_begin,
	.event = json_event,
	.host_event = json_host_event,
	.end = json_end,
	.free = json_end,
};
