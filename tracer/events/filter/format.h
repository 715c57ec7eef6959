/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format.h - the text of the format files in events/, which tools parse records by. */
#ifndef HVTRACE_TRACER_EVENTS_FILTER_FORMAT_H
#define HVTRACE_TRACER_EVENTS_FILTER_FORMAT_H

#include "tracer/events/filter/data.h"
#include "tracer/lib/text.h"

/* What the kernel's own format file of the event has. */
void event_format_print(struct text *t, const struct event_format *format);

#endif
