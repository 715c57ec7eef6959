// SPDX-License-Identifier: GPL-2.0-or-later
/* error.c - what is wrong with a histogram, for error_log. */
#include "tracer/events/hist/internal.h"
#include "tracer/lib/error-log.h"

int hist_error(const struct hist_source *src, const char *what, const char *part, int error)
{
	const struct event_trigger_owner *owner = src->at->owner;
	const struct guestsym_event *event = src->where->format.event;
	struct text where = {0};

	text_printf(&where, "hist:%s:%s", event->system, event->name);
	text_putc(&where, '\0');
	if (!where.failed)
		owner->error(owner->arg, where.buf, what, src->command,
			     part ? error_log_pos(src->command, part) : 0);
	text_free(&where);
	return error;
}
