// SPDX-License-Identifier: GPL-2.0-or-later
/* ctf-classes.c - see ctf-local.h: formats of events become classes of the library's. */
#include "frontend/export/ctf-local.h"

#include "frontend/decode/fields.h"
#include "frontend/decode/print.h"
#include "frontend/export/names.h"
#include "frontend/lib/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 65536, FIELDS_MAX = 256, BYTE = 8 };

/* What a field is there. */
enum shape { SHAPE_NUMBER, SHAPE_TEXT, SHAPE_ARRAY };

struct member {
	const struct tep_format_field *field; /* NULL: what the event says, as text */
	enum shape shape;
	size_t size; /* of a number, or of each in an array */
	size_t nr;   /* of an array, in all records; 0: each has its own number */
};

struct event_class {
	bt_event_class *of; /* NULL: not made yet */
	struct member *member;
	size_t nr;
};

struct ctf_classes {
	const struct ctf_library *lib;
	struct formats *formats;
	bt_trace_class *trace;
	bt_clock_class *clock;
	bt_stream_class *stream;
	struct event_class *event; /* by id */
	struct trace_seq text;
};

/* --- fields ------------------------------------------------------------------------------------
 */

/* To the library numbers of a byte may be a text, too; those of an instruction or an address are
 * none. */
static bool is_text(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_STRING && strstr(field->type, "char") &&
	       !strstr(field->type, "unsigned");
}

static struct member member_of(const struct tep_format_field *field)
{
	struct member m = {.field = field, .shape = SHAPE_ARRAY, .size = 1};

	if (is_text(field))
		m.shape = SHAPE_TEXT;
	else if (field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC))
		m.size = fields_element(field);
	else if (fields_is_number((size_t)field->size))
		m = (struct member){field, SHAPE_NUMBER, (size_t)field->size, 0};
	if (m.shape == SHAPE_ARRAY && !(field->flags & TEP_FIELD_IS_DYNAMIC))
		m.nr = (size_t)field->size / m.size;
	return m;
}

static bt_field_class *integer_class(const struct ctf_classes *c, bool is_signed, bool hex,
				     size_t size)
{
	bt_field_class *of = is_signed ? c->lib->bt_field_class_integer_signed_create(c->trace)
				       : c->lib->bt_field_class_integer_unsigned_create(c->trace);

	if (!of)
		return NULL;
	c->lib->bt_field_class_integer_set_field_value_range(of, size * BYTE);
	if (hex)
		c->lib->bt_field_class_integer_set_preferred_display_base(
			of, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return of;
}

static bt_field_class *member_class(const struct ctf_classes *c, const struct member *m)
{
	unsigned long flags = m->field ? m->field->flags : 0;
	bt_field_class *element, *array;

	if (m->shape == SHAPE_TEXT)
		return c->lib->bt_field_class_string_create(c->trace);
	element = integer_class(c, flags & TEP_FIELD_IS_SIGNED, flags & TEP_FIELD_IS_POINTER,
				m->size);
	if (m->shape == SHAPE_NUMBER || !element)
		return element;
	array = m->nr ? c->lib->bt_field_class_array_static_create(c->trace, element, m->nr)
		      : c->lib->bt_field_class_array_dynamic_create(c->trace, element, NULL);
	c->lib->bt_field_class_put_ref(element);
	return array;
}

/* A member of that class, which it takes. False: no memory, or there is one of that name. */
static bool append(const struct ctf_classes *c, bt_field_class *to, const char *name,
		   bt_field_class *of)
{
	bool added = of && !c->lib->bt_field_class_structure_append_member(to, name, of);

	if (of)
		c->lib->bt_field_class_put_ref(of);
	return added;
}

/*
 * Names are those of the file, of which only what CTF takes for one is left; two that are the same
 * then are told apart by their number.
 */
static void name_member(const struct event_class *e, size_t nr, char name[NAMES_LEN])
{
	const char *of = e->member[nr].field ? e->member[nr].field->name : "message";
	size_t len = 0;

	for (; len < NAMES_LEN / 2 && of[len]; len++)
		name[len] = isalnum((unsigned char)of[len]) ? of[len] : '_';
	if (!len || isdigit((unsigned char)*name))
		*name = '_';
	name[len + !len] = '\0';
	for (size_t i = 0; i < nr; i++)
		if (!e->member[i].field || !strcmp(e->member[i].field->name, of)) {
			snprintf(name + strlen(name), NAMES_LEN / 2, "_%zu", nr);
			return;
		}
}

/* What trace_printk() says is in a format that is somewhere else. */
static bool has_message(const struct tep_event *event)
{
	return !strcmp(event->system, "ftrace") &&
	       (!strcmp(event->name, "bprint") || !strcmp(event->name, "bputs"));
}

static bool list_members(struct event_class *e, const struct tep_event *event)
{
	e->member = calloc(FIELDS_MAX + 1, sizeof(*e->member));
	if (!e->member)
		return false;
	if (has_message(event))
		e->member[e->nr++] = (struct member){.shape = SHAPE_TEXT};
	for (const struct tep_format_field *f = event->format.fields; f && e->nr < FIELDS_MAX;
	     f = f->next)
		e->member[e->nr++] = member_of(f);
	return true;
}

static bt_field_class *payload_class(const struct ctf_classes *c, const struct event_class *e)
{
	bt_field_class *payload = c->lib->bt_field_class_structure_create(c->trace);
	char name[NAMES_LEN];

	for (size_t i = 0; payload && i < e->nr; i++) {
		name_member(e, i, name);
		if (!append(c, payload, name, member_class(c, &e->member[i]))) {
			c->lib->bt_field_class_put_ref(payload);
			payload = NULL;
		}
	}
	return payload;
}

/* --- events ------------------------------------------------------------------------------------
 */

/* It is in quotes in a text of CTF. */
static void name_event(const struct tep_event *event, char name[NAMES_LEN])
{
	char raw[NAMES_LEN];

	snprintf(raw, sizeof(raw), "%.100s:%.100s", event->system, event->name);
	names_clean(name, raw, strlen(raw));
	for (; *name; name++)
		if (*name == '"' || *name == '\\')
			*name = '?';
}

static bt_event_class *make_event(const struct ctf_classes *c, const struct tep_event *event,
				  const struct event_class *e)
{
	bt_event_class *of = c->lib->bt_event_class_create(c->stream);
	bt_field_class *payload = of ? payload_class(c, e) : NULL;
	char name[NAMES_LEN];

	name_event(event, name);
	if (payload && !c->lib->bt_event_class_set_name(of, name) &&
	    !c->lib->bt_event_class_set_payload_field_class(of, payload)) {
		c->lib->bt_field_class_put_ref(payload);
		return of;
	}
	if (payload)
		c->lib->bt_field_class_put_ref(payload);
	if (of)
		c->lib->bt_event_class_put_ref(of);
	return NULL;
}

const bt_event_class *ctf_classes_event(struct ctf_classes *c, int id)
{
	struct event_class *e = &c->event[id];
	const struct tep_event *event = e->of ? NULL : formats_event(c->formats, id);

	if (event && (e->member || list_members(e, event)))
		e->of = make_event(c, event, e);
	return e->of;
}

/* --- what all have -----------------------------------------------------------------------------
 */

static bool set_packet_context(const struct ctf_classes *c)
{
	bt_field_class *of = c->lib->bt_field_class_structure_create(c->trace);
	bool set = of && append(c, of, "cpu_id", integer_class(c, false, false, 4)) &&
		   !c->lib->bt_stream_class_set_packet_context_field_class(c->stream, of);

	if (of)
		c->lib->bt_field_class_put_ref(of);
	return set;
}

static bool set_common_context(const struct ctf_classes *c)
{
	bt_field_class *of = c->lib->bt_field_class_structure_create(c->trace);
	bool set = of && append(c, of, "pid", integer_class(c, true, false, 4)) &&
		   append(c, of, "comm", c->lib->bt_field_class_string_create(c->trace)) &&
		   !c->lib->bt_stream_class_set_event_common_context_field_class(c->stream, of);

	if (of)
		c->lib->bt_field_class_put_ref(of);
	return set;
}

/* What the clock counts from is not told by all files: when who has it booted, if they do not. */
static bool make_clock(struct ctf_classes *c, const struct ctf_clock *clock,
		       bt_self_component *self)
{
	c->clock = c->lib->bt_clock_class_create(self);
	if (!c->clock || c->lib->bt_clock_class_set_name(c->clock, clock->name))
		return false;
	c->lib->bt_clock_class_set_frequency(c->clock, 1000000000);
	c->lib->bt_clock_class_set_origin_is_unix_epoch(c->clock, BT_FALSE);
	if (clock->uuid)
		c->lib->bt_clock_class_set_uuid(c->clock, clock->uuid);
	return true;
}

static bool make_stream(struct ctf_classes *c)
{
	c->stream = c->lib->bt_stream_class_create(c->trace);
	if (!c->stream || c->lib->bt_stream_class_set_default_clock_class(c->stream, c->clock))
		return false;
	c->lib->bt_stream_class_set_supports_packets(c->stream, BT_TRUE, BT_TRUE, BT_TRUE);
	c->lib->bt_stream_class_set_supports_discarded_events(c->stream, BT_TRUE, BT_TRUE);
	return set_packet_context(c) && set_common_context(c);
}

struct ctf_classes *ctf_classes_new(struct formats *f, const struct ctf_clock *clock,
				    bt_self_component *self)
{
	struct ctf_classes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->lib = ctf_library();
	c->formats = f;
	trace_seq_init(&c->text);
	c->event = calloc(IDS, sizeof(*c->event));
	c->trace = c->lib->bt_trace_class_create(self);
	if (c->event && c->trace && make_clock(c, clock, self) && make_stream(c))
		return c;
	ctf_classes_free(c);
	return NULL;
}

void ctf_classes_free(struct ctf_classes *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->event && i < IDS; i++) {
		free(c->event[i].member);
		if (c->event[i].of)
			c->lib->bt_event_class_put_ref(c->event[i].of);
	}
	free(c->event);
	trace_seq_destroy(&c->text);
	c->lib->bt_stream_class_put_ref(c->stream);
	c->lib->bt_clock_class_put_ref(c->clock);
	c->lib->bt_trace_class_put_ref(c->trace);
	free(c);
}

bt_trace_class *ctf_classes_trace(const struct ctf_classes *c)
{
	return c->trace;
}

bt_stream_class *ctf_classes_stream(const struct ctf_classes *c)
{
	return c->stream;
}

/* --- values ------------------------------------------------------------------------------------
 */

static bt_field *borrow(const struct ctf_classes *c, bt_field *of, size_t i)
{
	return c->lib->bt_field_structure_borrow_member_field_by_index(of, i);
}

static bool append_text(const struct ctf_classes *c, bt_field *to, const char *text, size_t len)
{
	return !len || !c->lib->bt_field_string_append_with_length(to, text, len);
}

/* Bytes that are no text become question marks. */
static bool fill_text(const struct ctf_classes *c, bt_field *to, const char *text, size_t len)
{
	size_t at = 0, good = 0;

	len = strnlen(text, len);
	/* The library hands out fields once more, with what was in them. */
	c->lib->bt_field_string_clear(to);
	while (at + good < len) {
		size_t n = utf8_len((const uint8_t *)text + at + good, len - at - good);

		good += n;
		if (n)
			continue;
		if (!append_text(c, to, text + at, good) || !append_text(c, to, "?", 1))
			return false;
		at += good + 1;
		good = 0;
	}
	return append_text(c, to, text + at, good);
}

static void fill_number(const struct ctf_classes *c, bt_field *to,
			const struct tep_format_field *field, const uint8_t *at, size_t size)
{
	int64_t n = fields_is_number(size) ? fields_number(field, at, size) : 0;

	if (field->flags & TEP_FIELD_IS_SIGNED)
		c->lib->bt_field_integer_signed_set_value(to, n);
	else
		c->lib->bt_field_integer_unsigned_set_value(to, (uint64_t)n);
}

static bool fill_array(const struct ctf_classes *c, bt_field *to, const struct member *m,
		       struct field_bytes bytes)
{
	size_t there = bytes.len / m->size, nr = m->nr ? m->nr : there;

	if (!m->nr && c->lib->bt_field_array_dynamic_set_length(to, nr))
		return false;
	/* Of what a record is too short for there is none. */
	for (size_t i = 0; i < nr; i++)
		fill_number(c, c->lib->bt_field_array_borrow_element_field_by_index(to, i),
			    m->field, bytes.at + (i < there ? i * m->size : 0),
			    i < there ? m->size : 0);
	return true;
}

static bool fill_message(struct ctf_classes *c, const struct decode_event *ev, bt_field *to)
{
	print_info(c->formats, ev, &c->text);
	return fill_text(c, to, c->text.buffer, c->text.len);
}

static bool fill_member(struct ctf_classes *c, const struct decode_event *ev,
			const struct member *m, bt_field *to)
{
	struct field_bytes bytes;

	if (!m->field)
		return fill_message(c, ev, to);
	bytes = fields_bytes(m->field, ev);
	if (m->shape == SHAPE_TEXT)
		return fill_text(c, to, (const char *)bytes.at, bytes.len);
	if (m->shape == SHAPE_ARRAY)
		return fill_array(c, to, m, bytes);
	fill_number(c, to, m->field, bytes.at, bytes.len);
	return true;
}

bool ctf_classes_fill(struct ctf_classes *c, const struct decode_event *ev, bt_event *event)
{
	const struct event_class *e = &c->event[ev->id];
	const char *comm = tep_data_comm_from_pid(formats_tep(c->formats), ev->pid);
	bt_field *common = c->lib->bt_event_borrow_common_context_field(event);
	bt_field *payload = c->lib->bt_event_borrow_payload_field(event);

	c->lib->bt_field_integer_signed_set_value(borrow(c, common, 0), ev->pid);
	if (!fill_text(c, borrow(c, common, 1), comm, strlen(comm)))
		return false;
	for (size_t i = 0; i < e->nr; i++)
		if (!fill_member(c, ev, &e->member[i], borrow(c, payload, i)))
			return false;
	return true;
}
