/* SPDX-License-Identifier: GPL-2.0-or-later */
/* one-event.h - a kernel with one trace event, made:made, which has a number. */
#ifndef HVTRACE_TESTS_ONE_EVENT_H
#define HVTRACE_TESTS_ONE_EVENT_H

#include "guestsym/guestsym.h"

static const struct guestsym_event_field one_event_fields[] = {
	{.type = "int",
	 .name = "value",
	 .offset = 8,
	 .size = 4,
	 .is_signed = true,
	 .kind = GUESTSYM_EVENT_NUMBER},
};

static const struct guestsym_event one_event = {
	.system = "made",
	.name = "made",
	.fields = one_event_fields,
	.nr_fields = 1,
	.print_fmt = "\"value=%d\", REC->value",
	.id = 400,
	.source = GUESTSYM_EVENT_PROBE,
	.syscall_nr = -1,
};
static const struct guestsym_event_list one_event_list = {.v = &one_event, .n = 1};

#endif
