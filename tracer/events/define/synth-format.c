// SPDX-License-Identifier: GPL-2.0-or-later
/* synth-format.c - the trace event that a synthetic event is, and its records. */
#include "tracer/events/define/synth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DATA_LOC "__data_loc "

/* In the print fmt. */
static const char *field_format(const struct synth_field *f)
{
	static const struct {
		const char *type, *format;
	} formats[] = {
		{"s64", "%lld"}, {"s32", "%d"},	  {"u32", "%u"},
		{"s16", "%d"},	 {"u16", "%u"},	  {"s8", "%d"},
		{"u8", "%u"},	 {"char", "%d"},  {"unsigned char", "%u"},
		{"int", "%d"},	 {"bool", "%d"},  {"unsigned int", "%u"},
		{"long", "%ld"}, {"pid_t", "%d"}, {"unsigned long", "%lu"},
		{"gfp_t", "%x"},
	};

	if (f->is_string || f->is_stack)
		return "%s";
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].type, f->type))
			return formats[i].format;
	return "%llu";
}

void synth_event_print(const struct synth_event *se, struct text *out)
{
	text_printf(out, "%s\t", se->name);
	for (unsigned int i = 0; i < se->nr_fields; i++) {
		const struct synth_field *f = &se->field[i];

		text_printf(out, i ? "; %s %s" : "%s %s",
			    f->type + (f->is_dynamic ? strlen(DATA_LOC) : 0), f->name);
	}
	text_putc(out, '\n');
}

/* --- the trace event -------------------------------------------------------------------------- */

static char *make_print_fmt(const struct synth_event *se)
{
	struct text out = {0};

	text_putc(&out, '"');
	for (unsigned int i = 0; i < se->nr_fields; i++)
		text_printf(&out, i ? ", %s=%s" : "%s=%s", se->field[i].name,
			    field_format(&se->field[i]));
	text_putc(&out, '"');
	for (unsigned int i = 0; i < se->nr_fields; i++) {
		const struct synth_field *f = &se->field[i];

		if (f->is_string && f->is_dynamic)
			text_printf(&out, ", __get_str(%s)", f->name);
		else if (f->is_stack)
			text_printf(&out, ", __get_stacktrace(%s)", f->name);
		else
			text_printf(&out, ", REC->%s", f->name);
	}
	text_putc(&out, '\0');
	if (!out.failed)
		return out.buf;
	text_free(&out);
	return NULL;
}

static const char *keep(struct probe_event_made *made, const char *word)
{
	made->text[made->nr_text] = strdup(word);
	return made->text[made->nr_text++];
}

/* "char[]" and no number: the kernel has none there. */
static const char *keep_type(struct probe_event_made *made, const struct synth_field *f)
{
	return keep(made, f->is_string && !f->is_dynamic ? "char[]" : f->type);
}

static uint8_t field_kind(const struct synth_field *f)
{
	if (!f->is_string)
		return GUESTSYM_EVENT_NUMBER;
	return f->is_dynamic ? GUESTSYM_EVENT_DYN_STRING : GUESTSYM_EVENT_STRING;
}

int synth_event_make(struct probe_event_made *made, const struct synth_event *se)
{
	bool failed = false;

	*made = (struct probe_event_made){
		.fields = calloc(se->nr_fields, sizeof(*made->fields)),
		.text = calloc(2 * (size_t)se->nr_fields + 2, sizeof(*made->text)),
		.print_fmt = make_print_fmt(se),
		.event = {.source = GUESTSYM_EVENT_HOST,
			  .syscall_nr = -1,
			  .nr_fields = se->nr_fields,
			  .flags = GUESTSYM_EVENT_FL_REG | GUESTSYM_EVENT_FL_DYNAMIC |
				   GUESTSYM_EVENT_FL_SYNTH},
	};
	if (!made->fields || !made->text || !made->print_fmt) {
		probe_event_unmake(made);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < se->nr_fields; i++) {
		const struct synth_field *f = &se->field[i];

		made->fields[i] = (struct guestsym_event_field){
			.type = keep_type(made, f),
			.name = keep(made, f->name),
			.offset = f->offset,
			.size = f->size,
			.is_signed = f->is_signed,
			.kind = field_kind(f),
		};
		failed = failed || !made->fields[i].type || !made->fields[i].name;
	}
	made->event.system = keep(made, SYNTH_SYSTEM);
	made->event.name = keep(made, se->name);
	if (failed || !made->event.system || !made->event.name) {
		probe_event_unmake(made);
		return -ENOMEM;
	}
	made->event.fields = made->fields;
	made->event.print_fmt = made->print_fmt;
	return 0;
}

/* --- records ---------------------------------------------------------------------------------- */

static const char *text_of(const struct synth_value *v)
{
	return v->text ? v->text : "(fault)";
}

size_t synth_record_make(const struct synth_event *se, const struct synth_value *value, void *to)
{
	size_t end = se->size;

	memset(to, 0, end);
	for (unsigned int i = 0; i < se->nr_fields; i++) {
		const struct synth_field *f = &se->field[i];
		uint8_t *at = (uint8_t *)to + f->offset;
		size_t len = strnlen(text_of(&value[i]), EVENT_STRING_MAX - 1);
		uint32_t loc = (uint32_t)(end | (len + 1) << 16);

		if (f->is_string && f->is_dynamic) {
			memcpy((uint8_t *)to + end, text_of(&value[i]), len);
			((uint8_t *)to)[end + len] = '\0';
			memcpy(at, &loc, sizeof(loc));
			end += len + 1;
		} else if (f->is_string) {
			memcpy(at, text_of(&value[i]), len);
		} else if (!f->is_stack) {
			memcpy(at, &value[i].number, f->size);
		}
	}
	return end;
}
