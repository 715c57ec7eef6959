// SPDX-License-Identifier: GPL-2.0-or-later
/* format.c - as f_show() of kernel/trace/trace_events.c. */
#include "tracer/events/filter/format.h"

/* The brackets of an array go behind its name, those of a __data_loc stay where they are. */
static void print_field(struct text *t, const struct guestsym_event_field *f)
{
	const char *bracket = strchr(f->type, '[');

	if (!bracket || !strncmp(f->type, "__data_loc", strlen("__data_loc")))
		bracket = f->type + strlen(f->type);
	text_puts(t, "\tfield:");
	text_add(t, f->type, bracket - f->type);
	text_printf(t, " %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->name, bracket, f->offset,
		    f->size, f->is_signed);
}

void event_format_print(struct text *t, const struct event_format *format)
{
	const struct guestsym_event *ev = format->event;

	text_printf(t, "name: %s\nID: %u\nformat:\n", ev->name, ev->id);
	for (size_t i = 0; i < format->nr_common; i++)
		print_field(t, &format->common[i]);
	text_putc(t, '\n');
	for (size_t i = 0; i < ev->nr_fields; i++)
		print_field(t, &ev->fields[i]);
	text_printf(t, "\nprint fmt: %s\n", ev->print_fmt);
}
