/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event-format.h - the text of the format files in events/, which tools parse records by. */
#ifndef HVTRACE_TRACER_EVENT_FORMAT_H
#define HVTRACE_TRACER_EVENT_FORMAT_H

#include "tracer/event-data.h"
#include "tracer/text.h"

/* What the kernel's own format file of the event has. */
void event_format_print(struct text *t, const struct event_format *format);

#endif
