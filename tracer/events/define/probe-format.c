// SPDX-License-Identifier: GPL-2.0-or-later
/* probe-format.c - the trace event of a definition: its fields and its print fmt. */
#include "tracer/events/define/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void print_arg_format(const struct fetch_arg *a, struct text *out)
{
	text_printf(out, " %s=", a->name);
	if (!a->count) {
		text_puts(out, a->type->format);
		return;
	}
	for (uint32_t i = 0; i < a->count; i++)
		text_printf(out, "%c%s", i ? ',' : '{', a->type->format);
	text_putc(out, '}');
}

static void print_arg(const struct fetch_arg *a, struct text *out)
{
	const char *before = a->type->string ? "__get_str(" : "REC->",
		   *behind = a->type->string ? ")" : "";

	if (!a->count)
		text_printf(out, ", %s%s%s", before, a->name, behind);
	for (uint32_t i = 0; i < a->count; i++)
		text_printf(out, ", %s%s[%u]%s", before, a->name, i, behind);
}

static char *make_print_fmt(const struct probe_def *def)
{
	struct text out = {0};

	bool at_event = probe_def_is_at_event(def);

	text_puts(&out, at_event ? "\"" : def->is_return ? "\"(%lx <- %lx)" : "\"(%lx)");
	for (unsigned int i = 0; i < def->nr_args; i++)
		print_arg_format(&def->arg[i], &out);
	text_puts(&out, at_event	 ? "\""
			: def->is_return ? "\", REC->__probe_func, REC->__probe_ret_ip"
					 : "\", REC->__probe_ip");
	for (unsigned int i = 0; i < def->nr_args; i++)
		print_arg(&def->arg[i], &out);
	text_putc(&out, '\0');
	if (!out.failed)
		return out.buf;
	text_free(&out);
	return NULL;
}

/* The text becomes the event's own. NULL: there was no memory for it. */
static const char *keep(struct probe_event_made *made, struct text *text)
{
	text_putc(text, '\0');
	if (text->failed) {
		text_free(text);
		return NULL;
	}
	made->text[made->nr_text++] = text->buf;
	return text->buf;
}

static const char *keep_word(struct probe_event_made *made, const char *word)
{
	struct text text = {0};

	text_puts(&text, word);
	return keep(made, &text);
}

static const char *keep_place(struct probe_event_made *made, const struct probe_def *def)
{
	struct text text = {0};

	text_putc(&text, '(');
	probe_def_print_place(def, &text);
	text_putc(&text, ')');
	return keep(made, &text);
}

/* "u8[]" and no number: the kernel has none there. */
static const char *keep_type(struct probe_event_made *made, const struct fetch_arg *a)
{
	struct text text = {0};

	text_puts(&text, a->type->field);
	if (a->count && a->type->string)
		text_printf(&text, "[%u]", a->count);
	else if (a->count)
		text_puts(&text, "[]");
	return keep(made, &text);
}

static struct guestsym_event_field place_field(const char *name, uint32_t offset)
{
	return (struct guestsym_event_field){
		.type = "unsigned long", .name = name, .offset = offset, .size = 8};
}

static bool make_fields(struct probe_event_made *made, const struct probe_def *def)
{
	struct guestsym_event_field *f = made->fields;
	uint32_t head = probe_def_head(def);

	if (probe_def_is_at_event(def)) {
		/* Nothing of its own. */
	} else if (def->is_return) {
		*f++ = place_field("__probe_func", 8);
		*f++ = place_field("__probe_ret_ip", 16);
	} else {
		*f++ = place_field("__probe_ip", 8);
	}
	for (unsigned int i = 0; i < def->nr_args; i++, f++) {
		const struct fetch_arg *a = &def->arg[i];

		*f = (struct guestsym_event_field){
			.type = keep_type(made, a),
			.name = keep_word(made, a->name),
			.offset = head + a->offset,
			.size = fetch_arg_size(a),
			.is_signed = a->type->is_signed,
			.kind = a->type->string ? GUESTSYM_EVENT_DYN_STRING : GUESTSYM_EVENT_NUMBER,
		};
		if (!f->type || !f->name)
			return false;
	}
	made->event.nr_fields = (size_t)(f - made->fields);
	return true;
}

static uint32_t printed_as(const struct probe_def *def)
{
	if (probe_def_is_at_event(def))
		return GUESTSYM_EVENT_FL_EPROBE;
	return def->kind == PROBE_UPROBE ? GUESTSYM_EVENT_FL_UPROBE : GUESTSYM_EVENT_FL_KPROBE;
}

int probe_event_make(struct probe_event_made *made, const struct probe_def *def, uint16_t id)
{
	bool at_event = probe_def_is_at_event(def);

	*made = (struct probe_event_made){
		.fields = calloc(def->nr_args + 2, sizeof(*made->fields)),
		.text = calloc(2 * (size_t)def->nr_args + 3, sizeof(*made->text)),
		.print_fmt = make_print_fmt(def),
		.event = {.id = id,
			  .source = GUESTSYM_EVENT_HOST,
			  .syscall_nr = -1,
			  .flags = GUESTSYM_EVENT_FL_REG | GUESTSYM_EVENT_FL_DYNAMIC |
				   printed_as(def)},
	};
	if (made->fields && made->text && made->print_fmt && make_fields(made, def)) {
		made->event.system = keep_word(made, def->group);
		made->event.name = keep_word(made, def->event);
	}
	if (made->event.system && at_event)
		made->event.place = keep_place(made, def);
	if (!made->event.system || !made->event.name || (at_event && !made->event.place)) {
		probe_event_unmake(made);
		return -ENOMEM;
	}
	made->event.fields = made->fields;
	made->event.print_fmt = made->print_fmt;
	return 0;
}

void probe_event_unmake(struct probe_event_made *made)
{
	for (size_t i = 0; made->text && i < made->nr_text; i++)
		free(made->text[i]);
	free(made->text);
	free(made->fields);
	free(made->print_fmt);
	*made = (struct probe_event_made){0};
}
