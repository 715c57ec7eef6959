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

	print_json(x->in->dat, x->in->formats, NULL, ev, x->out);
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
	.end = json_end,
	.free = json_end,
};
